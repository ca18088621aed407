/** Local copies of session files that another gateway has deleted: they have no row any more, and go after a while. */
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { isGatewayError } from "../../contracts/errors.ts";
import type { SessionFileStore } from "../../contracts/store/session-files.ts";
import { removeSession } from "../setup/damaged-session.ts";
import { isKeptSession } from "./session-file.ts";

/** Asked about with one query. */
const AT_ONCE = 200;
const ENDING = ".jsonl";

/** `before`: younger ones may be about to get their row. Returns how many are gone. */
export async function removeSessionCopies(
  home: string,
  before: number,
  files: Pick<SessionFileStore, "unknownOf">,
): Promise<number> {
  const names = await oldSessions(join(home, "sessions"), before);
  let removed = 0;
  for (let at = 0; at < names.length; at += AT_ONCE)
    for (const name of await files.unknownOf(names.slice(at, at + AT_ONCE))) if (await isRemoved(home, name)) removed++;
  return removed;
}

/** With the names of those of which only a damaged file is left. */
async function oldSessions(folder: string, before: number): Promise<readonly string[]> {
  const newest = new Map<string, number>();
  const entries = await readdir(folder).catch(() => []); // there is no folder before the first session
  for (const entry of entries) {
    const name = entry.slice(0, entry.indexOf(ENDING) + ENDING.length);
    if (!isKeptSession(name)) continue;
    const { mtimeMs } = await stat(join(folder, entry)).catch(() => ({ mtimeMs: before })); // removed just now
    newest.set(name, Math.max(mtimeMs, newest.get(name) ?? 0));
  }
  return [...newest].filter(([, changedAt]) => changedAt < before).map(([name]) => name);
}

async function isRemoved(home: string, name: string): Promise<boolean> {
  try {
    await removeSession(home, name);
    return true;
  } catch (error) {
    if (isGatewayError(error) && error.code === "conflict") return false; // a process has it
    throw error;
  }
}
