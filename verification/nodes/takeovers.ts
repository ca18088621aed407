/** How long it takes until another gateway has the work of one that died, and how much of that time the promise of docs/reliability.md counts. */
import { type Times, timesOf } from "./times.ts";
import type { NodesWorld } from "./world.ts";

/** All by the clock that measures. */
export interface Trouble {
  readonly what: string;
  /** Null: of the database, and so of all of them. */
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
  all(): readonly Readonly<Trouble>[];
}

export function createTroubles(): Troubles {
  const troubles: Trouble[] = [];
  return {
    begin(what, node) {
      const one: Trouble = { what, node, from: performance.now(), until: Infinity };
      troubles.push(one);
      return () => void (one.until = performance.now());
    },
    during: (span) => within(troubles, span),
    all: () => troubles,
  };
}

function within<T extends Pick<Trouble, "from" | "until">>(troubles: readonly T[], [from, until]: Span): readonly T[] {
  return troubles.filter((one) => one.until >= from && one.from <= until);
}

export interface Takeover {
  /** The last word of the gateway that died, and when another one had its work. By the clock that measures. */
  readonly from: number;
  readonly at: number;
  /** Those that were there between the two. */
  readonly meanwhile: readonly Readonly<Trouble>[];
}

export interface TakeoverTimes {
  /** Since the last word of the gateway that died. */
  readonly all: Times;
  /** Of each, the longest time without a break in which the database and one and the same gateway were well. Those with no such time are left out. */
  readonly promised: Times;
  /** Those in which that was longer than what is promised, with what else happened meanwhile. */
  readonly late: readonly string[];
}

const LOOK_MS = 200;
/** docs/reliability.md: work of a gateway that died goes on elsewhere within this time, while the database answers and one more gateway is well. */
const PROMISED_MS = 12_000;

export function watchTakeovers(world: NodesWorld, troubles: Troubles): { stop(): Promise<TakeoverTimes> } {
  const stopping = new AbortController();
  const names = world.nodes.map(({ name }) => name);
  const processes = watchProcesses(world, troubles);
  /** Never rejects. */
  const look = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      processes.look();
      await world.pause(LOOK_MS);
    }
  };
  const looking = look();
  return {
    async stop() {
      stopping.abort();
      await looking;
      const rows = (await world.sql`
        select extract(epoch from clock_timestamp()) * 1000 as now, taken.renewed_at, taken.at, nodes.name
        from judge.takeovers taken join nodes on nodes.id = taken.node order by taken.at`) as readonly TakenRow[];
      const now = performance.now();
      const spans = rows.map(({ name, ...row }) => {
        const here = (at: number): number => now - (Number(row.now) - at);
        return { name, span: [here(row.renewed_at), here(row.at)] as const };
      });
      const superseded = spans.flatMap(({ name, span: [, at] }) => processes.superseded(name, at));
      const took = spans.map(({ span }): Takeover => {
        const meanwhile = [...troubles.during(span), ...within(superseded, span)];
        return { from: span[0], at: span[1], meanwhile };
      });
      return timesOfAll(took, names);
    },
  };
}

interface TakenRow {
  readonly now: string;
  readonly renewed_at: number;
  readonly at: number;
  /** Of the gateway: its machine, and the number of its process. */
  readonly name: string;
}

interface Watched {
  look(): void;
  /** The trouble of a gateway from which another one has taken over: it has to end, and is of no use to anybody until then. */
  superseded(name: string, at: number): readonly Trouble[];
}

/** A gateway may end by itself: it is in trouble while it is not there, whatever the reason. */
function watchProcesses({ nodes }: NodesWorld, troubles: Troubles): Watched {
  const away = new Map<string, () => void>();
  const lives: { readonly pid: number; readonly node: string; seenUntil: number }[] = [];
  return {
    look() {
      for (const node of nodes) {
        const pid = node.process()?.pid;
        if (pid === undefined && !away.has(node.name)) away.set(node.name, troubles.begin("not there", node.name));
        if (pid === undefined) continue;
        away.get(node.name)?.();
        away.delete(node.name);
        const life = lives.find((one) => one.pid === pid);
        if (life) life.seenUntil = performance.now();
        else lives.push({ pid, node: node.name, seenUntil: performance.now() });
      }
    },
    superseded: (name, at) =>
      lives
        .filter(({ pid, seenUntil }) => name.endsWith(`:${pid}`) && seenUntil > at)
        .map(({ node, seenUntil }) => ({ what: "taken over from", node, from: at, until: seenUntil + LOOK_MS })),
  };
}

export function timesOfAll(took: readonly Takeover[], names: readonly string[]): TakeoverTimes {
  const promised = took.map((one) => ({ one, ms: promisedMs(one, names) })).filter(({ ms }) => ms > 0);
  return {
    all: timesOf(took.map(({ from, at }) => at - from)),
    promised: timesOf(promised.map(({ ms }) => ms)),
    late: promised.filter(({ ms }) => ms > PROMISED_MS).map(({ one, ms }) => described(one, ms)),
  };
}

/** The promise begins anew when the database, or the last gateway that was well, has trouble. */
function promisedMs({ from, at, meanwhile }: Takeover, names: readonly string[]): number {
  return Math.max(
    ...names.map((name) => {
      const inTheWay = meanwhile.filter(({ node }) => node === null || node === name);
      return longestBetween([from, at], inTheWay);
    }),
  );
}

/** The longest part of a span that none of these covers. */
function longestBetween([from, until]: Span, covers: readonly Pick<Trouble, "from" | "until">[]): number {
  let longest = 0;
  let free = from;
  for (const cover of covers.toSorted((one, other) => one.from - other.from)) {
    longest = Math.max(longest, Math.min(cover.from, until) - free);
    free = Math.max(free, cover.until);
  }
  return Math.max(longest, until - free);
}

function described({ from, at, meanwhile }: Takeover, ms: number): string {
  const seconds = (some: number): string => `${(some / 1_000).toFixed(1)} s`;
  const causes = meanwhile.map(({ what, node, ...one }) => {
    const span = `${seconds(one.from - from)} to ${one.until === Infinity ? "the end" : seconds(one.until - from)}`;
    return `${what}${node === null ? "" : ` (${node})`} ${span}`;
  });
  return `${seconds(ms)} of ${seconds(at - from)}: ${causes.join("; ") || "nothing else"}`;
}
