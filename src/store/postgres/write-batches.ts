/**
 * Writes over one connection. Those that are asked for while a transaction runs share the next one: they run one after the other, and each
 * is told its result after the commit. Two gateways that write at the same time are kept apart by SERIALIZABLE: one of the two batches runs
 * again. A connection that is lost during a commit leaves no doubt: each batch writes its number with its rows, and the number is read back.
 */
import { GatewayError } from "../../contracts/errors.ts";
import type { InstanceId } from "../../contracts/ids.ts";
import type { Clock } from "../../kit/clock.ts";
import { deferred } from "../../kit/deferred.ts";
import type { Log } from "../../kit/log.ts";
import { type GroupCommit, MAX_BATCH, MAX_WAITING, storeFailed } from "../group-commit.ts";
import type { Steps } from "../steps.ts";
import { type BatchedWrite, endOf, lastBatch, type Outcome, runGuarded, runPlain } from "./batch-transaction.ts";
import type { Connection } from "./connection.ts";
import { ConnectionLost, postgresFault, sqlState } from "./faults.ts";
import type { Reconnecting } from "./reconnecting.ts";
import { supersededError } from "./renewal.ts";

interface WriteDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly writer: Reconnecting;
  /** Whose batches these are: the row of its numbers is there already. */
  readonly instanceId: InstanceId;
}

interface Waiting extends BatchedWrite {
  /** By the clock that measures. */
  readonly askedAt: number;
  resolve(value: unknown): void;
  reject(error: unknown): void;
}

interface WriteBatches extends Pick<GroupCommit, "write" | "fault" | "broken" | "isBroken"> {
  /** Commits what waits, and takes nothing more. */
  close(): Promise<void>;
  /** Another gateway has taken over: nothing is written any more, and the process has to end. */
  supersede(error: GatewayError): void;
}

/** How long a write waits for a connection before it is refused. */
const MAX_WAIT_MS = 10_000;
/**
 * Of a batch that met another transaction. The pauses between them grow from a few milliseconds to a quarter of a second, so that the last
 * attempt is about six seconds after the first. Three gateways that end turns all the time need up to nine.
 */
const MAX_ATTEMPTS = 30;
/** One look for what became of a batch. It is looked for until it is known. */
const SETTLE_MS = 1_000;
const FIRST_PAUSE_MS = 2;
const LONGEST_PAUSE_MS = 250;

export function createWriteBatches({ clock, log, writer, instanceId }: WriteDeps): WriteBatches {
  const closing = new AbortController();
  const waiting: Waiting[] = [];
  let closed = false;
  let running: Promise<void> | null = null;
  const health = createWriteHealth({ log, instanceId });

  /** While nobody knows what became of a batch, those behind it do not wait for ever. */
  const refuseLate = (error: unknown): void => {
    health.report(error);
    const late = waiting.findLastIndex(({ askedAt }) => clock.elapsed() - askedAt >= MAX_WAIT_MS);
    for (const one of waiting.splice(0, late + 1)) one.reject(storeFailed(error));
  };

  const commit = createCommitting({ clock, writer, instanceId, refuseLate, isClosed: () => closed }, closing.signal);

  /** Of the first write of a batch: it may have waited behind another batch. */
  const waitLeft = ([first]: readonly Waiting[]): number =>
    Math.max(0, MAX_WAIT_MS - (clock.elapsed() - (first?.askedAt ?? 0)));

  /** Never rejects: each write is told what came of it. */
  const runAll = async (): Promise<void> => {
    while (waiting.length > 0) {
      const batch = waiting.splice(0, MAX_BATCH);
      try {
        const outcomes = await commit(batch, waitLeft(batch));
        health.report(null);
        for (let at = 0; at < batch.length; at++) tell(batch[at], outcomes[at]);
      } catch (error) {
        health.report(error);
        for (const one of batch) one.reject(health.superseded() ?? storeFailed(error));
      }
    }
    running = null;
  };

  const schedule = (): void => {
    running ??= new Promise<void>((resolve) => setImmediate(resolve)).then(runAll);
  };

  return {
    write<T>(run: () => Steps<T>): Promise<T> {
      if (closed) return Promise.reject(new GatewayError("stopping", "the store is closed"));
      const superseded = health.superseded();
      if (superseded !== null) return Promise.reject(superseded);
      if (waiting.length >= MAX_WAITING) return Promise.reject(storeFailed(new Error("too many writes are waiting")));
      return new Promise<T>((resolve, reject) => {
        waiting.push({ run, askedAt: clock.elapsed(), resolve: resolve as Waiting["resolve"], reject });
        schedule();
      });
    },
    async close() {
      closed = true;
      await running;
      closing.abort(new Error("the store is closed"));
    },
    fault() {
      const away = writer.fault();
      return health.superseded() ?? (away === null ? health.fault() : storeFailed(away));
    },
    broken: health.broken,
    isBroken: () => health.superseded() !== null,
    supersede: health.supersede,
  };
}

/** Whether the last writes worked, and whether any will ever work again. */
function createWriteHealth({ log, instanceId }: Pick<WriteDeps, "log" | "instanceId">) {
  const broken = deferred<GatewayError>();
  let fault: GatewayError | null = null;
  let superseded: GatewayError | null = null;
  const supersede = (error: GatewayError): void => {
    if (superseded !== null) return;
    superseded = error;
    log.error("another gateway has taken over: this one writes nothing any more, and ends", { instanceId });
    broken.resolve(error);
  };
  return {
    supersede,
    broken: broken.promise,
    superseded: () => superseded,
    fault: () => fault,
    /** Null: they worked. */
    report(error: unknown): void {
      if (postgresFault(error) === "superseded") supersede(supersededError(error));
      if (superseded !== null) return;
      if (error !== null && fault === null) log.error("store cannot write", { error });
      if (error === null && fault !== null) log.info("store writes again");
      fault = error === null ? null : storeFailed(error);
    },
  };
}

interface CommitDeps extends Pick<WriteDeps, "clock" | "writer" | "instanceId"> {
  /** Refuses what has waited too long behind the batch that is in doubt. */
  refuseLate(error: unknown): void;
  isClosed(): boolean;
}

/** Commits one batch after the other, each as often as it takes. Throws when nothing of it was written, for a reason that holds for all. */
function createCommitting({ clock, writer, instanceId, refuseLate, isClosed }: CommitDeps, closing: AbortSignal) {
  let number = 0;

  const connection = async (waitMs: number): Promise<Connection> => {
    using limit = clock.deadline(waitMs, () => new ConnectionLost("there is no connection to Postgres"));
    return await writer.connection(limit.signal);
  };

  /** The connection went with the answer. Its transaction has ended, either way, before its row can be locked by another one. */
  const wasCommitted = async (batch: number, lostPid: number): Promise<boolean> => {
    for (let attempt = 1; ; attempt++) {
      try {
        const settled = await (await connection(SETTLE_MS)).ask(lastBatch(instanceId, lostPid));
        return ((settled.rows[0] as { batch: number } | undefined)?.batch ?? -1) >= batch;
      } catch (error) {
        refuseLate(error);
        if (isClosed()) throw error;
        await clock.sleep(pauseBefore(attempt), closing);
      }
    }
  };

  return async (batch: readonly BatchedWrite[], waitMs: number): Promise<readonly Outcome[]> => {
    const mine = ++number;
    let guarded = false;
    let duplicates = 0;
    for (let attempt = 1; ; attempt++) {
      const current = await connection(waitMs);
      const work = { connection: current, batch, end: endOf(instanceId, mine, clock.now()) };
      const done = guarded ? await runGuarded(work) : await runPlain(work);
      if (done.kind === "committed") return done.outcomes;
      if (done.kind === "in doubt" && (await wasCommitted(mine, current.pid))) return done.outcomes;
      if (done.kind === "one is wrong") {
        if (sqlState(done.error) === UNIQUE_VIOLATION) duplicates++;
        const next = afterWrong(done.error, { duplicates, alone: batch.length === 1 });
        if (next === "refuse") return [{ ok: false, error: done.error }];
        guarded = next === "guarded";
        continue;
      }
      if (done.kind === "failed" && (isForAll(done.error) || attempt >= MAX_ATTEMPTS)) throw done.error;
      await clock.sleep(pauseBefore(attempt), closing);
    }
  };
}

/** Whether the reason holds for the next attempt, and for the next write, too. */
function isForAll(error: unknown): boolean {
  return ["wait", "superseded"].includes(postgresFault(error));
}

function tell(one: Waiting | undefined, outcome: Outcome | undefined): void {
  if (outcome?.ok) one?.resolve(outcome.value);
  else one?.reject(storeFailed(outcome?.error));
}

function pauseBefore(attempt: number): number {
  return Math.min(FIRST_PAUSE_MS * 2 ** (attempt - 1), LONGEST_PAUSE_MS);
}

const UNIQUE_VIOLATION = "23505";
/** Of one batch: each may be another gateway's row. */
const MAX_DUPLICATES = 3;

/**
 * Another gateway may have added the same row since this transaction began: run again, the work sees that row and does not add it. A row that
 * is there twice after that is the fault of the write.
 */
function afterWrong(error: unknown, { duplicates, alone }: { readonly duplicates: number; readonly alone: boolean }) {
  if (sqlState(error) === UNIQUE_VIOLATION && duplicates <= MAX_DUPLICATES) return "again";
  return alone ? "refuse" : "guarded";
}
