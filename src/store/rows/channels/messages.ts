/** Messages of the inbox and the outbox by their ids, with what was done to them. */
import type { TranscriptItem } from "../../../contracts/chat.ts";
import type { InboxId, SessionKey } from "../../../contracts/ids.ts";
import type {
  HistoryMessage,
  HistoryPage,
  MessageMarks,
  MessageStore,
  StoredMessage,
} from "../../../contracts/store/messages.ts";
import type { SessionStore } from "../../../contracts/store.ts";
import type { InboxTable } from "../../schema.ts";
import type { OutboxTable } from "../outbox-table.ts";
import type { Params, Sql } from "../../sql.ts";
import type { Steps } from "../../steps.ts";
import { decodeAttachments, fromAddressColumns } from "../codec.ts";
import type { RowDeps } from "../row-deps.ts";
import { createTranscript, REPLY, SAID, toReplyItem, toUserItem } from "../transcript.ts";
import { reactionsTo, readReactions } from "./marks.ts";
import { createPlatformIds, type PlatformIds } from "./platform-ids.ts";
import { createChannelTraffic } from "./traffic.ts";

/** A message this many pages back is not looked for. */
const MAX_PAGES = 20;
const PAGE_ITEMS = 200;
const FACTS = [
  ...["id", "session_key", "channel", "account", "chat", "thread", "attachments", "own_reactions", "pinned_at"],
] as const satisfies readonly (keyof InboxTable & keyof OutboxTable)[];

export function createMessages(deps: RowDeps): MessageStore {
  const { sql, read, write, mask } = deps;
  const transcript = createTranscript(deps);
  const queries = createQueries(sql);
  const platform = createPlatformIds(sql);
  function* shown(id: string): Steps<TranscriptItem | null> {
    const person = yield* queries.item.first({ id: id as InboxId });
    if (person) return toUserItem(person);
    const reply = yield* queries.reply.first({ id });
    return reply && toReplyItem(reply, reply.turn_state);
  }
  return {
    find: ({ sessionKey, to }, id) =>
      read(function* () {
        const own = yield* stored(queries, platform, sessionKey, id);
        const known = own ? null : yield* platform.messageId(to, id);
        return known === null ? own : yield* stored(queries, platform, sessionKey, known);
      }),
    platformIds: (id) => read(() => platform.of(id)),
    idOf: (to, platformId) => read(() => platform.messageId(to, platformId)),
    mark: (id, marks, at) =>
      write(function* () {
        const now =
          (yield* queries.fromInbox.first({ id: id as InboxId })) ?? (yield* queries.fromOutbox.first({ id }));
        if (!now) return null;
        const reactions = marks.reactions?.map(mask);
        const change = { id, ...changedMarks(now, { ...marks, ...(reactions ? { reactions } : {}) }, at) };
        if ((yield* queries.markInbox.run({ ...change, id: id as InboxId })) === 0)
          yield* queries.markOutbox.run(change);
        return yield* shown(id);
      }),
    traffic: createChannelTraffic(deps),
    item: (id) => read(() => shown(id)),
    history: (sessionKey, page) => readHistory(transcript, sessionKey, page),
  };
}

type Queries = ReturnType<typeof createQueries>;

function* stored(
  { fromInbox, fromOutbox }: Queries,
  platform: PlatformIds,
  sessionKey: SessionKey,
  id: string,
): Steps<StoredMessage | null> {
  const person = yield* fromInbox.first({ id: id as InboxId });
  const ours = person ? null : yield* fromOutbox.first({ id });
  const row = person ?? ours;
  if (!row || row.session_key !== sessionKey) return null;
  return {
    id: row.id,
    to: fromAddressColumns(row),
    ours: ours !== null,
    platformIds: yield* platform.of(row.id),
    pending: ours !== null && ours.ended_at === null,
    files: decodeAttachments(row.attachments)?.length ?? 0,
    reactions: readReactions(row.own_reactions),
  };
}

function changedMarks(
  { own_reactions, pinned_at }: Pick<InboxTable, "own_reactions" | "pinned_at">,
  { reactions, pinned }: MessageMarks,
  at: number,
): Pick<InboxTable, "own_reactions" | "pinned_at"> {
  return {
    own_reactions: reactions === undefined ? own_reactions : JSON.stringify(reactions),
    pinned_at: pinned === undefined ? pinned_at : pinned ? at : null,
  };
}

function createQueries(sql: Sql) {
  type Marks<Id> = { id: Id } & Pick<InboxTable, "own_reactions" | "pinned_at">;
  return {
    fromInbox: sql.prepare((db, p: Params<Pick<InboxTable, "id">>) =>
      db.selectFrom("inbox").select(FACTS).where("id", "=", p("id")),
    ),
    fromOutbox: sql.prepare((db, p: Params<Pick<OutboxTable, "id">>) =>
      db
        .selectFrom("outbox")
        .select(FACTS)
        .select("ended_at")
        .where("id", "=", p("id"))
        .where("deleted_at", "is", null),
    ),
    item: sql.prepare((db, p: Params<Pick<InboxTable, "id">>) =>
      db.selectFrom("inbox").select(SAID).where("id", "=", p("id")),
    ),
    reply: sql.prepare((db, p: Params<Pick<OutboxTable, "id">>) =>
      db
        .selectFrom("outbox")
        .innerJoin("turns", "turns.id", "outbox.turn_id")
        .select(REPLY.map((column) => `outbox.${column}` as const))
        .select("turns.state as turn_state")
        .select((eb) => reactionsTo(sql.dialect, eb).as("reaction"))
        .where("outbox.id", "=", p("id"))
        .where("outbox.deleted_at", "is", null),
    ),
    markInbox: sql.prepare((db, p: Params<Marks<InboxId>>) =>
      db.updateTable("inbox").set(p.row("own_reactions", "pinned_at")).where("id", "=", p("id")),
    ),
    markOutbox: sql.prepare((db, p: Params<Marks<string>>) =>
      db.updateTable("outbox").set(p.row("own_reactions", "pinned_at")).where("id", "=", p("id")),
    ),
  };
}

async function readHistory(
  transcript: SessionStore["transcript"],
  sessionKey: SessionKey,
  { limit, before }: HistoryPage,
): Promise<readonly HistoryMessage[] | null> {
  let messages: TranscriptItem[] = [];
  let cursor: string | undefined;
  let found = before === undefined;
  for (let page = 0; page < MAX_PAGES; page++) {
    const read = await transcript(sessionKey, { limit: PAGE_ITEMS, ...(cursor ? { cursor } : {}) });
    const said = read.items.filter(({ role }) => role !== "tool");
    const at = found ? said.length : said.findIndex(({ id }) => id === before);
    if (at >= 0) messages = [...said.slice(0, at), ...messages];
    found ||= at >= 0;
    cursor = read.next;
    if (cursor === undefined || messages.length >= limit) break;
  }
  return found ? messages.slice(-limit).map(toHistory) : null;
}

function toHistory({ id, role, text, at, attachments = [], sender, replyTo }: TranscriptItem): HistoryMessage {
  return {
    id,
    from: role === "assistant" ? "assistant" : "person",
    ...(sender ? { sender } : {}),
    text,
    at,
    files: attachments.map(({ name }) => name),
    ...(replyTo === undefined ? {} : { replyTo }),
  };
}
