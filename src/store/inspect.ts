/** Looks at a database file without changing a byte of it: is it there, whole, ours, and of a version we know? */
import { constants, Database } from "bun:sqlite";
import { lstat, open } from "node:fs/promises";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { keptLogs } from "./health/kept-logs.ts";
import { damageOf, hasIndexAside, quickFindings } from "./health/text-indexes.ts";
import { describeDamage, findWalDamage } from "./health/wal-check.ts";
import { APPLICATION_ID, firstColumn, isUpToDate, NEWEST_VERSION, unknownMigration } from "./migrate.ts";

export const DATABASE_FILE = "gateway.db";

const INDEX_DAMAGED =
  "The index for search is damaged; everything else in the database is in order. The next start mends it.";
const OUTDATED = "It is of an earlier version: the next start copies it and brings it up to date.";
const MAX_SHOWN_CHARS = 300;

/** `say` is a sentence for the person who runs the gateway. */
export type StoreCheck =
  | {
      readonly kind: "ok";
      readonly say: string;
      readonly version: number;
      readonly bytes: number;
      /** Whether the process before closed it. */
      readonly closed: boolean;
      /** A full-text index is damaged, or was put aside because it is: the next start mends it. */
      readonly indexDamaged: boolean;
      /** Whether its tables are those of this build. */
      readonly upToDate: boolean;
    }
  | LogDamaged
  | { readonly kind: "missing" | "newer" | "corrupt" | "unreadable"; readonly say: string };

interface LogDamaged {
  readonly kind: "log_damaged";
  readonly say: string;
}

/** For `doctor`. Works beside a running gateway. `kept`: a sentence for each damaged log that an earlier start has kept. */
export async function checkStore(home: string): Promise<StoreCheck & { readonly kept: readonly string[] }> {
  const file = join(resolve(home), DATABASE_FILE);
  const kept = await keptLogs(resolve(home));
  // opening the database, even to read, would make SQLite forget the damaged part of its log before a copy was kept
  const logDamage = await damagedLog(file);
  return { ...(logDamage ?? (await inspect(file, { thorough: true }))), kept };
}

/** Everything that only reads the database asks this first. */
export async function damagedLog(file: string): Promise<LogDamaged | null> {
  const damage = await findWalDamage(file).catch(() => null); // opening the database says why it cannot be read
  if (damage === null) return null;
  const say = `The write-ahead log ${file}-wal is damaged: ${describeDamage(damage)}. The next start keeps a copy of it and goes on with what can be read. Copy the state directory before that if you want to try a repair.`;
  return { kind: "log_damaged", say };
}

const HEADER_BYTES = 100;
const MAGIC = "SQLite format 3\0";
const BIGGEST_PAGE = 65_536;
/** Reading every page takes about a millisecond per megabyte: always worth it for a small file, after a crash for a larger one. */
const ALWAYS_CHECKED_BYTES = 4 * 1024 * 1024;
const CHECKED_AFTER_CRASH_BYTES = 64 * 1024 * 1024;

export async function inspect(file: string, { thorough }: { readonly thorough: boolean }): Promise<StoreCheck> {
  try {
    const bytes = await sizeOf(file);
    const logBytes = (await sizeOf(`${file}-wal`)) ?? 0;
    if (bytes === null) return missing(file, logBytes);
    const flaw = headerFlaw(await readHeader(file), bytes, logBytes > 0);
    if (flaw) return corrupt(file, flaw);
    return look(file, { bytes, thorough, quiet: logBytes === 0 });
  } catch (error) {
    if (error instanceof Error && "code" in error && isDamage(String(error.code))) return corrupt(file, error.message);
    const because = error instanceof Error ? error.message : String(error);
    return {
      kind: "unreadable",
      say: `The database ${file} cannot be read (${because}). Give the gateway's user access to it.`,
    };
  }
}

async function sizeOf(file: string): Promise<number | null> {
  try {
    const found = await lstat(file);
    if (!found.isFile()) throw new Error("it is not a regular file");
    return found.size;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return null;
    throw error;
  }
}

/** A new log would never stand alone: the database is put in place, complete, before its log is made. */
function missing(file: string, logBytes: number): StoreCheck {
  if (logBytes > 0) return corrupt(file, "its log is there, but the file itself is gone");
  return { kind: "missing", say: `There is no database yet; the gateway makes ${file} at its first start.` };
}

async function readHeader(file: string): Promise<Buffer> {
  const handle = await open(file, "r");
  try {
    const header = Buffer.alloc(HEADER_BYTES);
    const { bytesRead } = await handle.read(header, 0, HEADER_BYTES, 0);
    return header.subarray(0, bytesRead);
  } finally {
    await handle.close();
  }
}

/** With a log beside it the file may rightly be behind, so its length says nothing then. */
function headerFlaw(header: Buffer, bytes: number, hasLog: boolean): string | null {
  if (header.length < HEADER_BYTES) return "it is too short";
  if (header.toString("latin1", 0, MAGIC.length) !== MAGIC) return "it is not a database";
  const written = header.readUInt16BE(16);
  const pageBytes = written === 1 ? BIGGEST_PAGE : written;
  if (pageBytes < 512 || (pageBytes & (pageBytes - 1)) !== 0) return "its header is damaged";
  if (!hasLog && bytes !== header.readUInt32BE(28) * pageBytes) return "its length does not match its header";
  return null;
}

function look(
  file: string,
  { bytes, thorough, quiet }: { bytes: number; thorough: boolean; quiet: boolean },
): StoreCheck {
  const db = openReadOnly(file, quiet);
  try {
    const version = number(db, "user_version");
    if (number(db, "application_id") !== APPLICATION_ID) return corrupt(file, "it is not a pi-gateway database");
    if (version > NEWEST_VERSION)
      return newer(file, `database version ${version}; this one knows versions up to ${NEWEST_VERSION}`);
    const closed = wasClosed(db);
    const quickLimit = closed ? ALWAYS_CHECKED_BYTES : CHECKED_AFTER_CRASH_BYTES;
    let indexDamaged = hasIndexAside(db);
    const limit = thorough ? Number.POSITIVE_INFINITY : quickLimit;
    if (bytes <= limit) {
      const found = quickFindings(db);
      const damage = damageOf(db, found);
      if (damage === "tables") return corrupt(file, found.slice(0, MAX_SHOWN_CHARS));
      indexDamaged ||= damage === "indexes";
    }
    const unknown = unknownMigration(db);
    if (unknown !== undefined) return newer(file, `its migration ${unknown} is not known to this one`);
    const upToDate = isUpToDate(db);
    const whole = indexDamaged ? INDEX_DAMAGED : `The database is in order (version ${version}, ${bytes} bytes).`;
    return {
      kind: "ok",
      say: upToDate ? whole : `${whole} ${OUTDATED}`,
      version,
      bytes,
      closed,
      indexDamaged,
      upToDate,
    };
  } finally {
    db.close();
  }
}

/** `quiet`: it has no log, so it can be read as it stands, which also leaves no side files behind. */
export function openReadOnly(file: string, quiet: boolean): Database {
  const url = `${pathToFileURL(file).href}?${quiet ? "immutable=1" : "mode=ro"}`;
  const db = new Database(url, constants.SQLITE_OPEN_READONLY | constants.SQLITE_OPEN_URI);
  db.exec("pragma trusted_schema = off");
  return db;
}

/** Reading it also proves that the schema can be parsed. */
function wasClosed(db: Database): boolean {
  return firstColumn(db, "select value from meta where key = 'clean'")[0] === 1;
}

function number(db: Database, pragma: "user_version" | "application_id"): number {
  return Number(firstColumn(db, `pragma ${pragma}`)[0]);
}

export function isDamage(code: string): boolean {
  return code.startsWith("SQLITE_CORRUPT") || code.startsWith("SQLITE_NOTADB") || code === "SQLITE_ERROR";
}

function corrupt(file: string, because: string): StoreCheck {
  return {
    kind: "corrupt",
    say: `The database ${file} is damaged (${because}). It was left as it is. Put a backup in its place, or move it away to start with an empty one.`,
  };
}

function newer(file: string, because: string): StoreCheck {
  return {
    kind: "newer",
    say: `The database ${file} was written by a newer pi-gateway (${because}). Nothing was changed. Start that newer version, or start this one with --home and another folder.`,
  };
}
