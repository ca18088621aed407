/** `pi-gw logs`: the newest lines of the log files, readable; with -f it goes on across rotation until Ctrl-C. */
import { type FSWatcher, watch } from "node:fs";
import { open, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Clock } from "../kit/clock.ts";
import { formatLogRecord, LOG_LEVELS, type LogLevel, listLogFiles, parseLogLine, visible } from "../observe/index.ts";
import { EXIT_FAILED, EXIT_OK } from "./exit-code.ts";
import { homeOf } from "./state-directory.ts";
import { type CliWorld, type CommonFlags, onInterrupt } from "./world.ts";

interface LogsFlags extends CommonFlags {
  readonly follow?: boolean;
  readonly lines: number;
  readonly level?: LogLevel;
  readonly module?: string;
}

/** File systems that report no changes are looked at this often. */
const LOOK_AGAIN_MS = 1_000;
const MAX_READ_BYTES = 16 * 1024 * 1024;
const LF = 10;

export async function logs(world: CliWorld, flags: LogsFlags): Promise<number> {
  const folder = join(homeOf(flags.home, world.environment), "logs");
  const print = linePrinter(world, flags);
  if (listLogFiles(folder).length === 0) {
    world.stderr(
      `There are no log files in ${folder} yet. They appear when the gateway has been started with: npm start\n`,
    );
    return EXIT_FAILED;
  }
  const stopping = new AbortController();
  using _interrupt = onInterrupt(world, () => stopping.abort());
  const changes = flags.follow ? watchFolder(folder) : null; // before reading, so that nothing falls in between
  try {
    const position = await printNewest(folder, flags, print);
    if (changes) await follow({ clock: world.clock, folder, changes, print }, position, stopping.signal);
  } finally {
    changes?.[Symbol.dispose]();
  }
  return EXIT_OK;
}

/** True when the line was wanted and has been printed. */
type Print = (line: string) => boolean;

interface Position {
  readonly file: string;
  readonly bytes: number;
}

function linePrinter(world: CliWorld, flags: LogsFlags): Print {
  const wanted = wantedLine(flags);
  const colour = world.isTerminal && !world.environment.noColor;
  return (line) => {
    if (!wanted(line)) return false;
    const record = flags.json ? null : parseLogLine(line);
    world.stdout(`${record ? formatLogRecord(record, colour) : visible(line)}\n`);
    return true;
  };
}

function wantedLine({ level, module }: Pick<LogsFlags, "level" | "module">): (line: string) => boolean {
  const least = LOG_LEVELS.indexOf(level ?? "debug");
  return (line) => {
    const record = parseLogLine(line);
    if (record === null || LOG_LEVELS.indexOf(record.level) < least) return false;
    return module === undefined || record.fields["module"] === module;
  };
}

/** Reads from the newest file backwards until there is enough. Gives the position up to which everything has been seen. */
async function printNewest(folder: string, flags: LogsFlags, print: Print): Promise<Position> {
  const wanted = wantedLine(flags);
  const found: string[][] = [];
  let missing = flags.lines;
  let position: Position | null = null;
  for (const { name } of listLogFiles(folder).toReversed()) {
    const { lines, end } = await readFrom(join(folder, name), 0);
    position ??= { file: name, bytes: end };
    const kept = missing > 0 ? lines.filter(wanted).slice(-missing) : [];
    found.unshift(kept);
    missing -= kept.length;
    if (missing <= 0) break;
  }
  for (const line of found.flat()) print(line);
  return position ?? { file: "", bytes: 0 };
}

interface Following {
  readonly clock: Clock;
  readonly folder: string;
  readonly changes: FolderWatch;
  readonly print: Print;
}

async function follow(
  { clock, folder, changes, print }: Following,
  from: Position,
  signal: AbortSignal,
): Promise<void> {
  let position = from;
  while (!signal.aborted) {
    const changed = changes.next();
    position = await catchUp(folder, position, print);
    using pause = clock.deadline(LOOK_AGAIN_MS, () => undefined);
    await Promise.race([changed, aborted(AbortSignal.any([pause.signal, signal]))]);
  }
}

/** The rest of the current file first, then every file that came after it. */
async function catchUp(folder: string, from: Position, print: Print): Promise<Position> {
  const names = listLogFiles(folder).map(({ name }) => name);
  const at = names.indexOf(from.file);
  const rest = at < 0 ? names.slice(-1) : names.slice(at); // its file was deleted: go on with the newest
  let position = from;
  for (const name of rest) {
    const { lines, end } = await readFrom(join(folder, name), name === position.file ? position.bytes : 0);
    for (const line of lines) print(line);
    position = { file: name, bytes: end };
  }
  return position;
}

/** Whole lines only: one that is still being written is left for the next look. */
async function readFrom(path: string, start: number): Promise<{ lines: readonly string[]; end: number }> {
  const data = start === 0 ? await readFile(path) : await readPart(path, start);
  const whole = data.subarray(0, data.lastIndexOf(LF) + 1);
  const lines = whole
    .toString("utf8")
    .split("\n")
    .filter((line) => line !== "");
  return { lines, end: start + whole.length };
}

async function readPart(path: string, start: number): Promise<Buffer> {
  await using file = await open(path, "r");
  const { size } = await file.stat();
  const wanted = Math.min(Math.max(0, size - start), MAX_READ_BYTES);
  const { bytesRead, buffer } = await file.read(Buffer.alloc(wanted), 0, wanted, start);
  return buffer.subarray(0, bytesRead);
}

interface FolderWatch extends Disposable {
  /** Resolves at the next change after this call. */
  next(): Promise<void>;
}

function watchFolder(folder: string): FolderWatch {
  let waiting: (() => void)[] = [];
  const wake = (): void => {
    const woken = waiting;
    waiting = [];
    for (const resolve of woken) resolve();
  };
  const watcher: FSWatcher = watch(folder, wake);
  watcher.on("error", wake); // the regular look goes on without it
  return {
    next: () => new Promise((resolve) => waiting.push(resolve)),
    [Symbol.dispose]: () => watcher.close(),
  };
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
