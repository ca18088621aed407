/**
 * Gives back the pages of program files that a start has used. They count as memory of the process as long as they are mapped, although most
 * of them are never used again; those that are come back from the system's cache when they are touched. Only pages that nobody has changed.
 */
import { readFileSync } from "node:fs";
import { openCLibrary } from "../kit/c-library.ts";

const MADVISE = { madvise: { args: ["u64", "u64", "i32"], returns: "i32" } } as const;
const MADV_DONTNEED = 4;
/** Smaller ones are not worth the call. */
const MIN_KB = 512;

interface Mapping {
  readonly from: bigint;
  readonly bytes: bigint;
}

/** On Linux; elsewhere nothing happens. */
export function dropProgramPages(): void {
  const library = openCLibrary(MADVISE);
  if (library === null) return;
  for (const { from, bytes } of droppable(readMappings())) library.madvise(from, bytes, MADV_DONTNEED);
}

function readMappings(): string {
  try {
    return readFileSync("/proc/self/smaps", "utf8");
  } catch {
    return ""; // no /proc
  }
}

/**
 * Of files, not writable, and without a changed page: such a page is the same in the file. The linker changes some before it makes them
 * read-only, and those would be lost.
 */
export function droppable(smaps: string): readonly Mapping[] {
  const mappings = smaps.split(/^(?=[0-9a-f]+-[0-9a-f]+ )/m);
  return mappings.flatMap((text) => {
    const [, from, to, path] = /^([0-9a-f]+)-([0-9a-f]+) r-[x-]p \S+ \S+ \d+ +(\/.*)$/m.exec(text) ?? [];
    if (from === undefined || to === undefined || path === undefined) return [];
    const isChanged =
      kilobytes(text, "Private_Dirty") + kilobytes(text, "Shared_Dirty") + kilobytes(text, "Anonymous") > 0;
    if (isChanged || kilobytes(text, "Rss") < MIN_KB) return [];
    const start = BigInt(`0x${from}`);
    return [{ from: start, bytes: BigInt(`0x${to}`) - start }];
  });
}

/** What is not told counts as changed. */
function kilobytes(text: string, field: string): number {
  const [, count] = new RegExp(`^${field}: +(\\d+) kB$`, "m").exec(text) ?? [];
  return count === undefined ? Number.POSITIVE_INFINITY : Number(count);
}
