/** The doors of a store over one open database, and what has to be done when a gateway begins and ends with it. */
import { GatewayError } from "../contracts/errors.ts";
import type { InstanceId } from "../contracts/ids.ts";
import type { Store } from "../contracts/store.ts";
import type { Clock } from "../kit/clock.ts";
import type { Ids } from "../kit/ids.ts";
import type { Log } from "../kit/log.ts";
import { NO_MASK, type SecretMask } from "../kit/secret.ts";
import { createChain } from "./audit/chain.ts";
import { createAuditLog, createAuditTrail } from "./audit/entries.ts";
import type { HeadFile } from "./audit/head-file.ts";
import { createChainKey } from "./audit/links.ts";
import { createGroupCommit, type GroupCommit, storeFailed } from "./group-commit.ts";
import { createHealth } from "./health/store-health.ts";
import { createApiKeyRows } from "./rows/api-keys.ts";
import { createApprovalRows, createOpenApprovalsEnd } from "./rows/approvals.ts";
import { createJobs } from "./rows/automation/jobs.ts";
import { createConversations } from "./rows/chats/conversations.ts";
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
import { createNotes } from "./rows/notes/notes.ts";
import { createClaimTakeover, createOutbox } from "./rows/outbox.ts";
import { createRoleGrants } from "./rows/chats/role-grants.ts";
import type { RowDeps } from "./rows/row-deps.ts";
import { createResponses } from "./rows/responses.ts";
import { createSessions } from "./rows/sessions.ts";
import { createSessionTools } from "./rows/session-tools.ts";
import { createSignIns } from "./rows/sign-ins.ts";
import { createTasks } from "./rows/notes/tasks.ts";
import { createConversationFiles } from "./tool-calls/conversation-files.ts";
import { createForgotten, createToolCalls } from "./tool-calls/tool-calls.ts";
import { createTurns } from "./rows/turns.ts";
import { createUsage } from "./rows/usage.ts";
import type { Sql } from "./sql.ts";
import { createStarts } from "./starts.ts";
import { runAtOnce, type Steps } from "./steps.ts";

export interface StoreDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly ids: Ids;
  /** Applied to every reply before it is stored, and so to all that is read from there. Without it nothing is known to be secret. */
  readonly mask?: SecretMask;
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
  const starts = createStarts(sql);
  const { epoch, head } = inTransaction(sql, function* () {
    const epoch = yield* starts.begin();
    yield* endForgotten();
    yield* endOpenApprovals(deps.clock.now());
    yield* takeOverClaims();
    return { epoch, head: yield* chain.head() };
  });
  options.headFile?.noteCommitted(head);
  const commits = createGroupCommit({ sql, log: deps.log, noRoom: options.noRoom });
  let open = true;
  const rows: RowDeps = {
    ...deps,
    sql,
    instanceId,
    mask: (deps.mask ?? NO_MASK).text,
    write: commits.write,
    read: createRead(() => open),
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
    usage: createUsage(rows),
    apiKeys: createApiKeyRows(rows, audit),
    sessionTools: createSessionTools(rows),
    responses: createResponses(rows),
    health: createHealth({ commits, touch: starts.touch, notices: options.notices }),
    async [Symbol.asyncDispose]() {
      if (!open) return;
      open = false;
      options.closing();
      commits.close();
      close(sql, commits, () => {
        runAtOnce(starts.end());
        options.headFile?.close(runAtOnce(chain.head()));
      });
    },
  };
}

function inTransaction<T>(sql: Sql, run: () => Steps<T>): T {
  sql.control("begin immediate");
  const value = runAtOnce(run());
  sql.control("commit");
  return value;
}

/** `last`: what is still written into it. */
function close(sql: Sql, commits: Pick<GroupCommit, "isBroken">, last: () => void): void {
  // closing folds the log into the database without looking at its checksums, and after an I/O error the log may not be what was written
  if (commits.isBroken()) return sql.abandon();
  try {
    last();
  } finally {
    sql.close();
  }
}

function createRead(isOpen: () => boolean): RowDeps["read"] {
  return async (run) => {
    if (!isOpen()) throw new GatewayError("stopping", "the store is closed");
    try {
      return runAtOnce(run());
    } catch (error) {
      throw storeFailed(error);
    }
  };
}
