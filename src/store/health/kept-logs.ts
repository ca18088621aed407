/**
 * Damaged write-ahead logs, kept for whoever wants to look into them: SQLite overwrites the place they were found in. A note beside each
 * says what is missing. They stay until a person removes them, and status and `doctor` speak of them until then.
 */
import { constants } from "node:fs";
import { chmod, copyFile, mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { parseJson } from "../../kit/json.ts";
import { PRIVATE_FILE, PRIVATE_FOLDER, syncFile, syncFolder } from "../private-files.ts";
import { unusable } from "../state-directory.ts";
import { describeDamage, type WalDamage } from "./wal-check.ts";

const FOLDER = "damaged";
const NOTE = /^(\d{4}-\d{2}-\d{2}T\d{2}-\d{2}-\d{2}-\d{3}Z)-gateway\.db-wal\.json$/;
const MAX_NOTE_CHARS = 4_096;

/** Returns the path of the copy; null when there was no file to copy. */
export async function keepLog(databaseFile: string, damage: WalDamage, at: number): Promise<string | null> {
  const home = join(databaseFile, "..");
  const folder = join(home, FOLDER);
  const source = `${databaseFile}-wal`;
  const when = new Date(at).toISOString();
  const target = join(folder, `${when.replaceAll(/[:.]/g, "-")}-${basename(source)}`);
  try {
    await mkdir(folder, { recursive: true, mode: PRIVATE_FOLDER });
    const kept = await copyLog(source, target);
    const note = { at: when, ...damage, say: sentence(when, damage, kept) };
    await writeFile(`${target}.json`, `${JSON.stringify(note)}\n`, { mode: PRIVATE_FILE });
    await syncFolder(folder);
    if (damage.databaseIsNewer) for (const side of [source, `${databaseFile}-shm`]) await rm(side, { force: true });
    return kept;
  } catch (error) {
    throw unusable(
      home,
      `The log of the database is damaged, and a copy of it could not be kept in ${folder}. Make room or give write access, then start again. Nothing was changed.`,
      error,
    );
  }
}

async function copyLog(source: string, target: string): Promise<string | null> {
  try {
    await copyFile(source, `${target}.new`, constants.COPYFILE_EXCL);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return null;
    throw error;
  }
  await chmod(`${target}.new`, PRIVATE_FILE);
  await syncFile(`${target}.new`);
  await rename(`${target}.new`, target);
  return target;
}

function sentence(when: string, damage: WalDamage, path: string | null): string {
  const where = path === null ? "The log itself is gone" : `The damaged log is kept as ${path}`;
  return `The database's write-ahead log was damaged when the gateway started at ${when}: ${describeDamage(damage)}. ${where}. Compare with a backup if you have one; remove what is in the folder "${FOLDER}" when you no longer need it.`;
}

/** One sentence for each log that is kept, newest last. */
export async function keptLogs(home: string): Promise<readonly string[]> {
  const folder = join(home, FOLDER);
  const names = await readdir(folder).catch(() => []); // usually there is no such folder
  const notes = names.filter((name) => NOTE.test(name)).toSorted();
  return Promise.all(
    notes.map(async (name) => {
      const text = await readFile(join(folder, name), "utf8").catch(() => ""); // removed just now, or not ours to read
      const parsed = parseJson(text, { maxChars: MAX_NOTE_CHARS, maxDepth: 4 });
      const said = parsed.ok && typeof parsed.value === "object" && parsed.value && "say" in parsed.value;
      return said && parsed.ok
        ? String((parsed.value as { say: unknown }).say)
        : `A damaged write-ahead log is kept in ${folder}.`;
    }),
  );
}
