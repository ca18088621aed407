/** Turns: begun at most once at a time per session, ended exactly once, and by the attempt that is current. */
import type { Selectable } from "kysely";
import type { StoredPart } from "../../contracts/delivery.ts";
import { GatewayError } from "../../contracts/errors.ts";
import type { InstanceId, TurnId } from "../../contracts/ids.ts";
import type { TurnFinish, TurnResult, TurnStore, UnbegunEnd } from "../../contracts/store/turns.ts";
import type { StoredFiles } from "../files/stored-files.ts";
import { maskTexts } from "../../kit/secret.ts";
import type { TurnTable } from "../schema.ts";
import type { NewReply, OutboxTable } from "./outbox-table.ts";
import type { RowDeps } from "./row-deps.ts";
import { decodeAttachments, decodeJson, encodeJson, fromUsageColumns, toUsageColumns } from "./codec.ts";
import { createOverflow } from "./overflow.ts";
import { toStored } from "./part-rows.ts";
import { createReplyRows, replyRows } from "./replies.ts";
import {
  begunTurn,
  createTurnBegin,
  FIRST_ATTEMPT,
  type SessionOfTurn,
  type TurnBegin,
  upcomingTurn,
} from "./turn-begin.ts";
import { createTurnQueries, type TurnQueries } from "./turn-queries.ts";
import { createTurnTraces } from "./turn-traces.ts";
import { createBooking } from "./usage.ts";
import type { Steps } from "../steps.ts";

type BeginTurn = Parameters<TurnStore["begin"]>[0];

/** `files`: session files in the database; null: there are none. */
export function createTurns(deps: RowDeps, files: StoredFiles | null): TurnStore {
  const { sql, read, write, mask, instanceId: me } = deps;
  const begin = createTurnBegin(sql, me);
  const addReply = createReplyRows(deps).add;
  const queries = { ...createTurnQueries(sql), begin, me, mask, addReply };
  const overflow = createOverflow(sql);
  return {
    begin: (turn) =>
      write(function* () {
        const session = yield* queries.session.first({ key: turn.sessionKey });
        if (!session) throw new GatewayError("internal", "a turn was begun in a session that does not exist");
        const known = yield* queries.turn.first({ id: turn.turnId });
        const begun = known
          ? yield* beginAgain(queries, known, turn, session)
          : yield* beginFirst(queries, turn, session);
        if (!known && turn.overflow) yield* overflow.claim({ ...turn, ...turn.overflow });
        // what an earlier attempt was told of is told again
        return begunTurn(begun, session, known !== null || (yield* begin.hasNews(turn.sessionKey)));
      }, "with the next"), // lost in a power cut, the message is simply begun again
    upcoming: (key) =>
      read(function* () {
        const session = yield* queries.session.first({ key });
        return session && upcomingTurn(session);
      }),
    leave: (turnId, attempt) =>
      write(function* () {
        yield* queries.leave.run({ id: turnId, attempt });
      }),
    countCrashes: (accusedAt, among) =>
      write(function* () {
        // counted before the update: a query inside it would see the rows that it has changed already
        if (among === undefined) {
          const atWork = (yield* queries.atWork.first({ me }))?.count ?? 0;
          yield* queries.countCrashes.run({ accusedAt, atWork, me });
          return;
        }
        let atWork = 0;
        for (const id of among) if (yield* queries.isAtWork.first({ id, me })) atWork++;
        for (const id of among) yield* queries.countCrash.run({ id, accusedAt, atWork, me });
      }),
    join: ({ turnId, attempt, inboxIds }) =>
      write(function* () {
        const turn = yield* queries.turn.first({ id: turnId });
        if (!turn || turn.state !== "running" || turn.attempt !== attempt) return false;
        for (const inboxId of inboxIds) yield* begin.claim.run({ inboxId, turnId, key: turn.session_key });
        return true;
      }, "with the next"), // lost in a power cut, the message simply waits
    endUnbegun: (end) =>
      write(function* () {
        const row = yield* beginOver(queries, end);
        if (!row) return false;
        if (end.overflow) yield* overflow.claim({ ...end, ...end.overflow });
        const nothing = { inputTokens: 0, outputTokens: 0, costUsd: 0 };
        yield* endTurn(queries, row, { ...end, ...row, attempt: 1, usage: nothing, model: "" });
        return true;
      }),
    finish: createFinish({ sql, write }, queries, files),
    resultOf: (inboxId) =>
      read(function* () {
        const turn = yield* queries.turnOf.first({ inboxId });
        if (!turn || turn.state === "running") return null;
        return yield* toResult(queries, { ...turn, state: turn.state });
      }),
    ...createTurnTraces({ sql, read }, function* (turnId) {
      const calls = yield* toolCallsOf(queries, turnId);
      return calls.map(({ tool, input, status, ms }) => ({ tool, input, status, ms }));
    }),
  };
}

function createFinish(
  { sql, write }: Pick<RowDeps, "sql" | "write">,
  queries: EndQueries,
  files: StoredFiles | null,
): TurnStore["finish"] {
  const book = createBooking(sql);
  return async (end) => {
    const change = files && end.fileChange ? await files.stage(end.fileChange) : null;
    const finished = await write(function* () {
      const turn = yield* queries.turn.first({ id: end.turnId });
      if (!turn || turn.state !== "running" || turn.attempt !== end.attempt) return null;
      const { id: turnId, session_key: key } = turn;
      for (const inboxId of end.joined ?? []) yield* queries.begin.claim.run({ inboxId, turnId, key });
      const { parts, isSettled } = yield* endTurn(queries, turn, end);
      if (end.spent) yield* book(end.spent);
      return { parts, discarded: files && change && isSettled ? yield* files.keep(change) : [] };
    });
    void files?.discard(finished?.discarded ?? []);
    return finished && finished.parts;
  };
}

interface OwnQueries extends TurnQueries {
  readonly begin: TurnBegin;
  /** The gateway that begins them. */
  readonly me: InstanceId;
}

function* beginFirst(
  queries: OwnQueries,
  turn: BeginTurn,
  session: SessionOfTurn,
): Steps<Pick<TurnTable, "attempt" | "unsafe">> {
  if (yield* queries.begin.isRunning(turn.sessionKey))
    throw new GatewayError("conflict", "this session has a running turn already", { fields: { turnId: turn.turnId } });
  yield* queries.begin.first(turn, session);
  return FIRST_ATTEMPT;
}

function* beginAgain(
  queries: OwnQueries,
  known: TurnTableRow,
  turn: BeginTurn,
  session: SessionOfTurn,
): Steps<Pick<TurnTable, "attempt" | "unsafe">> {
  if (known.state !== "running")
    throw new GatewayError("conflict", "this turn has ended already", { fields: { turnId: known.id } });
  const attempt = known.attempt + 1;
  const { file, settled_bytes: began_bytes } = session;
  yield* queries.again.run({ id: known.id, attempt, file, node: queries.me, began_bytes });
  // What joined it in an earlier attempt may not have been noted then.
  const { id: turnId, session_key: key } = known;
  for (const inboxId of turn.inboxIds) yield* queries.begin.claim.run({ inboxId, turnId, key });
  return { attempt, unsafe: known.unsafe };
}

/** The session may have a running turn; a turn that is over from the start does not get in its way. */
function* beginOver(
  queries: OwnQueries,
  end: UnbegunEnd,
): Steps<(EndedTurn & { readonly settledBytes: number }) | null> {
  const { turnId, sessionKey: key, at } = end;
  const session = yield* queries.session.first({ key });
  if (!session) return null;
  for (const inboxId of end.inboxIds) if (!(yield* queries.free.first({ inboxId, key }))) return null;
  const { file, settled_bytes: began_bytes } = session;
  const row = { id: turnId, session_key: key, agent_id: end.agentId, file, began_bytes, begun_at: at };
  yield* queries.begin.add.run({ ...row, state: end.outcome, at_work: 0, node: queries.me });
  for (const inboxId of end.inboxIds) yield* queries.begin.claim.run({ inboxId, turnId, key });
  return { ...row, settledBytes: began_bytes };
}

type TurnTableRow = Omit<TurnTable, "seq" | "spans" | "crashes" | "at_work" | "node">;
type EndedTurn = Pick<TurnTable, "id" | "session_key" | "file">;

interface EndQueries extends TurnQueries {
  readonly begin: TurnBegin;
  mask(text: string): string;
  addReply(row: NewReply): Steps<Selectable<OutboxTable>>;
}

interface EndedRows {
  /** The parts of the reply as they are stored. */
  readonly parts: readonly StoredPart[];
  /** False: no conversation has the session file any more. */
  readonly isSettled: boolean;
}

/** All of it, in the one transaction of this write. */
function* endTurn(queries: EndQueries, turn: EndedTurn, end: TurnFinish): Steps<EndedRows> {
  const usage = toUsageColumns(end.usage);
  yield* queries.end.run({
    id: turn.id,
    state: end.outcome,
    model: end.model,
    ...usage,
    error_code: end.error?.code ?? null,
    error_detail: end.error ? queries.mask(end.error.detail) : null,
    ended_at: end.at,
    settled_bytes: end.settledBytes,
    reasoning: end.reasoning ? queries.mask(end.reasoning) : null,
    spans: encodeJson(maskTexts(end.spans ?? [], { text: queries.mask })), // a span is called after its tool
  });
  yield* queries.endMessages.run({ turnId: turn.id });
  const { reply, to, at } = end;
  const rows = replyRows({ turnId: turn.id, sessionKey: turn.session_key, reply, to, at }, queries.mask);
  const parts: StoredPart[] = [];
  for (const row of rows) parts.push(toStored(yield* queries.addReply(row), end.outcome));
  const { file } = turn;
  const { settledBytes } = end;
  const sum = { key: turn.session_key, file, settledBytes, ...usage, messages: end.reply.length, at: end.at };
  if ((yield* queries.addUp.first(sum))?.file === file) return { parts, isSettled: true };
  // a file that is the session's own is in none of its earlier conversations
  const kept = end.model === "" ? 0 : yield* queries.settleKept.run({ file, settledBytes, at: end.at, ...usage });
  return { parts, isSettled: kept > 0 };
}

function* toResult(
  queries: TurnQueries,
  turn: TurnTableRow & { readonly state: TurnResult["outcome"] },
): Steps<TurnResult> {
  const parts = yield* queries.replies.all({ turnId: turn.id });
  const attachments = parts.flatMap((part) => decodeAttachments(part.attachments) ?? []);
  return {
    turnId: turn.id,
    sessionKey: turn.session_key,
    outcome: turn.state,
    content: parts
      .map((part) => part.text)
      .filter((text) => text !== "")
      .join("\n\n"),
    ...(attachments.length > 0 ? { attachments } : {}),
    errorCode: turn.error_code,
    toolCalls: yield* toolCallsOf(queries, turn.id),
    usage: fromUsageColumns(turn),
  };
}

function* toolCallsOf(queries: TurnQueries, turnId: TurnId): Steps<TurnResult["toolCalls"]> {
  return (yield* queries.toolCalls.all({ turnId })).map((call) => ({
    callId: call.call_id,
    tool: call.tool,
    input: decodeJson(call.input),
    status: call.status,
    ms: call.ms ?? 0,
  }));
}
