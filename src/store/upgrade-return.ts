/**
 * Puts the copy of the database back that was made before its upgrade, for a version that cannot read what the newer one has made of it. Only
 * when the newer one never accepted a message; its caller knows that. A kill at any moment leaves one whole database or the other.
 */
import { Database } from "bun:sqlite";
import { existsSync } from "node:fs";
import { copyFile, link, readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { GatewayError } from "../contracts/errors.ts";
import { DATABASE_FILE, inspect } from "./inspect.ts";
import { syncFile, syncFolder } from "./private-files.ts";
import { copyMoment } from "./upgrade-copy.ts";

/** Names of copies count in seconds. */
const SECOND_MS = 1_000;
/** What the newer version had made of the database, kept until the next return. */
const NEWER = `${DATABASE_FILE}.of-newer-version`;

/** The copy that was put back; null: the database can be read as it is. `since`: when the newer version was started. */
export async function returnDatabase(home: string, since: number): Promise<string | null> {
  const file = join(home, DATABASE_FILE);
  if ((await inspect(file, { thorough: false })).kind !== "newer") return null;
  const copy = await newestCopy(home, since - SECOND_MS);
  if (copy === null) throw noCopy(file);
  foldLog(file);
  await rm(join(home, NEWER), { force: true });
  await link(file, join(home, NEWER)); // the name of the database is never free, or a start would make an empty one
  const draft = `${file}.new`;
  await rm(draft, { force: true });
  await copyFile(join(home, copy), draft);
  await syncFile(draft);
  await rename(draft, file);
  await syncFolder(home);
  return copy;
}

/** Its log would otherwise be read as that of the copy. */
function foldLog(file: string): void {
  const db = new Database(file, { readwrite: true });
  try {
    db.exec("pragma journal_mode = delete"); // writes the log into the file, and deletes it
  } finally {
    db.close(true);
  }
  if (existsSync(`${file}-wal`)) throw new GatewayError("store_failed", "the write-ahead log could not be folded in");
}

async function newestCopy(home: string, notBefore: number): Promise<string | null> {
  const dated = (await readdir(home)).flatMap((name) => {
    const at = copyMoment(name);
    return at !== null && at >= notBefore ? [{ name, at }] : [];
  });
  for (const { name } of dated.toSorted((a, b) => b.at - a.at))
    if ((await inspect(join(home, name), { thorough: false })).kind === "ok") return name;
  return null;
}

function noCopy(file: string): GatewayError {
  return new GatewayError("store_newer", "no copy of the database from before the upgrade", {
    fields: { file },
    say: `A newer pi-gateway has brought ${file} up to date and then did not start, and there is no copy of the database from before that. Install that newer version with npm, or restore a backup: pi-gw restore`,
  });
}
