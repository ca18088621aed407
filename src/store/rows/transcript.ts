/** A conversation read back from where its pieces live: messages, tool calls and replies, turn by turn. Keeps no copy of its own. */
import type { TranscriptItem } from "../../contracts/chat.ts";
import type { SessionKey, TurnId } from "../../contracts/ids.ts";
import type { SessionStore } from "../../contracts/store.ts";
import type { InboxTable, ToolCallTable, TurnTable } from "../schema.ts";
import type { OutboxTable } from "./outbox-table.ts";
import type { Params, Sql } from "../sql.ts";
import type { Steps } from "../steps.ts";
import { sql as raw } from "kysely";
import { decodeAttachments, decodeJson } from "./codec.ts";
import { encodeCursor, NEWEST, numberBefore, pageSize } from "./paging.ts";
import { originOf, type OriginColumns } from "./origin-columns.ts";
import { answeredText } from "../../kit/marks/quoted.ts";
import { decodeQuoted } from "./quoted.ts";
import { createShownTurns } from "./chats/shown-turns.ts";
import { marksOf, reactionsTo } from "./channels/marks.ts";
import type { RowDeps } from "./row-deps.ts";

/** A page is as many whole turns as fill its limit; what waits for a turn stands at the end of the newest page. */
export function createTranscript({ sql, read }: RowDeps): SessionStore["transcript"] {
  const queries = createQueries(sql);
  const itemsOf = createTurnItems(sql);
  const shown = createShownTurns(sql);

  return (key, page) =>
    read(function* () {
      const limit = pageSize(page);
      const before = numberBefore(page);
      const groups = before === NEWEST ? [(yield* queries.waiting.all({ key })).map(toUserItem)] : [];
      let count = groups[0]?.length ?? 0;
      let turn = yield* shown.before(key, before);
      let oldest = before;
      // at least one turn a page, or a long line of waiting messages would hide the past for ever
      while (turn && (count < limit || oldest === before)) {
        const items = marked(yield* itemsOf(turn), turn.reasoned === 1);
        groups.push(items);
        count += items.length;
        oldest = turn.seq;
        turn = yield* shown.before(key, oldest);
      }
      const items = groups.toReversed().flat();
      return turn ? { items, next: encodeCursor([oldest]) } : { items };
    });
}

/** The first words of the answer say that there were thoughts before them. */
function marked(items: TranscriptItem[], reasoned: boolean): TranscriptItem[] {
  const first = reasoned ? items.findIndex(({ role, extra }) => role === "assistant" && !extra) : -1;
  return items.map((item, at) => (at === first ? { ...item, reasoned: true } : item));
}

/** Everything that belongs to a turn, in the order of reading. */
export function createTurnItems(sql: Sql): (turn: Pick<TurnTable, "id" | "state">) => Steps<TranscriptItem[]> {
  const queries = createItemQueries(sql);
  return function* ({ id: turnId, state }) {
    return [
      ...(yield* queries.messages.all({ turnId })).map(toUserItem),
      ...(yield* queries.toolCalls.all({ turnId })).map(toToolItem),
      ...(yield* queries.replies.all({ turnId })).map((row) => toReplyItem(row, state)),
    ];
  };
}

export const SAID = [
  ...["id", "text", "quoted", "attachments", "received_at", "turn_id", "edited_at", "origin", "begun_by"],
  ...["scope", "sender", "sender_name", "role", "own_reactions", "pinned_at"],
] as const satisfies readonly (keyof InboxTable)[];
type UserColumns = Omit<Pick<InboxTable, (typeof SAID)[number]>, "origin"> & OriginColumns;
export const REPLY = [
  ...["id", "text", "kind", "created_at", "turn_id", "part", "attachments", "reply_to", "edited_at"],
  ...["format", "own_reactions", "pinned_at"],
] as const satisfies readonly (keyof OutboxTable)[];
type ReplyColumns = Pick<OutboxTable, (typeof REPLY)[number]> & { readonly reaction: string | null };
type ToolColumns = Pick<ToolCallTable, "id" | "tool" | "input" | "output" | "status" | "ms" | "at" | "turn_id">;

function createQueries(sql: Sql) {
  return {
    waiting: sql.prepare((db, p: Params<{ key: SessionKey }>) =>
      db
        .selectFrom("inbox")
        .select(SAID)
        .where("session_key", "=", p("key"))
        .where("done", "=", raw.lit(0))
        .where("turn_id", "is", null)
        .orderBy("seq"),
    ),
  };
}

function createItemQueries(sql: Sql) {
  return {
    messages: sql.prepare((db, p: Params<{ turnId: TurnId }>) =>
      db.selectFrom("inbox").select(SAID).where("turn_id", "=", p("turnId")).orderBy("seq"),
    ),
    toolCalls: sql.prepare((db, p: Params<{ turnId: TurnId }>) =>
      db
        .selectFrom("tool_calls")
        .select(["id", "tool", "input", "output", "status", "ms", "at", "turn_id"])
        .where("turn_id", "=", p("turnId"))
        .orderBy("seq"),
    ),
    replies: sql.prepare((db, p: Params<{ turnId: TurnId }>) =>
      db
        .selectFrom("outbox")
        .select(REPLY)
        .select((eb) => reactionsTo(sql.dialect, eb).as("reaction"))
        .where("turn_id", "=", p("turnId"))
        .where("deleted_at", "is", null)
        .orderBy("part"),
    ),
  };
}

export function toUserItem(row: UserColumns): TranscriptItem {
  const origin = originOf(row);
  const { text, replyTo } = answeredText(row.text, decodeQuoted(row.quoted));
  const attachments = decodeAttachments(row.attachments) ?? [];
  return {
    id: row.id,
    role: "user",
    text,
    at: row.received_at,
    turnId: row.turn_id,
    inboxId: row.id,
    ...(origin === "chat" ? {} : { origin }),
    ...(attachments.length > 0 ? { attachments } : {}),
    ...(replyTo === undefined ? {} : { replyTo }),
    ...(row.edited_at === null ? {} : { editedAt: row.edited_at }),
    ...(row.scope === "group" ? { sender: { principal: row.sender, name: row.sender_name, role: row.role } } : {}),
    ...marksOf(row),
  };
}

export function toReplyItem(row: ReplyColumns, state: TurnTable["state"]): TranscriptItem {
  const outcome = row.kind === "notice" && state !== "running" ? { outcome: state } : {};
  const { id, text, kind } = row;
  const attachments = decodeAttachments(row.attachments) ?? [];
  return {
    id,
    role: "assistant",
    text,
    at: row.created_at,
    turnId: row.turn_id,
    kind,
    ...outcome,
    ...(attachments.length > 0 ? { attachments } : {}),
    ...(row.part < 0 ? { extra: true } : {}),
    ...(row.reply_to === null ? {} : { replyTo: row.reply_to }),
    ...(row.edited_at === null ? {} : { editedAt: row.edited_at }),
    ...(row.reaction === null ? {} : { reaction: row.reaction }),
    ...(row.format === null ? {} : { format: row.format }),
    ...marksOf(row),
  };
}

function toToolItem(row: ToolColumns): TranscriptItem {
  return {
    id: row.id,
    role: "tool",
    text: "",
    at: row.at,
    turnId: row.turn_id,
    tool: row.tool,
    input: decodeJson(row.input),
    status: row.status,
    ...(row.output === null ? {} : { output: row.output }),
    ...(row.ms === null ? {} : { ms: row.ms }),
  };
}
