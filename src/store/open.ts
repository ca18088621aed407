/** Opens the store: looks before it touches, then sets durability, brings the tables up to date and counts a new life. */
import { Database } from "bun:sqlite";
import { chmod, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { GatewayError } from "../contracts/errors.ts";
import type { InstanceId } from "../contracts/ids.ts";
import type { Store } from "../contracts/store.ts";
import type { Clock } from "../kit/clock.ts";
import type { Ids } from "../kit/ids.ts";
import type { Log } from "../kit/log.ts";
import { NO_MASK, type SecretMask } from "../kit/secret.ts";
import { createChain } from "./audit/chain.ts";
import { createAuditLog, createAuditTrail } from "./audit/entries.ts";
import { createHeadFile, type HeadFile } from "./audit/head-file.ts";
import { createChainKey } from "./audit/links.ts";
import { createGroupCommit, storeFailed } from "./group-commit.ts";
import { startIntegrityCheck } from "./health/integrity-check.ts";
import { keepLog, keptLogs } from "./health/kept-logs.ts";
import { noRoomIn } from "./health/no-room.ts";
import { createHealth } from "./health/store-health.ts";
import { describeDamage, findWalDamage } from "./health/wal-check.ts";
import { ensurePrivateFile, prepareHome, syncFile, syncFolder, unusable } from "./state-directory.ts";
import { DATABASE_FILE, inspect, isDamage, type StoreCheck } from "./inspect.ts";
import { migrate } from "./migrate.ts";
import { createApprovalRows, createOpenApprovalsEnd } from "./rows/approvals.ts";
import { createJobs } from "./rows/automation/jobs.ts";
import { createConversations } from "./rows/chats/conversations.ts";
import { createPlaces } from "./rows/automation/session-chats.ts";
import { createRunSessions } from "./rows/automation/run-sessions.ts";
import { createSystemEvents } from "./rows/automation/system-events.ts";
import { createChannelState } from "./rows/channels/channel-state.ts";
import { createMessages } from "./rows/channels/messages.ts";
import { createPairings } from "./rows/channels/pairings.ts";
import { createTranscriptions } from "./rows/channels/transcriptions.ts";
import { createWebhookMarks } from "./rows/automation/webhook-marks.ts";
import { createInbox } from "./rows/inbox.ts";
import { createMedia } from "./rows/media.ts";
import { createNotes } from "./rows/notes/notes.ts";
import { createClaimTakeover, createOutbox } from "./rows/outbox.ts";
import { createRoleGrants } from "./rows/chats/role-grants.ts";
import type { RowDeps } from "./rows/row-deps.ts";
import { createSessions } from "./rows/sessions.ts";
import { createSignIns } from "./rows/sign-ins.ts";
import { createTasks } from "./rows/notes/tasks.ts";
import { createConversationFiles } from "./tool-calls/conversation-files.ts";
import { createForgotten, createToolCalls } from "./tool-calls/tool-calls.ts";
import { createTurns } from "./rows/turns.ts";
import { createUsage } from "./rows/usage.ts";
import { openAuditKey } from "./secret-files.ts";
import { createSql, type Params, type Sql } from "./sql.ts";

interface StoreDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly ids: Ids;
  /** Applied to every reply before it is stored, and so to all that is read from there. Without it nothing is known to be secret. */
  readonly mask?: SecretMask;
}

const PRIVATE_FILE = 0o600;
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

/** The caller holds the directory (`openStateDirectory`). Throws `store_newer`, `store_corrupt`, `home_unusable` and leaves the file as it was. */
export async function openStore(deps: StoreDeps, { home }: { readonly home: string }): Promise<Store> {
  const startedAt = deps.clock.elapsed();
  const path = await prepareHome(deps, home);
  const file = join(path, DATABASE_FILE);
  await keepDamagedLog(deps, file);
  const found = await inspected(file);
  if (found === null) await createDatabase(path, file, deps.clock.now());
  const sql = createSql(await openDatabase(deps, file));
  try {
    const key = openAuditKey(deps, path);
    const headFile = createHeadFile({ ...deps, key: createChainKey(key) }, path);
    const kept = await keptLogs(path);
    const integrity = found === null || found.closed ? null : startIntegrityCheck(deps, file);
    const notices = () => [...kept, ...(integrity?.notice() ? [integrity.notice() ?? ""] : [])];
    const store = assemble(deps, sql, path, {
      key,
      headFile,
      notices,
      noRoom: () => noRoomIn(path),
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

/** Made under another name and put in place when it is whole: a half-made database cannot be mistaken for a damaged one. */
async function createDatabase(home: string, file: string, at: number): Promise<void> {
  const draft = `${file}.new`;
  try {
    for (const leftover of [draft, `${draft}-journal`, `${draft}-wal`, `${draft}-shm`, `${file}-wal`, `${file}-shm`])
      await rm(leftover, { force: true });
    await ensurePrivateFile(draft);
    const db = new Database(draft, { readwrite: true });
    try {
      for (const pragma of PRAGMAS) db.exec(`pragma ${pragma}`);
      db.exec("pragma synchronous = off"); // nobody looks for it under this name; it is on the disk before it gets its own
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

async function openDatabase({ clock, log }: StoreDeps, file: string): Promise<Database> {
  let db: Database | null = null;
  try {
    await chmod(file, PRIVATE_FILE); // side files that SQLite makes get the mode of this one
    for (const side of [`${file}-wal`, `${file}-shm`])
      if (await Bun.file(side).exists()) await chmod(side, PRIVATE_FILE);
    db = new Database(file, { readwrite: true });
    for (const pragma of PRAGMAS) db.exec(`pragma ${pragma}`);
    const applied = migrate(db, clock.now());
    if (applied.length > 0) log.info("database brought up to date", { migrations: applied });
    return db;
  } catch (error) {
    db?.close();
    if (error instanceof Error && "code" in error && isDamage(String(error.code)))
      throw new GatewayError("store_corrupt", error.message, { cause: error, fields: { file } });
    throw storeFailed(error);
  }
}

interface AssembleOptions {
  /** Of the audit chain. */
  readonly key: Uint8Array;
  readonly headFile: HeadFile | null;
  /** What the owner should know about the files of the store. */
  notices(): readonly string[];
  closing(): void;
  /** Whether a write that failed found no room, and not a broken disk. */
  noRoom(): boolean;
}

export const UNSEALED: AssembleOptions = {
  key: new Uint8Array(),
  headFile: null,
  notices: () => [],
  closing: () => undefined,
  noRoom: () => false,
};

/** Everything above the database; the caller has opened and prepared it. Without `options` the audit chain is there, but anyone could forge it. */
export function assemble(deps: StoreDeps, sql: Sql, home: string, options: AssembleOptions = UNSEALED): Store {
  const chain = createChain(sql, createChainKey(options.key));
  const endForgotten = createForgotten(sql, chain);
  const audit = createAuditLog(sql, chain, options.headFile);
  const endOpenApprovals = createOpenApprovalsEnd(sql, audit);
  const instanceId = deps.ids.next("gateway") as InstanceId;
  const takeOverClaims = createClaimTakeover(sql, instanceId);
  const life = createLife(sql, () => {
    endForgotten();
    endOpenApprovals(deps.clock.now());
    takeOverClaims();
  });
  const epoch = life.begin();
  options.headFile?.noticed(chain.head());
  const commits = createGroupCommit({ sql, log: deps.log, noRoom: options.noRoom });
  let open = true;
  const rows: RowDeps = {
    ...deps,
    sql,
    instanceId,
    mask: (deps.mask ?? NO_MASK).text,
    write: commits.write,
    async read(run) {
      if (!open) throw new GatewayError("stopping", "the store is closed");
      try {
        return run();
      } catch (error) {
        throw storeFailed(error);
      }
    },
  };
  return {
    epoch,
    instanceId,
    inbox: createInbox(rows),
    turns: createTurns(rows),
    outbox: createOutbox(rows),
    sessions: createSessions(rows),
    messages: createMessages(rows),
    toolCalls: createToolCalls(rows, { chain, headFile: options.headFile }),
    audit: createAuditTrail(rows, audit),
    media: createMedia(rows, { home }),
    conversationFiles: createConversationFiles(rows),
    signIns: createSignIns(rows, audit),
    jobs: createJobs(rows),
    systemEvents: createSystemEvents(rows),
    webhookMarks: createWebhookMarks(rows),
    places: createPlaces(rows),
    runSessions: createRunSessions(rows),
    conversations: createConversations(rows),
    roleGrants: createRoleGrants(rows, audit),
    notes: createNotes(rows),
    tasks: createTasks(rows),
    pairings: createPairings(rows, audit),
    channelState: createChannelState(rows),
    transcriptions: createTranscriptions(rows),
    approvals: createApprovalRows(rows, audit),
    usage: createUsage(rows),
    health: createHealth({ commits, touch: life.touch, notices: options.notices }),
    async [Symbol.asyncDispose]() {
      if (!open) return;
      open = false;
      options.closing();
      commits.close();
      // closing folds the log into the database without looking at its checksums, and after an I/O error the log may not be what was written
      if (commits.isBroken()) return sql.abandon();
      try {
        life.end();
        options.headFile?.close(chain.head());
      } finally {
        sql.close();
      }
    },
  };
}

/** Counts lives, and remembers whether the last one ended in order. What it left running has an end nobody saw. */
function createLife(sql: Sql, endForgotten: () => void) {
  const epochNow = sql.prepare((db) => db.selectFrom("meta").select("value").where("key", "=", "epoch"));
  const nextEpoch = sql.prepare((db) =>
    db
      .updateTable("meta")
      .set((eb) => ({ value: eb("value", "+", 1) }))
      .where("key", "=", "epoch"),
  );
  const setClean = sql.prepare((db, p: Params<{ value: number }>) =>
    db
      .updateTable("meta")
      .set({ value: p("value") })
      .where("key", "=", "clean"),
  );
  const countAttempt = sql.prepare((db) =>
    db
      .insertInto("meta")
      .values({ key: "write_attempts", value: 1 })
      .onConflict((oc) => oc.column("key").doUpdateSet((eb) => ({ value: eb("meta.value", "+", 1) }))),
  );
  return {
    begin(): number {
      sql.control("begin immediate");
      nextEpoch.run({});
      setClean.run({ value: 0 });
      endForgotten();
      sql.control("commit");
      return epochNow.first({})?.value ?? 1;
    },
    end(): void {
      setClean.run({ value: 1 });
    },
    /** A write that means nothing. Another value each time, because SQLite does not write a row that stays the same. */
    touch(): void {
      countAttempt.run({});
    },
  };
}
