/** Says of what worker processes wrote down whether jobs of a key ran beside each other, out of order, twice or never. It knows nothing of the engines. */

export interface RunLine {
  readonly kind: "began" | "ended" | "counted" | "refused";
  readonly key: string;
  readonly number: number;
  readonly worker: number;
  /** Of the machine's clock. */
  readonly at: number;
}

export interface Killed {
  readonly worker: number;
  readonly at: number;
}

export interface Judgement {
  /** Two jobs of a key at the same time. */
  readonly overlaps: number;
  /** A job that began for the first time after a later one of its key had. */
  readonly outOfOrder: number;
  /** Sent and never counted, nor ended by a worker that was killed before it could say more. */
  readonly lost: number;
  /** Counted more than once. */
  readonly doubled: number;
  /** Under way when their worker was killed, and of these: run again, and passed by a later one of their key meanwhile. */
  readonly interrupted: number;
  readonly rerun: number;
  readonly overtaken: number;
  /** From the kill until the last interrupted job had begun again; null: none was interrupted, or not all began. */
  readonly takeoverMs: number | null;
}

interface Run {
  readonly number: number;
  readonly from: number;
  readonly to: number;
  readonly interrupted: boolean;
}

/** `sent`: the keys and how many of each, numbered from 0. */
export function judge(lines: readonly RunLine[], sent: ReadonlyMap<string, number>, killed: Killed | null): Judgement {
  const totals = { overlaps: 0, outOfOrder: 0, lost: 0, doubled: 0, interrupted: 0, rerun: 0, overtaken: 0 };
  const again: (number | null)[] = [];
  const byKey = Map.groupBy(lines, ({ key }) => key);
  for (const [key, count] of sent) {
    const own = byKey.get(key) ?? [];
    const runs = runsOf(own, killed);
    totals.overlaps += overlapsIn(runs);
    totals.outOfOrder += outOfOrderIn(runs);
    for (let number = 0; number < count; number++) {
      const counted = own.filter((line) => line.kind === "counted" && line.number === number).length;
      if (counted === 0 && !endedUntold(own, number, killed)) totals.lost++;
      if (counted > 1) totals.doubled++;
    }
    for (const cut of runs.filter(({ interrupted }) => interrupted)) {
      totals.interrupted++;
      const second = runs.find(({ number, from }) => number === cut.number && from > cut.to);
      if (second) totals.rerun++;
      again.push(second ? second.from - cut.to : null);
      const passed = runs.some(
        ({ number, from }) => number > cut.number && from > cut.to && from < (second?.from ?? Infinity),
      );
      if (passed) totals.overtaken++;
    }
  }
  const allAgain = again.length > 0 && again.every((ms) => ms !== null);
  return { ...totals, takeoverMs: allAgain ? Math.max(...again.map((ms) => ms ?? 0)) : null };
}

/** Killed between the end of a job and the engine's answer: the engine may know that it is done, and nobody runs it again. */
function endedUntold(own: readonly RunLine[], number: number, killed: Killed | null): boolean {
  const lines = own.filter((line) => line.number === number);
  return lines.at(-1)?.kind === "ended" && lines.at(-1)?.worker === killed?.worker;
}

/** A run that its worker did not end has ended with the worker. */
function runsOf(own: readonly RunLine[], killed: Killed | null): readonly Run[] {
  return own
    .filter(({ kind }) => kind === "began")
    .map(({ number, worker, at }) => {
      const end = own.find(
        (line) => line.kind === "ended" && line.number === number && line.worker === worker && line.at >= at,
      );
      const interrupted = end === undefined && killed?.worker === worker;
      return { number, from: at, to: end?.at ?? (interrupted ? killed.at : Infinity), interrupted };
    })
    .toSorted((one, other) => one.from - other.from);
}

function overlapsIn(runs: readonly Run[]): number {
  let overlaps = 0;
  for (const [at, run] of runs.entries()) for (const later of runs.slice(at + 1)) if (later.from < run.to) overlaps++;
  return overlaps;
}

function outOfOrderIn(runs: readonly Run[]): number {
  const seen = new Set<number>();
  let highest = -1;
  let wrong = 0;
  for (const { number } of runs) {
    if (!seen.has(number) && number < highest) wrong++;
    seen.add(number);
    highest = Math.max(highest, number);
  }
  return wrong;
}
