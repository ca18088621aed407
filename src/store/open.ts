/** Opens the store: looks before it touches, then sets durability, and brings the tables up to date. */
import { Database } from "bun:sqlite";
import { chmod, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { GatewayError } from "../contracts/errors.ts";
import type { Store } from "../contracts/store.ts";
import type { Secret } from "../kit/secret.ts";
import { createHeadFile } from "./audit/head-file.ts";
import { createChainKey } from "./audit/links.ts";
import { storeFailed } from "./group-commit.ts";
import type { S3Settings } from "./files/s3-bucket.ts";
import { emptyUnreadable } from "./health/empty-tables.ts";
import { createIndexCare } from "./health/index-care.ts";
import { startIntegrityCheck } from "./health/integrity-check.ts";
import { keepLog, keptLogs } from "./health/kept-logs.ts";
import { noRoomIn } from "./health/no-room.ts";
import { damagedIndexes, dropAside, hasIndexAside, resetIndexes } from "./health/text-indexes.ts";
import { describeDamage, findWalDamage } from "./health/wal-check.ts";
import { sqliteCode } from "./health/write-faults.ts";
import { ensurePrivateFile, PRIVATE_FILE, syncFile, syncFolder } from "./private-files.ts";
import { prepareStateDirectory, unusable } from "./state-directory.ts";
import { DATABASE_FILE, inspect, isDamage, type StoreCheck } from "./inspect.ts";
import { migrate } from "./migrate.ts";
import { openAuditKey } from "./secret-files.ts";
import { createSearches } from "./searches/searches.ts";
import { sqliteSizes } from "./sizes.ts";
import { createSql } from "./sqlite-sql.ts";
import { assemble, type StoreDeps } from "./assemble.ts";
import { copyBeforeUpgrade, upgradeFailed } from "./upgrade-copy.ts";

/** How long a statement waits for another process that looks at the file, such as `doctor`. The gateway stands still meanwhile. */
const BUSY_MS = 1_000;
/**
 * The log is folded into the database whenever it has grown to this many pages (16 MiB). Whoever writes then waits for it, and a tool call
 * writes thirteen pages: with a thousand of them one call in 75 would.
 */
const CHECKPOINT_PAGES = 4_000;
const MAX_IDLE_LOG_BYTES = 16 * 1024 * 1024;

const PRAGMAS = [
  `busy_timeout = ${BUSY_MS}`,
  "journal_mode = wal",
  "synchronous = full", // a commit is on the disk when it returns, also after a loss of power
  "foreign_keys = on",
  "trusted_schema = off",
  "cell_size_check = on",
  "temp_store = memory",
  `wal_autocheckpoint = ${CHECKPOINT_PAGES}`,
  `journal_size_limit = ${MAX_IDLE_LOG_BYTES}`,
];

interface OpenOptions {
  readonly home: string;
  /** Of a Postgres database; without it, it is an SQLite file in the state directory. */
  readonly url?: Secret | undefined;
  /** A bucket for files, instead of the Postgres database. */
  readonly files?: S3Settings | undefined;
  /** Gateways that share a Postgres database make their keys of it. */
  readonly shared?: Secret | undefined;
  /** Of this gateway: other gateways are told. */
  readonly version?: string;
  /** For tests: opens several gateways on one state directory, as if each had its own. */
  readonly beside?: { readonly stateDirectory: string };
}

/** The caller holds the directory (`openStateDirectory`). Throws `store_newer`, `store_corrupt`, `home_unusable` and leaves the file as it was. */
export async function openStore(deps: StoreDeps, options: OpenOptions): Promise<Store> {
  const { home, url, version } = options;
  const startedAt = deps.clock.elapsed();
  const path = await prepareStateDirectory(deps, home);
  if (url) {
    const { openPostgresStore } = await import("./postgres/open.ts"); // nothing of Postgres is loaded for SQLite
    return openPostgresStore(deps, { ...options, home: path, url });
  }
  const file = join(path, DATABASE_FILE);
  await keepDamagedLog(deps, file);
  const found = await inspected(file);
  if (found === null) await createDatabase(path, file, deps.clock.now());
  if (found?.indexDamaged) await emptyUnreadable(file); // before the copy, which reads every page
  const copy = found === null || found.upToDate ? null : await copyBeforeUpgrade(deps, path, found.version);
  const db = await openDatabase(deps, file, copy);
  const sql = createSql(db);
  try {
    if (found?.indexDamaged) mendIndexes(deps, db);
    const indexCare = createIndexCare(deps, {
      find: () => damagedIndexes(db),
      reset: (indexes) => resetIndexes(db, indexes),
      isAside: () => hasIndexAside(db),
    });
    const key = openAuditKey(deps, path);
    const headFile = createHeadFile({ ...deps, key: createChainKey(key) }, path);
    const kept = await keptLogs(path);
    const integrity = found === null || found.closed ? null : startIntegrityCheck(deps, file, indexCare.repair);
    const notices = () => [...kept, ...(integrity?.notice() ? [integrity.notice() ?? ""] : [])];
    const store = assemble(deps, sql, path, {
      key,
      headFile,
      notices,
      version,
      noRoom: () => noRoomIn(path),
      sizes: (signal) => sqliteSizes(file, signal),
      indexCare,
      searches: createSearches({ clock: deps.clock, repair: indexCare.repair }, file),
      closing: () => integrity?.[Symbol.dispose](),
    });
    const { epoch, instanceId } = store;
    deps.log.info("store opened", { epoch, instanceId, ms: Math.round(deps.clock.elapsed() - startedAt) });
    return store;
  } catch (error) {
    sql.close();
    throw storeFailed(error);
  }
}

/** The tables that could not be read are empty now. */
function mendIndexes({ log }: StoreDeps, db: Database): void {
  dropAside(db);
  const damaged = damagedIndexes(db);
  if (damaged.length > 0) log.error("full-text index is damaged and is made anew", { indexes: damaged });
  resetIndexes(db, damaged);
}

/** Before anything opens the database: SQLite would go on with the readable part of the log and overwrite the rest. */
async function keepDamagedLog({ clock, log }: StoreDeps, file: string): Promise<void> {
  const damage = await findWalDamage(file);
  if (damage === null) return;
  const kept = await keepLog(file, damage, clock.now());
  log.error(`the write-ahead log was damaged: ${describeDamage(damage)}`, { ...damage, kept });
}

/** Null: there is no database yet. */
async function inspected(file: string): Promise<Extract<StoreCheck, { kind: "ok" }> | null> {
  const found = await inspect(file, { thorough: false });
  switch (found.kind) {
    case "ok":
      return found;
    case "missing":
      return null;
    case "newer":
      throw new GatewayError("store_newer", "the database has a newer version", { fields: { file }, say: found.say });
    case "corrupt":
    case "log_damaged":
      throw new GatewayError("store_corrupt", "the database is damaged", { fields: { file }, say: found.say });
    case "unreadable":
      throw unusable(file, found.say);
  }
}

/** Made under another name and renamed when it is complete, so that a half-made database is not taken for a damaged one. */
async function createDatabase(home: string, file: string, at: number): Promise<void> {
  const draft = `${file}.new`;
  try {
    for (const leftover of [draft, `${draft}-journal`, `${draft}-wal`, `${draft}-shm`, `${file}-wal`, `${file}-shm`])
      await rm(leftover, { force: true });
    await ensurePrivateFile(draft);
    const db = new Database(draft, { readwrite: true });
    try {
      for (const pragma of PRAGMAS) db.exec(`pragma ${pragma}`);
      db.exec("pragma synchronous = off"); // it is synced below, before it gets its own name
      migrate(db, at);
    } finally {
      db.close(true);
    }
    await syncFile(draft);
    await rename(draft, file);
    await syncFolder(home);
  } catch (error) {
    throw storeFailed(error);
  }
}

/** `copy`: of the database as it is, which has to be brought up to date; null: it is up to date. */
async function openDatabase({ clock, log }: StoreDeps, file: string, copy: string | null): Promise<Database> {
  let db: Database | null = null;
  try {
    await chmod(file, PRIVATE_FILE); // side files that SQLite makes get the mode of this one
    for (const side of [`${file}-wal`, `${file}-shm`])
      if (await Bun.file(side).exists()) await chmod(side, PRIVATE_FILE);
    db = new Database(file, { readwrite: true });
    for (const pragma of PRAGMAS) db.exec(`pragma ${pragma}`);
    if (copy !== null) upgrade(db, { clock, log }, copy);
    return db;
  } catch (error) {
    db?.close();
    if (error instanceof Error && "code" in error && isDamage(String(error.code)))
      throw new GatewayError("store_corrupt", error.message, { cause: error, fields: { file } });
    throw storeFailed(error);
  }
}

function upgrade(db: Database, { clock, log }: Pick<StoreDeps, "clock" | "log">, copy: string): void {
  try {
    log.info("database brought up to date", { migrations: migrate(db, clock.now()), copy });
  } catch (error) {
    const code = sqliteCode(error) ?? "";
    if (isDamage(code) && code !== "SQLITE_ERROR") throw error; // the statement failed and not the file: no damage
    throw upgradeFailed(error, copy);
  }
}
