/** The newest lines of the log files that fit a question. Reads from the end, and no more than a reader would wait for. */
import { open } from "node:fs/promises";
import { join } from "node:path";
import type { LogEntry, LogPage, LogQuery } from "../contracts/system-api.ts";
import { listLogFiles } from "./log-files.ts";
import { LOG_LEVELS, parseLogLine } from "./log-text.ts";

/** Of the newest files together. */
const MAX_READ_BYTES = 4 * 1024 * 1024;

/** Newest last. */
export async function readLogs(folder: string, query: LogQuery): Promise<LogPage> {
  const fits = matcherOf(query);
  const found: LogEntry[] = [];
  const modules = new Set<string>();
  let searched = 0;
  let left = MAX_READ_BYTES;
  for (const { name } of listLogFiles(folder).toReversed()) {
    if (found.length >= query.limit || left <= 0) break;
    const text = await readEnd(join(folder, name), left);
    left -= text.length;
    for (const line of text.split("\n").toReversed()) {
      if (found.length >= query.limit) break;
      const entry = parseLogLine(line);
      if (!entry) continue;
      searched++;
      const { module } = entry.fields;
      if (typeof module === "string") modules.add(module);
      if (fits(entry)) found.push(entry);
    }
  }
  return { lines: found.reverse(), modules: [...modules].toSorted(), searched };
}

function matcherOf({ level, module, text }: LogQuery): (entry: LogEntry) => boolean {
  const least = LOG_LEVELS.indexOf(level);
  const wanted = text.trim().toLowerCase();
  return (entry) => {
    if (LOG_LEVELS.indexOf(entry.level) < least) return false;
    if (module !== "" && entry.fields["module"] !== module) return false;
    return wanted === "" || `${entry.msg} ${JSON.stringify(entry.fields)}`.toLowerCase().includes(wanted);
  };
}

/** A file that was taken away meanwhile is empty. The first line may be cut; it is not read then. */
async function readEnd(path: string, maxBytes: number): Promise<string> {
  const file = await open(path, "r").catch(() => null);
  if (!file) return "";
  try {
    const { size } = await file.stat();
    const from = Math.max(0, size - maxBytes);
    const bytes = Buffer.alloc(size - from);
    const { bytesRead } = await file.read(bytes, 0, bytes.length, from);
    const text = bytes.subarray(0, bytesRead).toString("utf8");
    return from === 0 ? text : text.slice(text.indexOf("\n") + 1);
  } finally {
    await file.close();
  }
}
