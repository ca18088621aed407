/** The chats of sessions, and messages in them that nobody asked for. Never walks a table. */
import { sql as raw } from "kysely";
import type { Principal, SessionKey, TurnId } from "../../../contracts/ids.ts";
import type { LastHeardChat, SessionChatStore, UnaskedMessage } from "../../../contracts/store/session-chats.ts";
import type { InboxTable, TurnTable } from "../../schema.ts";
import type { Params, Sql } from "../../sql.ts";
import type { Steps } from "../../steps.ts";
import { fromAddressColumns } from "../codec.ts";
import { createNewSessions } from "../new-session.ts";
import { createReplyRows, replyRows } from "../replies.ts";
import type { RowDeps } from "../row-deps.ts";

const MAX_TITLE_CHARS = 80;

export function createSessionChats(deps: RowDeps): SessionChatStore {
  const { sql, read, write, ids, mask } = deps;
  const queries = createQueries(sql);
  const replies = createReplyRows(deps);
  const addSession = createNewSessions(sql, ids);
  function* chatOf(key: SessionKey): Steps<LastHeardChat | null> {
    const row = (yield* queries.open.first({ key })) ?? (yield* queries.answered.first({ key }));
    return row && toChat(row);
  }

  function* say(message: UnaskedMessage): Steps<boolean> {
    const { turnId, sessionKey, agentId, at } = message;
    if (yield* queries.turn.first({ id: turnId })) return false;
    const file = (yield* queries.file.first({ key: sessionKey }))?.file ?? (yield* newSession(message));
    yield* queries.addTurn.run({ id: turnId, session_key: sessionKey, agent_id: agentId, file, at });
    for (const row of replyRows(message, mask)) yield* replies.add(row);
    yield* replies.count(sessionKey, message.reply.length, at);
    return true;
  }

  function* newSession({ sessionKey, to, agentId, principal, reply, at }: UnaskedMessage): Steps<string> {
    const text = mask(reply[0]?.message.text ?? "");
    const title = text.slice(0, MAX_TITLE_CHARS).toWellFormed();
    const { channel } = to;
    return yield* addSession({ key: sessionKey, channel, agentId, title, person: principal, messages: 0, at });
  }

  return {
    of: (key) => read(() => chatOf(key)),
    lastOf: (people) =>
      read(function* () {
        const found: { key: SessionKey; last_activity_at: number }[] = [];
        for (const person of people) found.push(...(yield* queries.lastOf.all({ person })));
        const latest = found.toSorted((a, b) => b.last_activity_at - a.last_activity_at);
        for (const { key } of latest) {
          const chat = yield* chatOf(key);
          if (chat) return chat;
        }
        return null;
      }),
    speakerOf: (turnId) =>
      read(function* () {
        const row = yield* queries.speaker.first({ turnId });
        return row && { principal: row.sender, role: row.role, agentId: row.agent_id };
      }),
    hasPosted: (turnId) =>
      read(function* () {
        return (yield* queries.posted.first({ turnId })) !== null;
      }),
    say: (message) => write(() => say(message)),
  };
}

const HEARD = [
  ...["session_key", "agent_id", "channel", "account", "chat", "thread", "scope", "sender", "received_at"],
] as const satisfies readonly (keyof InboxTable)[];
/** Sessions of each person that are looked at, because one without a message has no chat. */
const LOOKED_AT = 3;

function createQueries(sql: Sql) {
  return { ...reading(sql), ...saying(sql) };
}

function reading(sql: Sql) {
  return {
    open: sql.prepare((db, p: Params<{ key: SessionKey }>) =>
      db
        .selectFrom("inbox")
        .select(HEARD)
        .where("session_key", "=", p("key"))
        .where("done", "=", raw.lit(0))
        .where("origin", "=", raw.lit("chat"))
        .orderBy("seq", "desc")
        .limit(1),
    ),
    answered: sql.prepare((db, p: Params<{ key: SessionKey }>) =>
      db
        .selectFrom("turns")
        .innerJoin("inbox", "inbox.turn_id", "turns.id")
        .select(HEARD.map((column) => `inbox.${column}` as const))
        .where("turns.session_key", "=", p("key"))
        .where("inbox.origin", "=", raw.lit("chat"))
        .orderBy("turns.seq", "desc")
        .limit(1),
    ),
    lastOf: sql.prepare((db, p: Params<{ person: Principal }>) =>
      db
        .selectFrom("sessions")
        .select(["key", "last_activity_at"])
        .where("person", "=", p("person"))
        .where("channel", "not in", [raw.lit("cron"), raw.lit("heartbeat"), raw.lit("hook"), raw.lit("webhook")])
        .orderBy("last_activity_at", "desc")
        .limit(LOOKED_AT),
    ),
    speaker: sql.prepare((db, p: Params<{ turnId: TurnId }>) =>
      db
        .selectFrom("inbox")
        .select(["sender", "role", "agent_id"])
        .where("turn_id", "=", p("turnId"))
        .orderBy("seq")
        .limit(1),
    ),
    posted: sql.prepare((db, p: Params<{ turnId: TurnId }>) =>
      db.selectFrom("outbox").select("id").where("turn_id", "=", p("turnId")).where("part", "<", 0).limit(1),
    ),
  };
}

function saying(sql: Sql) {
  type NewTurn = Pick<TurnTable, "id" | "session_key" | "agent_id" | "file"> & { readonly at: number };
  return {
    turn: sql.prepare((db, p: Params<{ id: TurnId }>) => db.selectFrom("turns").select("id").where("id", "=", p("id"))),
    file: sql.prepare((db, p: Params<{ key: SessionKey }>) =>
      db.selectFrom("sessions").select("file").where("key", "=", p("key")),
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
  };
}

function toChat(row: Pick<InboxTable, (typeof HEARD)[number]>): LastHeardChat {
  return {
    sessionKey: row.session_key,
    agentId: row.agent_id,
    to: fromAddressColumns(row),
    scope: row.scope,
    principal: row.sender,
    heardAt: row.received_at,
  };
}
