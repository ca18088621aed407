/** Which test files share a process. A whole gateway has one to itself, so that nothing of another file can be in its way. */
import { dirname } from "node:path";

export interface Batch {
  /** What a person reads: the file, or the folder and how many of its files. */
  readonly name: string;
  readonly files: readonly string[];
}

const WHOLE = "test/";
/** Files of one process. Those that start pi take longer, and fewer of them keep both processors busy to the end. */
const TOGETHER = 20;
const SLOW_TOGETHER = 10;
/** `src/agents`, and not every folder below it: a process takes longer to start than most of these files to run. */
const ROOM_PARTS = 2;
/** Their tests start real pi, and wait for it. */
const SLOW_ROOMS: readonly string[] = ["src/agents", "src/model-door"];

/** The long ones first, so that the short ones fill the gaps at the end. Files that `areApart` share no process with others of their room. */
export function batchesOf(files: readonly string[], areApart: (file: string) => boolean): readonly Batch[] {
  const sorted = files.toSorted();
  const whole = sorted.filter((file) => file.startsWith(WHOLE)).map((file) => ({ name: file, files: [file] }));
  const roomOf = (file: string): string => dirname(file).split("/").slice(0, ROOM_PARTS).join("/");
  const rooms = Map.groupBy(
    sorted.filter((file) => !file.startsWith(WHOLE)),
    (file) => (areApart(file) ? `${roomOf(file)}, apart` : roomOf(file)),
  );
  const isSlow = (room: string): boolean => SLOW_ROOMS.includes(room);
  const [slow, quick] = [true, false].map((wanted) => [...rooms].filter(([room]) => isSlow(room) === wanted));
  const batches = (some: typeof slow = []) =>
    some.flatMap(([room, inside]) => portions(room, inside, isSlow(room) ? SLOW_TOGETHER : TOGETHER));
  return [...batches(slow), ...whole, ...batches(quick)];
}

function portions(room: string, files: readonly string[], together: number): readonly Batch[] {
  const count = Math.ceil(files.length / together);
  const size = Math.ceil(files.length / count);
  return Array.from({ length: count }, (_, index) => {
    const own = files.slice(index * size, (index + 1) * size);
    const which = count > 1 ? ` ${index + 1}/${count}` : "";
    return { name: `${room}${which} (${own.length} ${own.length === 1 ? "file" : "files"})`, files: own };
  });
}
