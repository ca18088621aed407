/** How long it takes until another gateway has the work of one that died, and whether anything else was in the way of it. */
import { NODE_EXPIRY_MS } from "../../src/store/node-expiry.ts";
import type { NodesWorld } from "./world.ts";

/** All by the clock that measures. */
export interface Trouble {
  /** Null: of all of them. */
  readonly node: string | null;
  readonly from: number;
  /** Infinity: still. */
  until: number;
}

export interface Troubles {
  /** Call what it returns when it is over. */
  begin(node: string | null): () => void;
  /** Whether one gateway had no trouble at all in this time. */
  leftOneAlone(names: readonly string[], from: number, until: number): boolean;
}

export function createTroubles(): Troubles {
  const troubles: Trouble[] = [];
  return {
    begin(node) {
      const one: Trouble = { node, from: performance.now(), until: Infinity };
      troubles.push(one);
      return () => void (one.until = performance.now());
    },
    leftOneAlone: (names, from, until) =>
      names.some((name) =>
        troubles
          .filter(({ node }) => node === null || node === name)
          .every((one) => one.until < from || one.from > until),
      ),
  };
}

export interface Takeovers {
  readonly count: number;
  readonly middleMs: number;
  readonly longestMs: number;
}

export interface TakeoverTimes {
  /** Since the last word of the gateway that died. */
  readonly all: Takeovers;
  /** Of those during which at least one other gateway had no trouble of its own, and the database none. */
  readonly undisturbed: Takeovers;
}

const LOOK_MS = 200;

export function watchTakeovers(world: NodesWorld, troubles: Troubles): { stop(): Promise<TakeoverTimes> } {
  const stopping = new AbortController();
  const names = world.nodes.map(({ name }) => name);
  const took: { readonly ms: number; readonly isUndisturbed: boolean }[] = [];
  const seen = new Set<string>();
  /** Never rejects. */
  const look = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      const rows = await world.sql`
        select id, floor(extract(epoch from clock_timestamp()) * 1000) - renewed_at as ms
        from nodes where taken_over_by is not null`.catch(() => []);
      const now = performance.now();
      for (const { id, ms } of rows as readonly { id: string; ms: string }[]) {
        if (seen.has(id)) continue;
        seen.add(id);
        // a gateway takes over when it has been steady for as long as another one counts as live
        const from = now - Number(ms) - NODE_EXPIRY_MS;
        took.push({ ms: Number(ms), isUndisturbed: troubles.leftOneAlone(names, from, now) });
      }
      await world.pause(LOOK_MS);
    }
  };
  const looking = look();
  return {
    async stop() {
      stopping.abort();
      await looking;
      return { all: summed(took), undisturbed: summed(took.filter(({ isUndisturbed }) => isUndisturbed)) };
    },
  };
}

function summed(took: readonly { readonly ms: number }[]): Takeovers {
  const sorted = took.map(({ ms }) => Math.round(ms)).toSorted((a, b) => a - b);
  return {
    count: sorted.length,
    middleMs: sorted[Math.floor(sorted.length / 2)] ?? 0,
    longestMs: sorted.at(-1) ?? 0,
  };
}
