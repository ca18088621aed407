/** The doors of a store over one open database, and what has to be done when a gateway begins and ends with it. */
import { hostname } from "node:os";
import { GatewayError } from "../contracts/errors.ts";
import type { InstanceId } from "../contracts/ids.ts";
import type { Store } from "../contracts/store.ts";
import type { DatabaseSizes } from "../contracts/store/retention.ts";
import type { Clock } from "../kit/clock.ts";
import type { Ids } from "../kit/ids.ts";
import type { Log } from "../kit/log.ts";
import { NO_MASK, type SecretMask } from "../kit/secret.ts";
import { type Chain, createChain } from "./audit/chain.ts";
import { type AuditLog, createAuditLog, createAuditTrail } from "./audit/entries.ts";
import type { HeadFile } from "./audit/head-file.ts";
import { createChainKey, type Link } from "./audit/links.ts";
import { createMediaInDatabase, createMediaOnDisk } from "./files/media-contents.ts";
import { createSessionFiles } from "./files/session-files.ts";
import type { StoredFiles } from "./files/stored-files.ts";
import { createGroupCommit, type GroupCommit, storeFailed } from "./group-commit.ts";
import type { IndexCare } from "./health/index-care.ts";
import { createHealth } from "./health/store-health.ts";
import { createActivity } from "./activity/activity.ts";
import { isDamage } from "./health/write-faults.ts";
import { createApiKeyRows } from "./rows/api-keys.ts";
import { createPushSubscriptions } from "./rows/push-subscriptions.ts";
import { createApprovalRuleRows } from "./rows/approval-rules.ts";
import { createApprovalRows } from "./rows/approvals.ts";
import { createJobs } from "./rows/automation/jobs.ts";
import { createConversations } from "./rows/chats/conversations.ts";
import { createIndexFill } from "./rows/chats/index-fill.ts";
import { createIndexRefill } from "./rows/chats/index-refill.ts";
import { createSessionChats } from "./rows/automation/session-chats.ts";
import { createRunSessions } from "./rows/automation/run-sessions.ts";
import { createSystemEvents } from "./rows/automation/system-events.ts";
import { createChannelState } from "./rows/channels/channel-state.ts";
import { createMessages } from "./rows/channels/messages.ts";
import { createPairings } from "./rows/channels/pairings.ts";
import { createTranscriptions } from "./rows/channels/transcriptions.ts";
import { createWebhookMarks } from "./rows/automation/webhook-marks.ts";
import { createInbox } from "./rows/inbox.ts";
import { createMedia } from "./rows/media.ts";
import { createNodeLeases } from "./rows/node-leases.ts";
import { createNodeRow, createNodes, type NodeIdentity } from "./rows/nodes.ts";
import { createNotes } from "./rows/notes/notes.ts";
import { createOutbox } from "./rows/outbox.ts";
import { createRoleGrants } from "./rows/chats/role-grants.ts";
import type { RowDeps } from "./rows/row-deps.ts";
import { createRetention } from "./rows/retention/retention.ts";
import { createIdempotentAnswers } from "./rows/idempotent-answers.ts";
import { createResponses } from "./rows/responses.ts";
import { createSessions } from "./rows/sessions.ts";
import { createSessionTools } from "./rows/session-tools.ts";
import { createSignIns } from "./rows/sign-ins.ts";
import { createTasks } from "./rows/notes/tasks.ts";
import { createConversationFiles } from "./tool-calls/conversation-files.ts";
import { createToolCalls } from "./tool-calls/tool-calls.ts";
import { createTurns } from "./rows/turns.ts";
import { createUsage } from "./rows/usage.ts";
import { noSizes } from "./sizes.ts";
import type { LetterStore } from "../contracts/store/letters.ts";
import { NO_LETTERS } from "./no-letters.ts";
import { createIndexFollower } from "./searches/index-follower.ts";
import type { Searches } from "./searches/searches.ts";
import type { Sql } from "./sql.ts";
import type { SqliteSql } from "./sqlite-sql.ts";
import { createStarts } from "./starts.ts";
import { createTakeover } from "./takeover.ts";
import { runAtOnce, type Steps } from "./steps.ts";

export interface StoreDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly ids: Ids;
  /** Applied to every reply before it is stored, and so to all that is read from there. Without it nothing is known to be secret. */
  readonly mask?: SecretMask;
}

/** Of a store that keeps its record of tool calls sealed, beside files of its own. */
interface SealOptions {
  /** Of the audit chain. */
  readonly key: Uint8Array;
  readonly headFile: HeadFile | null;
}

interface AssembleOptions extends SealOptions {
  /** What the owner should know about the files of the store. */
  notices(): readonly string[];
  closing(): void;
  /** Whether a write that failed found no room, and not a broken disk. */
  noRoom(): boolean;
  sizes(signal: AbortSignal): Promise<DatabaseSizes>;
  readonly version?: string | undefined;
  /** Of the full-text indexes; null: nothing can be mended. */
  readonly indexCare: IndexCare | null;
  /** Null: there is no file that a second thread could read. */
  readonly searches: Searches | null;
}

/** What runs the work of the doors: SQLite in this process, or Postgres over connections. */
export interface Engine {
  readonly commits: Pick<GroupCommit, "write" | "fault" | "broken" | "isBroken">;
  read<T>(run: () => Steps<T>): Promise<T>;
  /** For what may pass a great many rows: nothing else waits for it. */
  readonly search: RowDeps["search"];
  readonly messageIndex: RowDeps["messageIndex"];
  /** Files in the database; null: they are on the disk of this machine alone. */
  readonly files: StoredFiles | null;
  sizes(signal: AbortSignal): Promise<DatabaseSizes>;
  /** What the owner should know. */
  notices(): readonly string[];
  /** What helps while writes fail. */
  readonly advice: string;
  /** The database cannot be asked at all: a write would only wait. */
  isAway(): boolean;
  /** Whether no other gateway can have taken over from this one. */
  isHeld(): boolean;
  /** Calls `act`, which never rejects, when the time of other gateways is over and this one may take over from them. */
  whenOthersEnd(act: () => Promise<void>): Disposable;
  readonly letters: LetterStore;
  /** Takes nothing more, commits what waits, then runs `last`, unless nothing can be written any more. Null: it was not run. */
  close<T>(last: () => Steps<T>): Promise<T | null>;
}

export const UNSEALED: AssembleOptions = {
  key: new Uint8Array(),
  headFile: null,
  notices: () => [],
  closing: () => undefined,
  noRoom: () => false,
  sizes: noSizes,
  indexCare: null,
  searches: null,
};

/** Everything above SQLite; the caller has opened and prepared it. Without `options` the audit chain is there, but anyone could forge it. */
export function assemble(deps: StoreDeps, sql: SqliteSql, home: string, options: AssembleOptions = UNSEALED): Store {
  const doors = createDoors(deps, sql, options);
  // the lock on the state directory keeps other gateways from the file, so nobody has to be told apart from them
  const node: NodeIdentity = { ...nodeOf(options.version), stateDirectory: "", keyId: null };
  const begun = inTransaction(sql, () => doors.begin(node));
  const engine = createSqliteEngine(deps, sql, options);
  return doors.open(engine, begun, home);
}

interface Begun {
  readonly epoch: number;
  readonly head: Link;
}

/** `begin` is the first transaction of a gateway: it ends, or takes over, what the process before left. */
export function createDoors(deps: StoreDeps, sql: Sql, { key, headFile }: SealOptions) {
  const chain = createChain(sql, createChainKey(key));
  const audit = createAuditLog(sql, chain, headFile);
  const instanceId = deps.ids.next("gateway") as InstanceId;
  const starts = createStarts(sql);
  const node = createNodeRow(sql, instanceId);
  const takeover = createTakeover({ clock: deps.clock, sql, instanceId, chain, audit, node });
  return {
    instanceId,
    /** Throws `store_taken`. */
    *begin(identity: NodeIdentity): Steps<Begun> {
      yield* node.begin(identity);
      const epoch = yield* starts.begin();
      yield* takeover.atStart();
      return { epoch, head: yield* chain.head() };
    },
    open(engine: Engine, { epoch, head }: Begun, home: string): Store {
      headFile?.noteCommitted(head);
      const { commits, read, search, messageIndex, isHeld } = engine;
      const mask = (deps.mask ?? NO_MASK).text;
      const { write } = commits;
      const rows: RowDeps = { ...deps, sql, instanceId, mask, write, read, search, messageIndex, isHeld };
      let open = true;
      return {
        epoch,
        instanceId,
        ...createRowDoors(rows, { audit, chain, headFile }, engine.files),
        media: createMedia(rows, mediaContents(rows, engine.files, home)),
        retention: createRetention(rows, engine.sizes, home),
        nodes: createNodes(rows, {
          name: nodeOf().name,
          takeOver: takeover.whileRunning,
          whenOthersEnd: engine.whenOthersEnd,
        }),
        letters: engine.letters,
        health: createHealth({ engine, touch: starts.touch }),
        async [Symbol.asyncDispose]() {
          if (!open) return;
          open = false;
          const last = await engine.close(function* () {
            yield* starts.end();
            yield* node.end();
            return yield* chain.head();
          });
          if (last) headFile?.close(last);
        },
      };
    },
  };
}

interface AuditParts {
  readonly audit: AuditLog;
  readonly chain: Chain;
  readonly headFile: HeadFile | null;
}

type RowDoors = Omit<
  Store,
  "epoch" | "instanceId" | "media" | "retention" | "nodes" | "letters" | "health" | keyof AsyncDisposable
>;

function createRowDoors(rows: RowDeps, { audit, chain, headFile }: AuditParts, files: StoredFiles | null): RowDoors {
  return {
    nodeLeases: createNodeLeases(rows),
    inbox: createInbox(rows),
    turns: createTurns(rows, files),
    outbox: createOutbox(rows, audit),
    sessions: createSessions(rows, files),
    messages: createMessages(rows),
    toolCalls: createToolCalls(rows, { chain, headFile }),
    audit: createAuditTrail(rows, audit),
    activity: createActivity(rows),
    sessionFiles: createSessionFiles(rows, files),
    conversationFiles: createConversationFiles(rows),
    signIns: createSignIns(rows, audit),
    jobs: createJobs(rows),
    systemEvents: createSystemEvents(rows),
    webhookMarks: createWebhookMarks(rows),
    sessionChats: createSessionChats(rows),
    runSessions: createRunSessions(rows),
    conversations: createConversations(rows),
    roleGrants: createRoleGrants(rows, audit),
    notes: createNotes(rows),
    tasks: createTasks(rows),
    pairings: createPairings(rows, audit),
    channelState: createChannelState(rows),
    transcriptions: createTranscriptions(rows),
    approvals: createApprovalRows(rows, audit),
    approvalRules: createApprovalRuleRows(rows, audit),
    usage: createUsage(rows),
    apiKeys: createApiKeyRows(rows, audit),
    pushSubscriptions: createPushSubscriptions(rows, audit),
    sessionTools: createSessionTools(rows),
    responses: createResponses(rows),
    idempotentAnswers: createIdempotentAnswers(rows),
  };
}

function mediaContents({ read, write, ids, log }: RowDeps, files: StoredFiles | null, home: string) {
  if (files === null) return createMediaOnDisk({ ids, log, home });
  return createMediaInDatabase({ ids, log, home, read, write, files });
}

function createSqliteEngine({ clock, log }: StoreDeps, sql: SqliteSql, options: AssembleOptions): Engine {
  const repair = options.indexCare?.repair ?? (() => false);
  const commits = createGroupCommit({ clock, sql, log, noRoom: options.noRoom, repair });
  let open = true;
  const read = createRead(() => open, repair);
  const { isBehind, fillSome } = createIndexFill(sql);
  const follower = createIndexFollower({
    clock,
    log,
    fillSome: async () => (await read(isBehind)) && commits.write(fillSome, "with the next"),
  });
  const refill = createIndexRefill(sql);
  options.indexCare?.start(() => commits.write(refill, "with the next"));
  if (runAtOnce(isBehind())) follower.followSoon(); // after a crash, or a stop right after a message
  return {
    commits,
    read,
    search: options.searches?.search ?? ((run) => read(() => run(sql))),
    messageIndex: follower,
    files: null,
    sizes: options.sizes,
    notices: () => [...options.notices(), ...(options.indexCare?.notices() ?? [])],
    advice: "Make room on the disk.",
    isAway: () => false,
    isHeld: () => true,
    whenOthersEnd: () => ({ [Symbol.dispose]: () => undefined }), // there are none
    letters: NO_LETTERS,
    async close(last) {
      open = false;
      options.closing();
      await options.searches?.close(); // whoever closes the database last folds the log into it, and that has to be us
      options.indexCare?.[Symbol.dispose]();
      follower[Symbol.dispose]();
      commits.close();
      return close(sql, commits, last);
    },
  };
}

/** What a gateway is called among others: the machine and its process. */
export function nodeOf(version = "unknown"): Pick<NodeIdentity, "name" | "version"> {
  return { name: `${hostname()}:${process.pid}`, version };
}

function inTransaction<T>(sql: SqliteSql, run: () => Steps<T>): T {
  sql.control("begin immediate");
  const value = runAtOnce(run());
  sql.control("commit");
  return value;
}

/** `last`: what is still written into it. */
function close<T>(sql: SqliteSql, commits: Pick<GroupCommit, "isBroken">, last: () => Steps<T>): T | null {
  // closing folds the log into the database without looking at its checksums, and after an I/O error the log may not be what was written
  if (commits.isBroken()) {
    sql.abandon();
    return null;
  }
  try {
    return runAtOnce(last());
  } finally {
    sql.close();
  }
}

function createRead(isOpen: () => boolean, repair: (error: unknown) => boolean): RowDeps["read"] {
  return async (run) => {
    if (!isOpen()) throw new GatewayError("stopping", "the store is closed");
    try {
      return runAtOnce(run());
    } catch (error) {
      if (!isDamage(error) || !repair(error)) throw storeFailed(error);
    }
    try {
      return runAtOnce(run());
    } catch (error) {
      throw storeFailed(error);
    }
  };
}
