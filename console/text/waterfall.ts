/** Where the time of a turn went, as rows of one drawing: what each stretch is called, where its bar begins and how long it is. Pure. */
import type { Span } from "../../src/contracts/queue.ts";

interface Bar {
  readonly name: string;
  readonly note: string;
  readonly kind: "wait" | "model" | "tool" | "delivery" | "other";
  /** 0: a stretch of the turn itself. */
  readonly depth: number;
  readonly startMs: number;
  readonly ms: number;
  /** Of the whole, in hundredths. */
  readonly offset: number;
  readonly width: number;
}

export interface Waterfall {
  readonly totalMs: number;
  readonly bars: readonly Bar[];
  /** What took longest, as a sentence; null: nothing did. */
  readonly slowest: string | null;
}

/** A bar below this could not be seen. */
const MIN_WIDTH = 0.6;
const HUNDRED = 100;
/** A stretch that is less of the whole does not explain it. */
const SLOW_SHARE = 0.4;

const NAMES: Readonly<Record<string, readonly [name: string, kind: Bar["kind"]]>> = {
  queued: ["Waiting in the queue", "wait"],
  lease: ["Waiting for an agent process", "wait"],
  first_token: ["Waiting for the first word", "wait"],
  generate: ["Answering", "other"],
  delivery: ["Delivering the reply", "delivery"],
};
const PREFIXES: readonly (readonly [prefix: string, name: string, kind: Bar["kind"]])[] = [
  ["approval:", "Waiting for approval of ", "wait"],
  ["tool:", "Tool ", "tool"],
  ["model:", "Model ", "model"],
  ["delegate:", "Agent ", "other"],
];

export function waterfallOf(spans: readonly Span[]): Waterfall {
  const flat = spans.flatMap((span) => withChildren(span, 0));
  const totalMs = Math.max(0, ...flat.map(({ span }) => span.startMs + span.ms));
  const share = (ms: number): number => (totalMs === 0 ? 0 : (Math.max(0, ms) / totalMs) * HUNDRED);
  const bars = flat.map(({ span, depth }): Bar => {
    const [name, kind] = nameOf(span.name);
    const width = Math.min(HUNDRED, Math.max(MIN_WIDTH, share(span.ms)));
    const offset = Math.min(share(span.startMs), HUNDRED - width);
    return { name, kind, note: span.note ?? "", depth, startMs: span.startMs, ms: span.ms, offset, width };
  });
  return { totalMs, bars, slowest: slowestOf(bars, totalMs) };
}

function withChildren(span: Span, depth: number): readonly { readonly span: Span; readonly depth: number }[] {
  return [{ span, depth }, ...(span.children ?? []).flatMap((child) => withChildren(child, depth + 1))];
}

function nameOf(name: string): readonly [name: string, kind: Bar["kind"]] {
  const known = NAMES[name];
  if (known) return known;
  const [prefix = "", words = "", kind = "other"] = PREFIXES.find(([begin]) => name.startsWith(begin)) ?? [];
  return [`${words}${name.slice(prefix.length)}`, kind];
}

/** `Answering` holds the calls of models and tools, and so explains nothing. */
function slowestOf(bars: readonly Bar[], totalMs: number): string | null {
  const byName = Map.groupBy(
    bars.filter(({ kind, depth }) => kind !== "other" && depth === 0),
    ({ name }) => name,
  );
  const sums = [...byName].map(([name, same]) => ({
    name,
    count: same.length,
    ms: same.reduce((sum, { ms }) => sum + ms, 0),
  }));
  const [first] = sums.toSorted((one, other) => other.ms - one.ms);
  if (!first || first.ms < totalMs * SLOW_SHARE) return null;
  return first.count === 1 ? first.name : `${first.name}, ${first.count} times`;
}
