/**
 * Moves everything the gateway remembers from one engine to the other: table by table in small transactions, each with its progress, so that a
 * move that was killed goes on where it stopped. At the end both sides are compared row by row, and the audit log is verified on the target.
 * The source is only read.
 */
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { GatewayError, isGatewayError } from "../../contracts/errors.ts";
import type { Clock } from "../../kit/clock.ts";
import type { Ids } from "../../kit/ids.ts";
import type { Log } from "../../kit/log.ts";
import type { Secret } from "../../kit/secret.ts";
import type { AskRows } from "../ask-rows.ts";
import { readHeadFile } from "../audit/head-file.ts";
import { createChainKey } from "../audit/links.ts";
import { type AuditVerdict, verifyRows } from "../audit/verify.ts";
import { openBucket } from "../files/bucket.ts";
import type { S3Settings } from "../files/s3-bucket.ts";
import { readAuditKey } from "../secret-files.ts";
import { openStateDirectory } from "../state-directory.ts";
import { digestTable, type TableDigest } from "./digest.ts";
import {
  judgeMark,
  NOTHING_COPIED,
  readMark,
  readProgress,
  type SourceIdentity,
  spoilMark,
  type TableProgress,
  writeMark,
  writeProgress,
} from "./mark.ts";
import { listFiles, type MovedFiles, moveFiles } from "./move-files.ts";
import { readPieces } from "./pieces.ts";
import { EPOCH, type MoveSource, type MoveTarget } from "./sides.ts";
import { openSqliteSource, openSqliteTarget } from "./sqlite-side.ts";
import { MOVED_TABLES, type MovedTable } from "./tables.ts";

interface MoveDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly ids: Ids;
}

interface MoveOptions {
  /** The state directory. */
  readonly home: string;
  /** Of the Postgres database. */
  readonly url: Secret;
  /** A bucket for files, instead of the Postgres database. */
  readonly bucket?: S3Settings | undefined;
  readonly to: "postgres" | "sqlite";
  /** Called after each commit, and while both sides are compared. */
  progress(now: MoveProgress): void;
  /** How many rows are copied in one transaction at most. */
  readonly maxRows?: number;
}

export interface MoveProgress {
  readonly phase: "copy" | "files" | "compare";
  readonly table: string;
  /** Of all tables; while files are moved, how many of them. */
  readonly doneRows: number;
  readonly allRows: number;
}

interface Moved {
  readonly tables: readonly (TableDigest & { readonly name: string })[];
  readonly rows: number;
  readonly files: Omit<MovedFiles, "differing">;
  /** Whether an earlier run had begun it. */
  readonly isResumed: boolean;
  readonly audit: Pick<AuditVerdict, "kind" | "links">;
}

/** Throws `home_taken`, `store_taken`, `store_not_empty`, `store_differs`, `store_newer`, `store_corrupt`, `store_failed`, `bad_request`. */
export async function moveStore(deps: MoveDeps, options: MoveOptions, signal: AbortSignal): Promise<Moved> {
  const home = resolve(options.home);
  if (!existsSync(home)) throw refused(`There is no state directory ${home}.`);
  await using _directory = await openStateDirectory(deps, home); // no gateway starts on it meanwhile
  const key = readAuditKey(home);
  if (key === null)
    throw refused(`There is no audit.key in ${home}, so the audit log could not be verified. Nothing was moved.`);
  try {
    await using source = await openSource(deps, options, home);
    const identity = await identify(source, options, key);
    await using opened = await openTarget(deps, { options, home, identity });
    const work: Work = {
      source,
      target: opened.target,
      columns: await columnsOf(source, opened.target, options.to),
      options,
    };
    const counts = await countRows(work);
    await copyTables(work, counts, signal);
    const files = await copyFiles(work, signal);
    const tables = await compareTables(work, counts, signal);
    const audit = await compareAudit(work, home, key);
    await checkUnchanged(source, identity);
    await opened.target.complete(identity.epoch);
    return { tables, rows: counts.all, files, isResumed: opened.isResumed, audit };
  } catch (error) {
    signal.throwIfAborted();
    throw isGatewayError(error) ? error : stopped(error);
  }
}

/** What every step works with. */
interface Work {
  readonly source: MoveSource;
  readonly target: MoveTarget;
  /** By table. */
  readonly columns: ReadonlyMap<string, readonly string[]>;
  readonly options: MoveOptions;
}

/** Postgres is loaded where it is used. */
const postgresSide = () => import("./postgres-side.ts");

async function openSource(deps: MoveDeps, { to, url, bucket }: MoveOptions, home: string): Promise<MoveSource> {
  if (to === "postgres") return openSqliteSource(home);
  const { openPostgresSource } = await postgresSide();
  return openPostgresSource({ ...deps, url, bucket: await openBucket(deps, bucket) });
}

/** The address of a database is no secret here, and goes into a keyed digest. */
async function identify(source: MoveSource, { to, url }: MoveOptions, key: Uint8Array): Promise<SourceIdentity> {
  const { host, pathname } = new URL(url.reveal());
  const name = to === "postgres" ? "sqlite" : `postgres\n${host}${pathname}`;
  return { source: new Bun.CryptoHasher("sha256", key).update(name).digest("hex"), epoch: await epochOf(source) };
}

interface TargetRequest {
  readonly options: MoveOptions;
  readonly home: string;
  readonly identity: SourceIdentity;
}

interface OpenedTarget extends AsyncDisposable {
  readonly target: MoveTarget;
  readonly isResumed: boolean;
}

/** With the mark of this move in it. */
async function openTarget(deps: MoveDeps, { options, home, identity }: TargetRequest): Promise<OpenedTarget> {
  const open = async (fresh: boolean): Promise<MoveTarget> => {
    if (options.to === "sqlite") return openSqliteTarget(home, deps.clock.now(), fresh);
    const { openPostgresTarget } = await postgresSide();
    return openPostgresTarget({ ...deps, url: options.url, bucket: await openBucket(deps, options.bucket) }, fresh);
  };
  await using first = new AsyncDisposableStack();
  let target = first.use(await open(false));
  const judged = judgeMark(target.hasMark ? await readMark(target.ask) : null, identity);
  if (judged === "foreign")
    throw new GatewayError("store_not_empty", "a move from elsewhere has begun", {
      say: "A move of another store to this database has begun and is not complete. Name an empty database. Nothing was changed.",
    });
  if (judged === "again") {
    await first.disposeAsync();
    target = await open(true);
  } else first.move(); // it stays open
  if (judged !== "resume")
    await target.inTransaction(async () => {
      await writeMark(target.ask, identity);
      await target.ask("delete from audit_marks"); // those of the source come in their place
    });
  return { target, isResumed: judged === "resume", [Symbol.asyncDispose]: () => target[Symbol.asyncDispose]() };
}

/** SQLite has no columns of its own in these tables; Postgres has some for its full-text index. */
async function columnsOf(source: MoveSource, target: MoveTarget, to: MoveOptions["to"]): Promise<Work["columns"]> {
  const { ask } = to === "postgres" ? source : target;
  const columns = new Map<string, readonly string[]>();
  for (const { name } of MOVED_TABLES) {
    const found = await ask<{ name: string }>("select name from pragma_table_info($1) order by cid", [name]);
    columns.set(
      name,
      found.map((column) => column.name),
    );
  }
  return columns;
}

interface Counts {
  readonly all: number;
  readonly byTable: ReadonlyMap<string, number>;
}

async function countRows({ source }: Work): Promise<Counts> {
  const each = MOVED_TABLES.map(({ name }) => `(select count(*) from ${name}) as ${name}`);
  const [counted] = await source.ask<Readonly<Record<string, number>>>(`select ${each.join(", ")}`);
  const byTable = new Map(Object.entries(counted ?? {}));
  return { all: [...byTable.values()].reduce((sum, rows) => sum + rows, 0), byTable };
}

async function copyTables(work: Work, counts: Counts, signal: AbortSignal): Promise<void> {
  const known = await readProgress(work.target.ask);
  let before = 0;
  for (const table of MOVED_TABLES) {
    const copied = (rows: number): void => {
      work.options.progress({ phase: "copy", table: table.name, doneRows: before + rows, allRows: counts.all });
      signal.throwIfAborted();
    };
    const progress = known.get(table.name) ?? NOTHING_COPIED;
    if (progress.isComplete) copied(progress.rows);
    else await copyTable(work, { table, progress, copied });
    before += counts.byTable.get(table.name) ?? 0;
  }
}

interface TableCopy {
  readonly table: MovedTable;
  /** Of the runs before. */
  readonly progress: TableProgress;
  copied(rows: number): void;
}

/** Each piece is committed with the key of its last row: after a crash it is there with its progress, or not at all. */
async function copyTable(work: Work, { table, progress, copied }: TableCopy): Promise<void> {
  const { source, target, options } = work;
  const columns = work.columns.get(table.name) ?? [];
  let { after, rows } = progress;
  for await (const piece of readPieces(source.ask, table, { columns, after, maxRows: options.maxRows })) {
    after = piece.last;
    rows += piece.rows.length;
    await target.inTransaction(async () => {
      await target.insert(table, columns, piece.rows);
      await writeProgress(target.ask, table.name, { after, rows, isComplete: false });
    });
    copied(rows);
  }
  await writeProgress(target.ask, table.name, { after, rows, isComplete: true });
  copied(rows);
}

/** Throws `store_differs`. */
async function copyFiles({ source, target, options }: Work, signal: AbortSignal): Promise<Moved["files"]> {
  const progress = (doneRows: number, allRows: number): void =>
    options.progress({ phase: "files", table: "session files and media", doneRows, allRows });
  const named = await listFiles(source.ask);
  const { differing, ...moved } = await moveFiles({ from: source.files, to: target.files, progress }, named, signal);
  if (differing.length > 0) throw await differs(target, `These files differ: ${differing.join(", ")}.`);
  return moved;
}

/** Throws `store_differs`. */
async function compareTables(work: Work, counts: Counts, signal: AbortSignal): Promise<Moved["tables"]> {
  const { source, target, options } = work;
  const tables: Moved["tables"][number][] = [];
  const differing: string[] = [];
  let doneRows = 0;
  for (const table of MOVED_TABLES) {
    const reading = { columns: work.columns.get(table.name) ?? [], signal };
    const wanted = await digestTable(source.ask, table, reading);
    const found = await digestTable(target.ask, table, reading);
    if (wanted.digest !== found.digest || wanted.rows !== found.rows)
      differing.push(`${table.name} (${wanted.rows} rows in the source, ${found.rows} in the copy)`);
    tables.push({ name: table.name, ...wanted });
    doneRows += wanted.rows;
    options.progress({ phase: "compare", table: table.name, doneRows, allRows: counts.all });
  }
  if (differing.length > 0) throw await differs(target, `These tables differ: ${differing.join(", ")}.`);
  return tables;
}

/** A log that was intact has to be so in the copy. One that was not is copied as it is: what was done to it stays visible. */
async function compareAudit({ source, target }: Work, home: string, key: Uint8Array): Promise<Moved["audit"]> {
  const head = await readHeadFile(home);
  const verify = (ask: AskRows) => verifyRows({ ask, hasEntries: true }, createChainKey(key), head);
  const wanted = await verify(source.ask);
  const found = await verify(target.ask);
  if (wanted.kind !== found.kind || wanted.links !== found.links || wanted.findings.length !== found.findings.length)
    throw await differs(
      target,
      `The audit log is not intact in the copy: ${found.findings[0]?.say ?? "links differ."} Rows differ in nothing but characters that Postgres does not keep: U+0000 and halves of surrogate pairs.`,
    );
  return { kind: found.kind, links: found.links };
}

/** Of two gateways on one Postgres database, this state directory holds back only one. */
async function checkUnchanged(source: MoveSource, identity: SourceIdentity): Promise<void> {
  await source.checkUnused();
  if ((await epochOf(source)) === identity.epoch) return;
  throw new GatewayError("store_taken", "a gateway ran on the source", {
    say: "A gateway ran on the source during the move. Keep it stopped, and run the same command again: it begins anew.",
  });
}

async function epochOf(source: MoveSource): Promise<number> {
  const [row] = await source.ask<{ value: number }>(EPOCH);
  return row?.value ?? 0;
}

async function differs(target: MoveTarget, because: string): Promise<GatewayError> {
  await spoilMark(target.ask);
  return new GatewayError("store_differs", because, {
    say: `The copy differs from the source. ${because} The source and the configuration were left as they are. The same command begins anew.`,
  });
}

function stopped(cause: unknown): GatewayError {
  const because = cause instanceof Error ? cause.message : String(cause);
  return new GatewayError("store_failed", `the move stopped: ${because}`, {
    cause,
    say: `The move stopped (${because}). The source was not changed. Run the same command again: it goes on where it stopped.`,
  });
}

function refused(say: string): GatewayError {
  return new GatewayError("bad_request", "the store cannot be moved", { say });
}
