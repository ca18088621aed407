/** Which test files share a process. A whole gateway has one to itself, so that nothing of another file can be in its way. */
import { dirname } from "node:path";

export interface Batch {
  /** What a person reads: the file, or the folder and how many of its files. */
  readonly name: string;
  readonly files: readonly string[];
  /** Nothing else runs while it does. */
  readonly alone: boolean;
}

/**
 * Tests that hold the time that something takes, or what stays in memory, against a limit. Beside others they would measure the others too. They take
 * time in which a processor may rest, so only those are here that cannot count processor time or take the quickest of some tries instead.
 */
export const MEASURING: readonly string[] = [
  "src/testing/memory-growth.test.ts",
  "src/tools/growth.test.ts",
  "test/escape/greedy.test.ts",
  "test/metrics.test.ts",
];

const WHOLE = "test/";
/** Files of one process. */
const TOGETHER = 20;
/** `src/agents`, and not every folder below it: a process takes longer to start than most of these files to run. */
const ROOM_PARTS = 2;
/**
 * Rooms that take longest, with the files of one process: they start real pi and wait for it, write much, or try much. They come early and in smaller
 * parts, because one that is left at the end uses one processor and lets the other rest.
 */
const SLOW_ROOMS: Readonly<Record<string, number>> = {
  "src/agents": 10,
  "src/model-door": 10,
  "src/store": 10,
  "src/tools": TOGETHER,
  "src/queue": TOGETHER,
  "verification/worlds": TOGETHER,
};

/**
 * Those that measure first, while the machine is quiet; then the long ones, so that the short ones fill the gaps at the end. Files that `areApart`
 * share no process with others of their room.
 */
export function batchesOf(files: readonly string[], areApart: (file: string) => boolean): readonly Batch[] {
  const sorted = files.toSorted();
  const measuring = sorted.filter((file) => MEASURING.includes(file));
  const others = sorted.filter((file) => !MEASURING.includes(file));
  return [
    ...measuring.map((file) => ({ name: file, files: [file], alone: true })), // what another file left in memory would be measured too
    ...inProcesses(others, (file) => (areApart(file) ? `${roomOf(file)}, apart` : roomOf(file))),
  ];
}

/** Each file in a process of its own, for who wants to know what each of them costs. */
export function singly(files: readonly string[]): readonly Batch[] {
  return files.toSorted().map((file) => ({ name: file, files: [file], alone: MEASURING.includes(file) }));
}

/** A whole gateway's tests by themselves, the others with those of the same group. */
function inProcesses(files: readonly string[], groupOf: (file: string) => string): readonly Batch[] {
  const whole = files
    .filter((file) => file.startsWith(WHOLE))
    .map((file) => ({ name: file, files: [file], alone: false }));
  const groups = [
    ...Map.groupBy(
      files.filter((file) => !file.startsWith(WHOLE)),
      groupOf,
    ),
  ];
  const [slow, quick] = [true, false].map((wanted) =>
    groups
      .filter(([group]) => group in SLOW_ROOMS === wanted)
      .flatMap(([group, inside]) => portions(group, inside, SLOW_ROOMS[group] ?? TOGETHER)),
  );
  return [...(slow ?? []), ...whole, ...(quick ?? [])];
}

function roomOf(file: string): string {
  return dirname(file).split("/").slice(0, ROOM_PARTS).join("/");
}

function portions(room: string, files: readonly string[], together: number): readonly Batch[] {
  const count = Math.ceil(files.length / together);
  const size = Math.ceil(files.length / count);
  return Array.from({ length: count }, (_, index) => {
    const own = files.slice(index * size, (index + 1) * size);
    const which = count > 1 ? ` ${index + 1}/${count}` : "";
    return { name: `${room}${which} (${own.length} ${own.length === 1 ? "file" : "files"})`, files: own, alone: false };
  });
}
