/** A limit that all programs share, and that one of them cannot use up: the last quarter of it is for those who hold few. */
import type { Principal } from "../contracts/ids.ts";

interface Taken {
  readonly all: number;
  /** Of them, held by whoever asks. */
  readonly mine: number;
}

const SHARED = 0.75;
const FEW = 0.1;

/** Pure. */
export function hasRoom({ all, mine }: Taken, max: number): boolean {
  if (all >= max) return false;
  return all < Math.floor(max * SHARED) || mine < Math.max(1, Math.floor(max * FEW));
}

/** Null: this person gets no more now. */
export function createFairLimit(max: number): (principal: Principal) => Disposable | null {
  const held = new Map<Principal, number>();
  let all = 0;
  return (principal) => {
    const mine = held.get(principal) ?? 0;
    if (!hasRoom({ all, mine }, max)) return null;
    all++;
    held.set(principal, mine + 1);
    let isOver = false;
    return {
      [Symbol.dispose]() {
        if (isOver) return;
        isOver = true;
        all--;
        const left = (held.get(principal) ?? 1) - 1;
        if (left > 0) held.set(principal, left);
        else held.delete(principal);
      },
    };
  };
}
