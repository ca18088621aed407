/** Limits how many lanes of one account send at once; the others wait in line. An account that hangs holds up only its own lanes. */

interface Gates<T extends { readonly gate: string }> {
  /** Runs it as soon as its account has fewer than the limit. */
  enter(one: T): void;
  /** Puts it at the end of its line, to be run when another has ended. */
  queue(one: T): void;
  /** What runs has ended. */
  settled(): Promise<void>;
}

interface Gate<T> {
  readonly line: T[];
  running: number;
}

export function createGates<T extends { readonly gate: string }>(
  maxRunning: number,
  run: (one: T) => Promise<void>,
  signal: AbortSignal,
): Gates<T> {
  const gates = new Map<string, Gate<T>>(); // as many as there are accounts
  const running = new Set<Promise<void>>();
  const gateOf = ({ gate }: T): Gate<T> => {
    const known = gates.get(gate) ?? { line: [], running: 0 };
    gates.set(gate, known);
    return known;
  };
  const pump = (gate: Gate<T>): void => {
    while (gate.running < maxRunning && !signal.aborted) {
      const next = gate.line.shift();
      if (!next) return;
      gate.running++;
      const work = run(next).finally(() => {
        running.delete(work);
        gate.running--;
        pump(gate);
      });
      running.add(work);
    }
  };
  return {
    enter(one) {
      const gate = gateOf(one);
      gate.line.push(one);
      pump(gate);
    },
    queue: (one) => void gateOf(one).line.push(one),
    async settled() {
      await Promise.all(running);
    },
  };
}
