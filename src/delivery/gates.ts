/** Who may send now: for each account of each channel a set number of places, and a line behind them. One that hangs holds up only its own. */

interface Gates<T extends { readonly gate: string }> {
  /** Runs it when there is a place. */
  enter(one: T): void;
  /** Puts it behind the rest of its line; looked at when a place is free. */
  queue(one: T): void;
  /** What runs has ended. */
  settled(): Promise<void>;
}

interface Gate<T> {
  readonly line: T[];
  inside: number;
}

export function createGates<T extends { readonly gate: string }>(
  places: number,
  run: (one: T) => Promise<void>,
  signal: AbortSignal,
): Gates<T> {
  const gates = new Map<string, Gate<T>>(); // as many as there are accounts
  const running = new Set<Promise<void>>();
  const gateOf = ({ gate }: T): Gate<T> => {
    const known = gates.get(gate) ?? { line: [], inside: 0 };
    gates.set(gate, known);
    return known;
  };
  const pump = (gate: Gate<T>): void => {
    while (gate.inside < places && !signal.aborted) {
      const next = gate.line.shift();
      if (!next) return;
      gate.inside++;
      const work = run(next).finally(() => {
        running.delete(work);
        gate.inside--;
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
