/** Counts who uses something, and tells when nobody has used it for a while. */
import type { Clock } from "./clock.ts";

export interface Users extends Disposable {
  /** Until it is disposed, it is in use. */
  use(): Disposable;
  /** Begins to wait anew, if nobody uses it. */
  wait(): void;
}

interface UsersOptions {
  idleMs(): number;
  /** Nobody has used it for that long. */
  unused(): void;
}

/** Dispose it when nobody has to be told any more. */
export function createUsers(clock: Clock, { idleMs, unused }: UsersOptions): Users {
  let users = 0;
  let isOver = false;
  let waiting = new AbortController();
  const wait = (): void => {
    waiting.abort();
    if (users > 0 || isOver) return;
    waiting = new AbortController();
    clock.sleep(idleMs(), waiting.signal).then(unused, () => undefined); // somebody uses it again, or it is over
  };
  return {
    wait,
    use() {
      users++;
      waiting.abort();
      let isDone = false;
      return {
        [Symbol.dispose]() {
          if (isDone) return;
          isDone = true;
          users--;
          wait();
        },
      };
    },
    [Symbol.dispose]() {
      isOver = true;
      waiting.abort();
    },
  };
}
