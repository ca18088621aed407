/** How long it takes until another gateway has the work of one that died, and what else was in the way of it meanwhile. */
import { NODE_EXPIRY_MS } from "../../src/store/node-expiry.ts";
import { type Times, timesOf } from "./times.ts";
import type { NodesWorld } from "./world.ts";

/** All by the clock that measures. */
interface Trouble {
  readonly what: string;
  /** Null: of all of them. */
  readonly node: string | null;
  readonly from: number;
  /** Infinity: still. */
  until: number;
}

type Span = readonly [from: number, until: number];

export interface Troubles {
  /** Call what it returns when it is over. Node null: the database has it, and so all of them. */
  begin(what: string, node: string | null): () => void;
  during(span: Span): readonly Readonly<Trouble>[];
}

export function createTroubles(): Troubles {
  const troubles: Trouble[] = [];
  return {
    begin(what, node) {
      const one: Trouble = { what, node, from: performance.now(), until: Infinity };
      troubles.push(one);
      return () => void (one.until = performance.now());
    },
    during: ([from, until]) => troubles.filter((one) => one.until >= from && one.from <= until),
  };
}

interface Takeover {
  readonly ms: number;
  /** When it was, by the clock that measures. */
  readonly at: number;
  readonly meanwhile: readonly Pick<Trouble, "what" | "node" | "until">[];
}

/** Each since the last word of the gateway that died. */
export interface TakeoverTimes {
  readonly all: Times;
  /** Of those during which the database had no trouble. */
  readonly withDatabase: Times;
  /** Of those during which the database had none, and at least one other gateway had none. */
  readonly undisturbed: Times;
  /** Of those during which the database had some: since it was well again. */
  readonly afterDatabase: Times;
  /** Each that took longer than promised, with what happened meanwhile. */
  readonly late: readonly string[];
}

const LOOK_MS = 200;
/** docs/scaling.md: work of a gateway that died goes on elsewhere within this time. */
const PROMISED_MS = 12_000;

export function watchTakeovers(world: NodesWorld, troubles: Troubles): { stop(): Promise<TakeoverTimes> } {
  const stopping = new AbortController();
  const names = world.nodes.map(({ name }) => name);
  const took: Takeover[] = [];
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
        took.push({ ms: Number(ms), at: now, meanwhile: troubles.during([from, now]) });
      }
      await world.pause(LOOK_MS);
    }
  };
  const looking = look();
  return {
    async stop() {
      stopping.abort();
      await looking;
      return timesOfAll(took, names);
    },
  };
}

export function timesOfAll(took: readonly Takeover[], names: readonly string[]): TakeoverTimes {
  const times = (some: readonly Takeover[]): Times => timesOf(some.map(({ ms }) => ms));
  const withDatabase = took.filter(({ meanwhile }) => meanwhile.every(({ node }) => node !== null));
  const undisturbed = withDatabase.filter(({ meanwhile }) =>
    names.some((name) => meanwhile.every(({ node }) => node !== name)),
  );
  return {
    all: times(took),
    withDatabase: times(withDatabase),
    undisturbed: times(undisturbed),
    afterDatabase: timesOf(took.filter((one) => !withDatabase.includes(one)).map(sinceDatabase)),
    late: took.filter(({ ms }) => ms > PROMISED_MS).map(described),
  };
}

/** At most as long as it took: the trouble may have been over before the gateway died. */
function sinceDatabase({ ms, at, meanwhile }: Takeover): number {
  const ended = meanwhile.filter(({ node }) => node === null).map(({ until }) => until);
  return Math.min(ms, Math.max(0, at - Math.max(...ended)));
}

function described({ ms, meanwhile }: Takeover): string {
  const causes = meanwhile.map(({ what, node }) => (node === null ? what : `${what} (${node})`));
  return `${(ms / 1_000).toFixed(1)} s: ${causes.join("; ") || "nothing else"}`;
}
