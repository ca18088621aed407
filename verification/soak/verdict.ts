/** Whether what was measured over the time of a soak stays flat: the middle of the last quarter against that of the first one after the start. Pure. */

export interface Sample {
  /** Since the begin. */
  readonly ms: number;
  readonly turns: number;
  readonly gatewayMb: number;
  readonly gatewayFiles: number;
  /** Of the largest agent process, and how many descriptors the one with most has. */
  readonly agentMb: number;
  readonly agentFiles: number;
  readonly agents: number;
  /** Without pages that are free for new rows. */
  readonly databaseKb: number;
  readonly logKb: number;
  /** Of the state directory. */
  readonly files: number;
}

type Measure = Exclude<keyof Sample, "ms" | "turns">;

export interface Finding {
  readonly measure: Measure;
  readonly begin: number;
  readonly end: number;
  /** So much more is still flat. */
  readonly allowed: number;
  readonly isFlat: boolean;
}

/** While caches fill and code is compiled, everything grows. */
const WARM_UP = 0.2;
const QUARTER = 0.25;

interface Allowance {
  readonly absolute: number;
  /** Of the beginning. */
  readonly share: number;
  /** For each turn: what is kept of it on purpose. */
  readonly perTurn: number;
}

/**
 * Memory of a process with a garbage collector swings by some megabytes. Of turns in a session that was deleted the usage ledger keeps a row each, and
 * the audit log its tool calls and who deleted it, with the indexes of all of them.
 */
const ALLOWED: Readonly<Record<Measure, Allowance>> = {
  gatewayMb: { absolute: 12, share: 0.1, perTurn: 0 },
  gatewayFiles: { absolute: 6, share: 0, perTurn: 0 },
  agentMb: { absolute: 20, share: 0.1, perTurn: 0 },
  agentFiles: { absolute: 6, share: 0, perTurn: 0 },
  agents: { absolute: 1, share: 0, perTurn: 0 },
  databaseKb: { absolute: 512, share: 0, perTurn: 1.5 },
  logKb: { absolute: 17 * 1_024, share: 0, perTurn: 0 },
  files: { absolute: 20, share: 0, perTurn: 0 },
};

export function judge(samples: readonly Sample[]): readonly Finding[] {
  const lengthMs = samples.at(-1)?.ms ?? 0;
  const warm = samples.filter(({ ms }) => ms >= lengthMs * WARM_UP);
  const count = Math.max(1, Math.floor(warm.length * QUARTER));
  const [first, last] = [warm.slice(0, count), warm.slice(-count)];
  const turns = middle(last, "turns") - middle(first, "turns");
  return (Object.keys(ALLOWED) as Measure[]).map((measure) => {
    const { absolute, share, perTurn } = ALLOWED[measure];
    const [begin, end] = [middle(first, measure), middle(last, measure)];
    const allowed = Math.max(absolute, begin * share) + perTurn * turns;
    return { measure, begin, end, allowed, isFlat: end - begin <= allowed };
  });
}

function middle(samples: readonly Sample[], measure: keyof Sample): number {
  const sorted = samples.map((sample) => sample[measure]).toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}
