/** Conversations of a chat, one after the other: nothing that was said to an agent is lost by beginning a new one. */
import type { SessionKey, TurnId } from "../../../contracts/ids.ts";
import type {
  Conversation,
  ConversationAsker,
  ConversationStore,
  Resumed,
} from "../../../contracts/store/conversations.ts";
import type { Ids } from "../../../kit/ids.ts";
import type { ConversationTable } from "../../schema.ts";
import type { Sql } from "../../sql.ts";
import type { Steps } from "../../steps.ts";
import { createGrantsEnd } from "../approvals.ts";
import { fromUsageColumns, toUsageColumns } from "../codec.ts";
import { type ConversationQueries, createConversationQueries, type CurrentRow } from "./conversation-queries.ts";
import type { RowDeps } from "../row-deps.ts";
import { newSessionFile } from "../new-session.ts";
import { storedTitle } from "../opening.ts";

const MAX_LISTED = 50;

/** The turn that asks, and when. Null: a request over HTTP, which is no turn. */
interface By {
  readonly turnId: TurnId | null;
  readonly at: number;
}

export function createConversations({ sql, read, write, ids }: RowDeps): ConversationStore {
  const queries = createConversationQueries(sql);
  const endGrants = createGrantsEnd(sql);
  return {
    list: (asker, limit) => read(() => listed(queries, asker, Math.min(MAX_LISTED, Math.max(1, limit)))),
    resume: (asker, file, by) => write(() => resume({ queries, ids, endGrants }, asker, file, by)),
    resumedBy: (sessionKey, turnId) =>
      read(function* () {
        const session = yield* queries.session.first({ key: sessionKey });
        return session?.switched_by === turnId ? yield* currentOf(queries, session) : null;
      }),
  };
}

/** Within the write of its caller. False: no such session. */
export function createFreshStart(sql: Sql, ids: Ids): (key: SessionKey, by: By) => Steps<boolean> {
  const queries = createConversationQueries(sql);
  const endGrants = createGrantsEnd(sql);
  return function* (key, by) {
    const session = yield* queries.session.first({ key });
    if (!session) return false;
    if (by.turnId !== null && session.switched_by === by.turnId) return true;
    yield* keepCurrent(queries, session, by);
    yield* endGrants(key);
    const empty = { file: newSessionFile(ids), settled_bytes: 0, switched_by: by.turnId };
    yield* queries.putFile.run({ key, ...empty, at: by.at });
    return true;
  };
}

/** Keeps the current conversation of a session that goes on with another file. Within the write of its caller. */
export function createConversationKeeping(sql: Sql): (key: SessionKey, at: number) => Steps<void> {
  const queries = createConversationQueries(sql);
  return function* (key, at) {
    const session = yield* queries.session.first({ key });
    if (session) yield* keepCurrent(queries, session, { turnId: null, at });
  };
}

function* listed(
  queries: ConversationQueries,
  asker: ConversationAsker,
  limit: number,
): Steps<readonly Conversation[]> {
  const here = (yield* queries.ofSession.all({ key: asker.sessionKey, limit })).map(toConversation);
  const { principal } = asker;
  const elsewhere = principal === null ? [] : yield* ofPerson(queries, { ...asker, principal }, limit);
  const byFile = new Map([...here, ...elsewhere].map((one) => [one.file, one]));
  return [...byFile.values()].toSorted((one, other) => other.lastAt - one.lastAt).slice(0, limit);
}

function* ofPerson(
  queries: ConversationQueries,
  {
    principal,
    agentId,
    sessionKey,
  }: ConversationAsker & { readonly principal: NonNullable<ConversationAsker["principal"]> },
  limit: number,
): Steps<readonly Conversation[]> {
  const asked = { person: principal, agent: agentId, limit };
  const kept = (yield* queries.ofPerson.all(asked)).map(toConversation);
  const current: Conversation[] = [];
  for (const row of yield* queries.othersOfPerson.all({ ...asked, key: sessionKey }))
    current.push(yield* currentOf(queries, row));
  return [...kept, ...current];
}

interface Resuming {
  readonly queries: ConversationQueries;
  readonly ids: Ids;
  /** What was allowed in the conversation that the session had. */
  endGrants(key: SessionKey): Steps<void>;
}

function* resume(
  { queries, ids, endGrants }: Resuming,
  asker: ConversationAsker,
  file: string,
  by: { readonly turnId: TurnId; readonly at: number },
): Steps<Resumed> {
  const session = yield* queries.session.first({ key: asker.sessionKey });
  if (!session) return { kind: "gone" };
  if (session.switched_by === by.turnId) return { kind: "resumed", conversation: yield* currentOf(queries, session) };
  const kept = yield* queries.kept.first({ file });
  const other = kept ? null : yield* queries.sessionWith.first({ file });
  const found = kept ?? (other && other.key !== session.key ? other : null);
  if (!found || found.settled_bytes === 0 || !mayTake(asker, found)) return { kind: "gone" };
  if (yield* queries.inUse.first({ file, except: by.turnId })) return { kind: "busy" };
  const conversation = kept ? toConversation(kept) : yield* currentOf(queries, other ?? session);
  yield* endGrants(session.key);
  if (other) yield* endGrants(other.key);
  if (other) yield* queries.putFile.run({ key: other.key, ...emptyFile(ids), at: other.last_activity_at });
  yield* keepCurrent(queries, session, by);
  yield* queries.release.run({ file });
  const { settled_bytes } = found;
  yield* queries.putFile.run({ key: session.key, file, settled_bytes, switched_by: by.turnId, at: by.at });
  return { kind: "resumed", conversation };
}

function emptyFile(ids: Ids) {
  return { file: newSessionFile(ids), settled_bytes: 0, switched_by: null };
}

/** A conversation stays with its chat, or with the one person who held it. */
function mayTake(asker: ConversationAsker, found: ConversationTable | CurrentRow): boolean {
  if ("session_key" in found && found.session_key === asker.sessionKey) return true;
  return asker.principal !== null && found.person === asker.principal && found.agent_id === asker.agentId;
}

/** Keeps the current conversation for `/resume`. One that no agent has answered, and none is answering, holds nothing to resume. */
function* keepCurrent(queries: ConversationQueries, session: CurrentRow, by: By): Steps<void> {
  const answering = yield* queries.inUse.first({ file: session.file, except: by.turnId ?? ("" as TurnId) });
  if (session.settled_bytes === 0 && !answering) return;
  const { file, startedAt, lastAt, title, turns, usage } = yield* currentOf(queries, session);
  yield* queries.keep.run({
    file,
    session_key: session.key,
    agent_id: session.agent_id,
    person: session.person,
    title,
    started_at: startedAt,
    ended_at: lastAt,
    turns,
    ...toUsageColumns(usage),
    settled_bytes: session.settled_bytes,
  });
}

function* currentOf(queries: ConversationQueries, session: CurrentRow): Steps<Conversation> {
  const spent = yield* queries.spent.first({ file: session.file });
  const opening = yield* queries.opening.first({ file: session.file });
  const said = opening ? storedTitle(opening) : "";
  return {
    file: session.file,
    sessionKey: session.key,
    title: said || session.title,
    startedAt: spent?.started_at ?? session.created_at,
    lastAt: spent?.ended_at ?? session.last_activity_at,
    turns: spent?.turns ?? 0,
    usage: fromUsageColumns(spent ?? { input_tokens: 0, output_tokens: 0, cost_usd: 0 }),
  };
}

function toConversation(row: ConversationTable): Conversation {
  return {
    file: row.file,
    sessionKey: row.session_key,
    title: row.title,
    startedAt: row.started_at,
    lastAt: row.ended_at,
    turns: row.turns,
    usage: fromUsageColumns(row),
  };
}
