/** The clock of one gateway, which a test puts forward or back while it runs. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";

export interface NodeClock {
  /** For the process of the gateway. */
  readonly env: Readonly<Record<string, string>>;
  readonly preload: string;
  /** 0: it is right. */
  shift(offMs: number): void;
  /** How often a clock that was off has been read. */
  readonly reads: number;
}

const NUMBERS = 2;

/** The file is in this folder. */
export function openNodeClock(folder: string): NodeClock {
  const path = join(folder, "clock");
  writeFileSync(path, new Uint8Array(NUMBERS * Float64Array.BYTES_PER_ELEMENT));
  const shared = new Float64Array(Bun.mmap(path, { shared: true }).buffer);
  return {
    env: { NODES_CLOCK_FILE: path },
    preload: join(import.meta.dir, "shifted-clock.ts"),
    shift: (offMs) => void (shared[0] = offMs),
    get reads() {
      return shared[1] ?? 0;
    },
  };
}
