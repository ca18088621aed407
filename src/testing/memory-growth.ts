/** Counts what stays in memory after work that should leave nothing: a map that grows, a listener or a promise that is never let go. */
import { heapStats } from "bun:jsc";

/** Caches fill and code is compiled in the first rounds. */
const WARM_UP_ROUNDS = 300;
const ROUNDS = 200;
/** The caches of the engine have an end, a leak has none: it is there in each of so many measurements. */
const MEASUREMENTS = 4;
/** The engine keeps a few objects of its own; a leak keeps at least one for each round. */
const KEPT_PER_ROUND = 0.5;
const MAX_COLLECTIONS = 10;
/** Of the engine itself, not of the work. */
const ENGINE_KINDS = new Set(["Structure", "FunctionExecutable", "UnlinkedFunctionExecutable", "FunctionCodeBlock"]);

type Kept = Readonly<Record<string, number>>;

/** By kind of object: how many stay for each round. Empty: the work leaves nothing. */
export async function keptPerRound(work: (round: number) => unknown): Promise<Kept> {
  let round = 0;
  const runs = async (rounds: number): Promise<void> => {
    for (const end = round + rounds; round < end; round++) await work(round);
  };
  await runs(WARM_UP_ROUNDS);
  let kept: Kept = {};
  for (let measured = 0; measured < MEASUREMENTS; measured++) {
    const before = await counts();
    await runs(ROUNDS);
    kept = growth(before, await counts());
    if (Object.keys(kept).length === 0) break;
  }
  return kept;
}

function growth(before: Kept, after: Kept): Kept {
  return Object.fromEntries(
    Object.entries(after)
      .map(([kind, count]) => [kind, Math.round(((count - (before[kind] ?? 0)) / ROUNDS) * 10) / 10] as const)
      .filter(([kind, kept]) => kept >= KEPT_PER_ROUND && !ENGINE_KINDS.has(kind)),
  );
}

/** What others have let go of is collected in steps. If that went on between two counts, it would hide what stays. */
async function counts(): Promise<Kept> {
  let before = Number.POSITIVE_INFINITY;
  for (let collection = 1; ; collection++) {
    for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve)); // what is about to be let go
    Bun.gc(true);
    const { objectCount, objectTypeCounts } = heapStats();
    if (objectCount >= before || collection === MAX_COLLECTIONS) return objectTypeCounts;
    before = objectCount;
  }
}
