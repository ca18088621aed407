/**
 * Writes asked for in the same tick share one transaction and one fsync; each is told its result only after the commit. One that throws
 * loses only itself. A lone write is committed at the end of its own tick; only what may be lost waits a moment for company.
 */
import { GatewayError, isGatewayError } from "../contracts/errors.ts";
import type { Clock } from "../kit/clock.ts";
import { deferred } from "../kit/deferred.ts";
import type { Log } from "../kit/log.ts";
import { asFullDisk } from "./health/no-room.ts";
import { faultMeaning, isDamage, sqliteCode } from "./health/write-faults.ts";
import type { SqliteSql } from "./sqlite-sql.ts";
import { runAtOnce, type Steps } from "./steps.ts";

export interface GroupCommit {
  /** `run` runs in one go and touches nothing but the database: it may be run a second time after a rollback. */
  write<T>(run: () => Steps<T>, when?: Synced): Promise<T>;
  /** Commits what is waiting and takes nothing more. After an I/O error it commits nothing. */
  close(): void;
  /** Why the last write failed for a reason that holds for the next one too; null while writes work. */
  fault(): GatewayError | null;
  /** Resolves with the I/O error after which nothing is acknowledged any more. */
  readonly broken: Promise<GatewayError>;
  isBroken(): boolean;
}

/**
 * `now`: on the disk when the promise resolves. `with the next`: written at once, so that the death of the process loses nothing, but on
 * the disk for certain only with the next write that is synced. For steps whose loss in a power cut only means doing them again.
 * `soon`: in the transaction of the next write, or in one of its own a moment later. For steps that may be done again after any end of the process.
 */
export type Synced = "now" | "with the next" | "soon";

interface Waiting {
  readonly run: () => unknown;
  readonly when: Synced;
  resolve(value: unknown): void;
  reject(error: unknown): void;
}

type Outcome = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly error: unknown };

export const MAX_BATCH = 1_000;
export const MAX_WAITING = 20_000;
/** How long a write that may be lost waits for one that may not. A person who goes on at once has written by then. */
export const SOON_MS = 10;

interface CommitDeps {
  readonly clock: Pick<Clock, "sleep">;
  readonly sql: Transactions;
  readonly log: Log;
  /** Whether a write that failed found no room, and not a broken disk. */
  readonly noRoom: () => boolean;
  /** After an error that means damage. True: it is mended, and what failed may be tried once more. */
  readonly repair?: (error: unknown) => boolean;
}

type Transactions = Pick<SqliteSql, "inTransaction" | "control">;

export function createGroupCommit({ clock, log, noRoom, repair = () => false, ...deps }: CommitDeps): GroupCommit {
  const sql = knowingQuotas(deps.sql, noRoom);
  const waiting: Waiting[] = [];
  let closed = false;
  let fault: GatewayError | null = null;
  let isBroken = false;
  let syncing = true;
  const broken = deferred<GatewayError>();

  const setSyncing = (wanted: boolean): void => {
    if (wanted === syncing) return;
    sql.control(wanted ? "pragma synchronous = full" : "pragma synchronous = normal");
    syncing = wanted;
  };

  const times = createFlushTimes(clock, () => flush());

  const flush = (): void => {
    if (waiting.length === 0) return;
    const batch = waiting.splice(0, MAX_BATCH);
    if (waiting.length > 0) times.afterTick();
    else times.flushed();
    const { outcomes, failed } = mending(() => tryCommit(sql, batch, setSyncing), repair);
    report(failed);
    for (let at = 0; at < batch.length; at++) tell(batch[at], outcomes[at]);
    if (isBroken) rejectWaiting();
  };

  /** A full disk fails every write; the log says when it began and when it was over. */
  const report = (failed: { readonly error: unknown } | null): void => {
    if (failed && fault === null) log.error("store cannot write", { error: failed.error });
    if (!failed && fault !== null) log.info("store writes again");
    fault = failed && storeFailed(failed.error);
    if (fault === null || !endsEverything(failed?.error)) return;
    isBroken = true;
    broken.resolve(fault);
  };

  const rejectWaiting = (): void => {
    for (const one of waiting.splice(0)) one.reject(fault);
  };

  return {
    write<T>(run: () => Steps<T>, when: Synced = "now"): Promise<T> {
      if (closed) return Promise.reject(new GatewayError("stopping", "the store is closed"));
      if (isBroken) return Promise.reject(fault);
      if (waiting.length >= MAX_WAITING) return Promise.reject(storeFailed(new Error("too many writes are waiting")));
      const runNow = () => asFullDisk(() => runAtOnce(run()), noRoom);
      return new Promise<T>((resolve, reject) => {
        waiting.push({ run: runNow, when, resolve: resolve as Waiting["resolve"], reject });
        if (when === "soon") times.soon();
        else times.afterTick();
      });
    },
    close() {
      closed = true;
      times[Symbol.dispose]();
      while (waiting.length > 0) flush();
      if (!isBroken) setSyncing(true);
    },
    fault: () => fault,
    broken: broken.promise,
    isBroken: () => isBroken,
  };
}

interface FlushTimes extends Disposable {
  afterTick(): void;
  soon(): void;
  /** Nothing waits any more. */
  flushed(): void;
}

function createFlushTimes(clock: Pick<Clock, "sleep">, flush: () => void): FlushTimes {
  const closing = new AbortController();
  let isScheduled = false;
  /** What waits for company; null: nothing does. */
  let company: object | null = null;
  return {
    afterTick() {
      if (isScheduled) return;
      isScheduled = true;
      setImmediate(() => {
        isScheduled = false;
        flush();
      });
    },
    soon() {
      if (company) return;
      const mine = (company = {});
      clock.sleep(SOON_MS, closing.signal).then(
        () => company === mine && flush(),
        () => undefined, // closing has committed what waited
      );
    },
    flushed() {
      company = null;
    },
    [Symbol.dispose]: () => closing.abort(new Error("the store is closed")),
  };
}

function knowingQuotas(sql: Transactions, noRoom: () => boolean): Transactions {
  return {
    get inTransaction() {
      return sql.inTransaction;
    },
    control: (statement) => asFullDisk(() => sql.control(statement), noRoom),
  };
}

/** SQLite's own errors become `store_failed`; what our code threw on purpose stays as it is. */
export function storeFailed(error: unknown): GatewayError {
  if (isGatewayError(error)) return error;
  return new GatewayError("store_failed", error instanceof Error ? error.message : String(error), { cause: error });
}

function tell(one: Waiting | undefined, outcome: Outcome | undefined): void {
  if (outcome?.ok) one?.resolve(outcome.value);
  else one?.reject(storeFailed(outcome?.error));
}

interface Committed {
  readonly outcomes: readonly Outcome[];
  /** An error that is no fault of one write, but of the disk or the database. */
  readonly failed: { readonly error: unknown } | null;
}

/** Once more, when what failed could be mended. */
function mending(commit: () => Committed, repair: (error: unknown) => boolean): Committed {
  const first = commit();
  const isMended = first.failed !== null && isDamage(first.failed.error) && repair(first.failed.error);
  return isMended ? commit() : first;
}

/** When the transaction itself fails, every write of the batch has failed. */
function tryCommit(sql: Transactions, batch: readonly Waiting[], setSyncing: (wanted: boolean) => void): Committed {
  try {
    setSyncing(batch.some(({ when }) => when === "now"));
    const outcomes = commitBatch(sql, batch);
    return { outcomes, failed: outcomes.find(isDiskFault) ?? null };
  } catch (error) {
    return { outcomes: batch.map(() => ({ ok: false, error })), failed: { error } };
  }
}

function isDiskFault(outcome: Outcome): outcome is Extract<Outcome, { ok: false }> {
  return !outcome.ok && faultMeaning(sqliteCode(outcome.error)) !== "statement";
}

/** Tries without savepoints first, which nearly halves the cost of a write; only a batch in which one fails pays for them. */
function commitBatch(sql: Transactions, batch: readonly Waiting[]): readonly Outcome[] {
  return commitPlain(sql, batch) ?? commitEachGuarded(sql, batch);
}

function commitPlain(sql: Transactions, batch: readonly Waiting[]): readonly Outcome[] | null {
  sql.control("begin immediate");
  const outcomes: Outcome[] = [];
  try {
    for (const { run } of batch) outcomes.push({ ok: true, value: run() });
  } catch (error) {
    rollback(sql, error);
    if (endsEverything(error)) throw error;
    return batch.length === 1 ? [{ ok: false, error }] : null;
  }
  commit(sql);
  return outcomes;
}

function commitEachGuarded(sql: Transactions, batch: readonly Waiting[]): readonly Outcome[] {
  sql.control("begin immediate");
  const outcomes: Outcome[] = [];
  for (const { run } of batch) {
    try {
      sql.control("savepoint one_write");
      const value = run();
      sql.control("release one_write");
      outcomes.push({ ok: true, value });
    } catch (error) {
      // a full or failing disk ends the whole transaction, and with it everything this batch had done
      if (!sql.inTransaction) throw error;
      if (endsEverything(error)) {
        rollback(sql, error);
        throw error;
      }
      sql.control("rollback to one_write");
      sql.control("release one_write");
      outcomes.push({ ok: false, error });
    }
  }
  commit(sql);
  return outcomes;
}

function commit(sql: Transactions): void {
  try {
    sql.control("commit");
  } catch (error) {
    rollback(sql, error);
    throw error;
  }
}

/** No other write of the batch may be committed after it either. */
function endsEverything(error: unknown): boolean {
  return faultMeaning(sqliteCode(error)) === "exit";
}

/** A connection that cannot roll back is of no use any more, whatever `because` means. */
function rollback(sql: Transactions, because: unknown): void {
  try {
    if (sql.inTransaction) sql.control("rollback");
  } catch {
    throw Object.assign(new Error("a failed transaction could not be rolled back", { cause: because }), {
      code: "SQLITE_INTERNAL",
    });
  }
}
