/** Accepted messages: each stored once, with its session, before anybody is told that it was received. */
import type { InboundMessage } from "../../contracts/chat.ts";
import { GatewayError } from "../../contracts/errors.ts";
import type { InstanceId } from "../../contracts/ids.ts";
import type { InboxStore, NewInboxRow, UnfinishedRow } from "../../contracts/store/inbox.ts";
import type { Log } from "../../kit/log.ts";
import type { InboxTable, SessionTable, TurnTable } from "../schema.ts";
import type { Params, Sql } from "../sql.ts";
import type { Steps } from "../steps.ts";
import { type Selectable, sql as raw } from "kysely";
import { decodeAttachments, encodeAttachments, fromAddressColumns, toAddressColumns } from "./codec.ts";
import { createPlatformIds } from "./channels/platform-ids.ts";
import { decodeQuoted, encodeQuoted } from "./quoted.ts";
import type { RowDeps } from "./row-deps.ts";
import { createOverflow, type HiddenCounts } from "./overflow.ts";
import { createNewSessions } from "./new-session.ts";
import { searchTextOf, titleOf } from "./one-line.ts";
import { originOf, toOriginColumns } from "./origin-columns.ts";
import { greater } from "./terms.ts";
import { begunTurn, createTurnBegin, FIRST_ATTEMPT, SESSION_OF_TURN, type SessionOfTurn } from "./turn-begin.ts";

export function createInbox({ sql, read, write, log, ids, messageIndex, instanceId: me }: RowDeps): InboxStore {
  const queries = createQueries(sql);
  const overflow = createOverflow(sql);
  const platformIds = createPlatformIds(sql);
  const addSession = createNewSessions(sql, ids);
  const turnBegin = createTurnBegin(sql, me);

  function* touchSession(row: NewInboxRow): Steps<TouchedSession> {
    const { message } = row;
    const { principal } = message.sender;
    const own: 0 | 1 = (message.origin ?? "chat") === "chat" ? 0 : 1;
    const known = { key: row.sessionKey, at: message.receivedAt, principal, own };
    const counted = yield* queries.count.first(known); // nearly always all there is to do
    if (counted) return counted;
    const title = titleOf(message);
    const touched = yield* queries.touch.first({ ...known, ...betterTitle(title, row.sessionKey) });
    if (touched) return touched;
    const file = yield* addSession({
      key: row.sessionKey,
      channel: message.address.channel,
      agentId: row.agentId,
      title,
      person: message.scope === "dm" ? principal : null,
      messages: 1,
      at: message.receivedAt,
    });
    return { queue_mode: null, file, settled_bytes: 0, model: null, thinking: null };
  }

  /** Null: its turn did not begin with it. */
  function* beginTurn({ id, sessionKey, agentId, begins }: NewInboxRow, session: SessionOfTurn) {
    if (!begins || (yield* turnBegin.isRunning(sessionKey))) return null;
    yield* turnBegin.first({ ...begins, sessionKey, agentId, inboxIds: [id] }, session);
    return begunTurn(FIRST_ATTEMPT, session, yield* turnBegin.hasNews(sessionKey));
  }

  function* knownAs({ address, eventId }: InboundMessage) {
    const seen = yield* queries.seen.first({ channel: address.channel, account: address.account, event_id: eventId });
    if (!seen) throw new GatewayError("internal", "a message was neither new nor known");
    return { kind: "duplicate", id: seen.id, fingerprint: seen.fingerprint } as const;
  }

  return {
    accept: (row) =>
      write(function* () {
        if ((yield* queries.add.run({ ...toColumns(row), node: me })) === 0) return yield* knownAs(row.message);
        messageIndex.followSoon();
        yield* platformIds.note(row.id, row.message.address, row.message.messageIds ?? []);
        const session = yield* touchSession(row);
        const hidden = row.overflow ? yield* overflow.hideOldest(row, row.overflow.maxShown) : null;
        const begun = yield* beginTurn(row, session);
        return { kind: "stored", mode: session.queue_mode, hidden, begun } as const;
      }),
    unfinished: () =>
      read(function* () {
        const hidden = yield* overflow.countHidden();
        return (yield* queries.unfinished.all({ me })).map((row) => toUnfinished(row, hidden, log));
      }),
    rewrite: (id, text, at) =>
      write(function* () {
        return (yield* queries.rewrite.run({ id, text, at })) > 0;
      }),
    newestVersion: ({ channel, account, eventId }) =>
      read(function* () {
        return (yield* queries.newest.first({ channel, account, ...versionRange(eventId) }))?.fingerprint ?? null;
      }),
    senderOf: (id) =>
      read(function* () {
        return (yield* queries.sender.first({ id }))?.sender ?? null;
      }),
    nodeOf: (id) =>
      read(function* () {
        return (yield* queries.sender.first({ id }))?.node ?? null;
      }),
  };
}

interface VersionRange {
  readonly eventId: string;
  readonly firstEdit: string;
  readonly afterEdits: string;
}

/** The event id itself, and those of its edits, `<event id>#…`: `$` is the character after `#`. */
function versionRange(eventId: string): VersionRange {
  return { eventId, firstEdit: `${eventId}#`, afterEdits: `${eventId}$` };
}

interface Touch {
  readonly key: SessionTable["key"];
  readonly at: number;
  readonly principal: InboxTable["sender"];
  /** Nobody said it, so it is still the same person's. */
  readonly own: 0 | 1;
  readonly title: string;
  readonly searchText: string;
}

/** What touching a session tells about it. `queue_mode`: the mode somebody chose for it. */
const TOUCHED_SESSION = ["queue_mode", ...SESSION_OF_TURN] as const satisfies readonly (keyof SessionTable)[];
type TouchedSession = Pick<SessionTable, (typeof TOUCHED_SESSION)[number]>;

/** A conversation that has no title yet, or began with a command, is about what is said now, unless somebody gave it a name. */
const GIVES_WAY = raw<boolean>`(named = 0 and substr(title, 1, 1) in ('/', ''))`;

function betterTitle(title: string, key: SessionTable["key"]): Pick<Touch, "title" | "searchText"> {
  return title.startsWith("/") ? { title: "", searchText: "" } : { title, searchText: searchTextOf(title, key) };
}

const NEW_MESSAGE = [
  ...["id", "session_key", "agent_id", "role", "priority", "channel", "account", "chat", "thread", "event_id"],
  ...["fingerprint", "scope", "sender", "sender_name", "text", "quoted", "attachments", "mentioned", "received_at"],
  ...["overflow", "origin", "begun_by", "node"],
] as const satisfies readonly (keyof InboxTable)[];
type InboxColumns = Pick<Selectable<InboxTable>, (typeof NEW_MESSAGE)[number]>;

/** What an unfinished row is read with: its own columns, and those of its session and of the turn that had begun, if any. */
type UnfinishedColumns = InboxColumns & {
  readonly turn_id: TurnTable["id"] | null;
  readonly attempt: number | null;
  readonly unsafe: TurnTable["unsafe"] | null;
  readonly crashes: number | null;
  readonly queue_mode: SessionTable["queue_mode"];
};

/** What a message changes about its session. */
function sessionQueries(sql: Sql) {
  return {
    count: sql.prepare((db, p: Params<Omit<Touch, "title" | "searchText">>) =>
      db
        .updateTable("sessions")
        .set((eb) => ({
          messages: eb("messages", "+", 1),
          last_activity_at: greater("last_activity_at", p("at")),
        }))
        .where("key", "=", p("key"))
        .where(raw<boolean>`(${p("own")} = 1 or person is null or person = ${p("principal")}) and not ${GIVES_WAY}`)
        .returning(TOUCHED_SESSION),
    ),
    /** The same where its title or whose it is may have to change. */
    touch: sql.prepare((db, p: Params<Touch>) =>
      db
        .updateTable("sessions")
        .set((eb) => ({
          messages: eb("messages", "+", 1),
          last_activity_at: greater("last_activity_at", p("at")),
          person: raw<
            InboxTable["sender"] | null
          >`case when ${p("own")} = 1 or person = ${p("principal")} then person end`,
          title: raw<string>`case when ${GIVES_WAY} and ${p("title")} <> '' then ${p("title")} else title end`,
          search_text: raw<string>`case when ${GIVES_WAY} and ${p("title")} <> '' then ${p("searchText")} else search_text end`,
        }))
        .where("key", "=", p("key"))
        .returning(TOUCHED_SESSION),
    ),
  };
}

function createQueries(sql: Sql) {
  return {
    ...sessionQueries(sql),
    seen: sql.prepare((db, p: Params<Pick<InboxTable, "channel" | "account" | "event_id">>) =>
      db
        .selectFrom("inbox")
        .select(["id", "fingerprint"])
        .where((eb) => eb.and(p.row("channel", "account", "event_id"))),
    ),
    newest: sql.prepare((db, p: Params<Pick<InboxTable, "channel" | "account"> & VersionRange>) =>
      db
        .selectFrom("inbox")
        .select("fingerprint")
        .where("channel", "=", p("channel"))
        .where("account", "=", p("account"))
        .where("event_id", ">=", p("eventId"))
        .where("event_id", "<", p("afterEdits"))
        .where((eb) => eb.or([eb("event_id", "=", p("eventId")), eb("event_id", ">=", p("firstEdit"))]))
        .orderBy("seq", "desc")
        .limit(1),
    ),
    sender: sql.prepare((db, p: Params<Pick<InboxTable, "id">>) =>
      db.selectFrom("inbox").select(["sender", "node"]).where("id", "=", p("id")),
    ),
    rewrite: sql.prepare((db, p: Params<{ id: InboxTable["id"]; text: string; at: number }>) =>
      db
        .updateTable("inbox")
        .set({ text: p("text"), edited_at: p("at") })
        .where("id", "=", p("id"))
        .where("turn_id", "is", null)
        .where("done", "=", raw.lit(0)),
    ),
    add: sql.prepare((db, p: Params<InboxColumns>) =>
      db
        .insertInto("inbox")
        .values({
          ...p.row(...NEW_MESSAGE),
          turn_id: null,
          done: 0,
        })
        .onConflict((conflict) => conflict.columns(["channel", "account", "event_id"]).doNothing()),
    ),
    // The plus keeps SQLite from walking the whole table in order: few rows are open, so finding and sorting those is cheap.
    unfinished: sql.prepare((db, p: Params<{ me: InstanceId }>) =>
      db
        .selectFrom("inbox")
        .leftJoin("turns", "turns.id", "inbox.turn_id")
        .leftJoin("sessions", "sessions.key", "inbox.session_key")
        .selectAll("inbox")
        .select(["turns.attempt", "turns.unsafe", "turns.crashes", "sessions.queue_mode"])
        .where("inbox.done", "=", raw.lit(0))
        .where("inbox.overflow", "<", raw.lit(2))
        .where("inbox.node", "=", p("me"))
        .orderBy(sql.dialect.unindexed("inbox.seq")),
    ),
  };
}

function toColumns(row: NewInboxRow): Omit<InboxColumns, "node"> {
  const { message } = row;
  const begun = toOriginColumns(message.origin);
  return {
    id: row.id,
    session_key: row.sessionKey,
    agent_id: row.agentId,
    role: row.role,
    priority: row.priority,
    ...toAddressColumns(message.address),
    event_id: message.eventId,
    fingerprint: message.fingerprint,
    scope: message.scope,
    sender: message.sender.principal,
    sender_name: message.sender.name,
    text: message.text,
    quoted: encodeQuoted(message.quoted),
    attachments: encodeAttachments(message.attachments),
    mentioned: message.mentioned ? 1 : 0,
    received_at: message.receivedAt,
    overflow: row.overflow ? 1 : 0,
    origin: begun.origin,
    begun_by: begun.begun_by,
  };
}

function toUnfinished(row: UnfinishedColumns, hidden: HiddenCounts, log: Log): UnfinishedRow {
  const { attempt, crashes, unsafe } = row;
  const known = { attempt: attempt ?? 1, unsafeToRetry: unsafe === 1, crashes: crashes ?? 0 };
  const turn = row.turn_id === null ? null : { turnId: row.turn_id, ...known };
  return {
    id: row.id,
    sessionKey: row.session_key,
    agentId: row.agent_id,
    role: row.role,
    priority: row.priority,
    message: toMessage(row, log),
    turn,
    mode: row.queue_mode,
    overflow: row.overflow === 0 ? null : { hidden: hidden.take(row) },
  };
}

function toMessage(row: UnfinishedColumns, log: Log): InboundMessage {
  const origin = originOf(row);
  const attachments = decodeAttachments(row.attachments);
  if (!attachments) log.error("attachments of a stored message are unreadable", { inboxId: row.id });
  return {
    eventId: row.event_id,
    fingerprint: row.fingerprint,
    address: fromAddressColumns(row),
    scope: row.scope,
    sender: { principal: row.sender, name: row.sender_name },
    text: row.text,
    quoted: decodeQuoted(row.quoted),
    attachments: attachments ?? [],
    mentioned: row.mentioned === 1,
    receivedAt: row.received_at,
    ...(origin === "chat" ? {} : { origin }),
  };
}
