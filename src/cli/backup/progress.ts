/** A line on the terminal that says how far long work has come. Nothing is shown to programs, or to whoever redirects the output. */
import type { CliWorld } from "../world.ts";

const EVERY_MS = 100;
const WIDTH = 24;

interface Progress extends Disposable {
  show(doneBytes: number, allBytes: number): void;
}

export function createProgress(world: CliWorld, what: string, isSilent: boolean): Progress {
  const isShown = world.isTerminal && !isSilent;
  let shownAt = Number.NEGATIVE_INFINITY;
  return {
    show(doneBytes, allBytes) {
      const now = world.clock.elapsed();
      if (!isShown || now - shownAt < EVERY_MS) return;
      shownAt = now;
      world.stderr(`\r${progressText(what, doneBytes, allBytes)}`);
    },
    [Symbol.dispose]() {
      if (shownAt > Number.NEGATIVE_INFINITY) world.stderr("\r\u001b[K"); // leaves an empty line for what follows
    },
  };
}

/** "Packing [######------] 25 % of 1.2 GB". */
export function progressText(what: string, doneBytes: number, allBytes: number): string {
  return `${progressBar(what, doneBytes, allBytes)} of ${sizeText(allBytes)}`;
}

/** "Packing [######------] 25 %". Files grow while they are read: it never says more than all. */
export function progressBar(what: string, done: number, all: number): string {
  const share = all === 0 ? 1 : Math.min(1, done / all);
  const filled = Math.floor(share * WIDTH);
  const bar = `${"#".repeat(filled)}${"-".repeat(WIDTH - filled)}`;
  return `${what} [${bar}] ${Math.floor(share * 100)} %`;
}

const UNITS = ["bytes", "kB", "MB", "GB", "TB"] as const;

export function sizeText(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (value >= 1_000 && unit < UNITS.length - 1) {
    value /= 1_000;
    unit++;
  }
  return `${unit === 0 || value >= 10 ? Math.round(value) : value.toFixed(1)} ${UNITS[unit] ?? ""}`;
}
