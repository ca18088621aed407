/** The names of log files and how the folder is kept: which file to write, which are too old. Touches nothing that is not named like a log of ours. */
import { lstatSync } from "node:fs";
import { join } from "node:path";
import { namesIn } from "./private-files.ts";

interface LogFileName {
  readonly name: string;
  /** UTC day, `2026-01-31`. */
  readonly day: string;
  /** Counts the files of one day from 1. */
  readonly number: number;
}

const NAME = /^gateway-(\d{4}-\d{2}-\d{2})\.(\d{1,6})\.log$/;
const DAY_MS = 86_400_000;
/** Whatever the retention says, no more files than this stay: a bound on disk use. */
const MAX_LOG_FILES = 200;

export function logFileName(day: string, number: number): string {
  return `gateway-${day}.${number}.log`;
}

export function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}

/** Oldest first. Empty when there is no such folder. Links and folders are not log files, whatever they are called. */
export function listLogFiles(folder: string): readonly LogFileName[] {
  const found: LogFileName[] = [];
  for (const name of namesIn(folder)) {
    const match = NAME.exec(name);
    const [, day, number] = match ?? [];
    if (!day || !number) continue;
    if (lstatSync(join(folder, name), { throwIfNoEntry: false })?.isFile() !== true) continue;
    found.push({ name, day, number: Number(number) });
  }
  return found.sort((a, b) => (a.day === b.day ? a.number - b.number : a.day < b.day ? -1 : 1));
}

/** Those that may go: older than the retention, or more than the folder may hold. Never the newest one. */
export function expiredLogFiles(
  files: readonly LogFileName[],
  now: number,
  retentionDays: number,
): readonly LogFileName[] {
  const firstKeptDay = dayOf(now - retentionDays * DAY_MS);
  const surplus = files.length - MAX_LOG_FILES;
  return files.filter((file, at) => at < files.length - 1 && (file.day < firstKeptDay || at < surplus));
}
