/** Where people are reached, and what is said there without having been asked. Never walks a table. */
import { sql as raw } from "kysely";
import type { Principal, SessionKey, TurnId } from "../../../contracts/ids.ts";
import type { Place, SessionChatStore, UnaskedMessage } from "../../../contracts/store/session-chats.ts";
import { type InboxTable, NEW_REPLY, type NewReply, type SessionTable, type TurnTable } from "../../schema.ts";
import type { Params, Sql } from "../../sql.ts";
import { fromAddressColumns, toAddressColumns, toMessageColumns } from "../codec.ts";
import type { RowDeps } from "../row-deps.ts";
import { newSessionFile } from "../session-file-name.ts";
import { searchTextOf } from "../one-line.ts";

const MAX_TITLE_CHARS = 80;

export function createPlaces({ sql, read, write, ids, mask }: RowDeps): SessionChatStore {
  const queries = createQueries(sql);
  const placeOf = (key: SessionKey): Place | null => {
    const row = queries.open.first({ key }) ?? queries.answered.first({ key });
    return row && toPlace(row);
  };

  const say = (words: UnaskedMessage): boolean => {
    if (queries.turn.first({ id: words.turnId })) return false;
    const file = queries.file.first({ key: words.sessionKey })?.file ?? newSession(words);
    const { turnId, sessionKey, agentId, at } = words;
    queries.addTurn.run({ id: turnId, session_key: sessionKey, agent_id: agentId, file, at });
    for (const { part, message } of words.reply) {
      const row = { id: `${turnId}:${part}`, turn_id: turnId, session_key: sessionKey, part, created_at: at };
      queries.addPart.run({ ...row, ...toAddressColumns(words.to), ...toMessageColumns(message, mask) });
    }
    queries.addUp.run({ key: sessionKey, messages: words.reply.length, at });
    return true;
  };

  const newSession = ({ sessionKey, to, agentId, principal, reply, at }: UnaskedMessage): string => {
    const title = mask(reply[0]?.message.text ?? "")
      .slice(0, MAX_TITLE_CHARS)
      .toWellFormed();
    const file = newSessionFile(ids);
    queries.addSession.run({
      key: sessionKey,
      channel: to.channel,
      agent_id: agentId,
      title,
      file,
      person: principal,
      search_text: searchTextOf(title, sessionKey),
      at,
    });
    return file;
  };

  return {
    of: (key) => read(() => placeOf(key)),
    lastOf: (people) =>
      read(() => {
        const found = people.flatMap((person) => queries.lastOf.all({ person }));
        const latest = found.toSorted((a, b) => b.last_activity_at - a.last_activity_at);
        for (const { key } of latest) {
          const place = placeOf(key);
          if (place) return place;
        }
        return null;
      }),
    speakerOf: (turnId) =>
      read(() => {
        const row = queries.speaker.first({ turnId });
        return row && { principal: row.sender, role: row.role, agentId: row.agent_id };
      }),
    hasPosted: (turnId) => read(() => queries.posted.first({ turnId }) !== null),
    say: (words) => write(() => say(words)),
  };
}

const PLACE = [
  "session_key",
  "agent_id",
  "channel",
  "account",
  "chat",
  "thread",
  "scope",
  "sender",
  "received_at",
] as const satisfies readonly (keyof InboxTable)[];
/** Of each person a few are looked at: one in which nobody has said anything yet is no place. */
const LOOKED_AT = 3;

function createQueries(sql: Sql) {
  return { ...reading(sql), ...saying(sql) };
}

function reading(sql: Sql) {
  return {
    open: sql.prepare((db, p: Params<{ key: SessionKey }>) =>
      db
        .selectFrom("inbox")
        .select(PLACE)
        .where("session_key", "=", p("key"))
        .where("done", "=", raw.lit(0))
        .where("origin", "=", raw.lit("chat"))
        .orderBy("seq", "desc")
        .limit((eb) => eb.lit(1)),
    ),
    answered: sql.prepare((db, p: Params<{ key: SessionKey }>) =>
      db
        .selectFrom("turns")
        .innerJoin("inbox", "inbox.turn_id", "turns.id")
        .select(PLACE.map((column) => `inbox.${column}` as const))
        .where("turns.session_key", "=", p("key"))
        .where("inbox.origin", "=", raw.lit("chat"))
        .orderBy("turns.seq", "desc")
        .limit((eb) => eb.lit(1)),
    ),
    lastOf: sql.prepare((db, p: Params<{ person: Principal }>) =>
      db
        .selectFrom("sessions")
        .select(["key", "last_activity_at"])
        .where("person", "=", p("person"))
        .where("channel", "not in", [raw.lit("cron"), raw.lit("heartbeat"), raw.lit("hook"), raw.lit("webhook")])
        .orderBy("last_activity_at", "desc")
        .limit((eb) => eb.lit(LOOKED_AT)),
    ),
    speaker: sql.prepare((db, p: Params<{ turnId: TurnId }>) =>
      db
        .selectFrom("inbox")
        .select(["sender", "role", "agent_id"])
        .where("turn_id", "=", p("turnId"))
        .orderBy("seq")
        .limit((eb) => eb.lit(1)),
    ),
    posted: sql.prepare((db, p: Params<{ turnId: TurnId }>) =>
      db
        .selectFrom("outbox")
        .select("id")
        .where("turn_id", "=", p("turnId"))
        .where("part", "<", 0)
        .limit((eb) => eb.lit(1)),
    ),
  };
}

function saying(sql: Sql) {
  type NewTurn = Pick<TurnTable, "id" | "session_key" | "agent_id" | "file"> & { readonly at: number };
  type NewSession = Pick<SessionTable, "key" | "channel" | "agent_id" | "title" | "search_text" | "file" | "person"> & {
    readonly at: number;
  };
  return {
    turn: sql.prepare((db, p: Params<{ id: TurnId }>) => db.selectFrom("turns").select("id").where("id", "=", p("id"))),
    file: sql.prepare((db, p: Params<{ key: SessionKey }>) =>
      db.selectFrom("sessions").select("file").where("key", "=", p("key")),
    ),
    addSession: sql.prepare((db, p: Params<NewSession>) =>
      db.insertInto("sessions").values({
        ...p.row("key", "channel", "agent_id", "title", "search_text", "file", "person"),
        created_at: p("at"),
        last_activity_at: p("at"),
        messages: 0,
        input_tokens: 0,
        output_tokens: 0,
        cost_usd: 0,
        settled_bytes: 0,
      }),
    ),
    addTurn: sql.prepare((db, p: Params<NewTurn>) =>
      db.insertInto("turns").values({
        ...p.row("id", "session_key", "agent_id", "file"),
        begun_at: p("at"),
        ended_at: p("at"),
        attempt: 1,
        state: "done",
        unsafe: 0,
        model: "",
        input_tokens: 0,
        output_tokens: 0,
        cost_usd: 0,
      }),
    ),
    addPart: sql.prepare((db, p: Params<NewReply>) =>
      db.insertInto("outbox").values({ ...p.row(...NEW_REPLY), state: "pending" }),
    ),
    addUp: sql.prepare((db, p: Params<{ key: SessionKey; messages: number; at: number }>) =>
      db
        .updateTable("sessions")
        .set((eb) => ({
          messages: eb("messages", "+", p("messages")),
          last_activity_at: eb.fn<number>("max", ["last_activity_at", eb.val(p("at"))]),
        }))
        .where("key", "=", p("key")),
    ),
  };
}

function toPlace(row: Pick<InboxTable, (typeof PLACE)[number]>): Place {
  return {
    sessionKey: row.session_key,
    agentId: row.agent_id,
    to: fromAddressColumns(row),
    scope: row.scope,
    principal: row.sender,
    heardAt: row.received_at,
  };
}
