/** The statements of conversations, apart from their rules. What a conversation was about is read from its turns, wherever it was held. */
import { sql as raw } from "kysely";
import type { AgentId, Principal, SessionKey, TurnId } from "../../../contracts/ids.ts";
import type { ConversationTable, SessionTable } from "../../schema.ts";
import type { Params, Sql } from "../../sql.ts";
import { greater, newValues } from "../terms.ts";

/** Channels of runs, webhooks and heartbeats: their sessions are many, and nobody talks in them. */
export const RUN_CHANNELS = ["cron", "hook", "webhook"] as const;

export type ConversationQueries = ReturnType<typeof createConversationQueries>;

const CURRENT = [
  ...["key", "file", "settled_bytes", "agent_id", "person", "title", "created_at", "last_activity_at", "switched_by"],
] as const satisfies readonly (keyof SessionTable)[];

export type CurrentRow = Pick<SessionTable, (typeof CURRENT)[number]>;

export function createConversationQueries(sql: Sql) {
  return { ...reading(sql), ...facts(sql), ...writing(sql) };
}

function reading(sql: Sql) {
  type Asked = { readonly limit: number };
  return {
    session: sql.prepare((db, p: Params<{ key: SessionKey }>) =>
      db.selectFrom("sessions").select(CURRENT).where("key", "=", p("key")),
    ),
    sessionWith: sql.prepare((db, p: Params<{ file: string }>) =>
      db.selectFrom("sessions").select(CURRENT).where("file", "=", p("file")),
    ),
    kept: sql.prepare((db, p: Params<{ file: string }>) =>
      db.selectFrom("conversations").selectAll().where("file", "=", p("file")),
    ),
    ofSession: sql.prepare((db, p: Params<Asked & { key: SessionKey }>) =>
      db
        .selectFrom("conversations")
        .selectAll()
        .where("session_key", "=", p("key"))
        .where("settled_bytes", ">", raw.lit(0))
        .orderBy("ended_at", "desc")
        .limit(p("limit")),
    ),
    ofPerson: sql.prepare((db, p: Params<Asked & { person: Principal; agent: AgentId }>) =>
      db
        .selectFrom("conversations")
        .selectAll()
        .where("person", "=", p("person"))
        .where("agent_id", "=", p("agent"))
        .where("settled_bytes", ">", raw.lit(0))
        .orderBy("ended_at", "desc")
        .limit(p("limit")),
    ),
    othersOfPerson: sql.prepare((db, p: Params<Asked & { person: Principal; agent: AgentId; key: SessionKey }>) =>
      db
        .selectFrom("sessions")
        .select(CURRENT)
        .where("person", "=", p("person"))
        .where("agent_id", "=", p("agent"))
        .where("key", "!=", p("key"))
        .where("settled_bytes", ">", raw.lit(0))
        .where(
          "channel",
          "not in",
          RUN_CHANNELS.map((channel) => raw.lit(channel)),
        )
        .orderBy("last_activity_at", "desc")
        .limit(p("limit")),
    ),
    /** A turn that has this file in use, other than the one that asks. */
    inUse: sql.prepare((db, p: Params<{ file: string; except: TurnId }>) =>
      db
        .selectFrom("turns")
        .select("id")
        .where("file", "=", p("file"))
        .where(sql.dialect.unindexed("state"), "=", raw.lit("running"))
        .where("id", "!=", p("except"))
        .limit(1),
    ),
  };
}

function facts(sql: Sql) {
  return {
    /** Commands are turns without a model: they cost nothing and are not part of what was talked about. */
    spent: sql.prepare((db, p: Params<{ file: string }>) =>
      db
        .selectFrom("turns")
        .select((eb) => [
          eb.fn.countAll<number>().as("turns"),
          eb.fn.min<number | null>("begun_at").as("started_at"),
          eb.fn.max<number | null>("ended_at").as("ended_at"),
          eb.fn.coalesce(eb.fn.sum<number>("input_tokens"), eb.lit(0)).as("input_tokens"),
          eb.fn.coalesce(eb.fn.sum<number>("output_tokens"), eb.lit(0)).as("output_tokens"),
          eb.fn.coalesce(eb.fn.sum<number>("cost_usd"), eb.lit(0)).as("cost_usd"),
        ])
        .where("file", "=", p("file"))
        .where("model", "!=", raw.lit("")),
    ),
    opening: sql.prepare((db, p: Params<{ file: string }>) =>
      db
        .selectFrom("turns")
        .innerJoin("inbox", "inbox.turn_id", "turns.id")
        .select(["inbox.text", "inbox.quoted", "inbox.attachments"])
        .where("turns.file", "=", p("file"))
        .where(raw<string>`substr(inbox.text, 1, 1)`, "!=", raw.lit("/"))
        .orderBy("turns.seq")
        .limit(1),
    ),
  };
}

const KEPT = [
  ...["session_key", "agent_id", "person", "title", "started_at", "ended_at"],
  ...["turns", "input_tokens", "output_tokens", "cost_usd", "settled_bytes"],
] as const satisfies readonly (keyof ConversationTable)[];

function writing(sql: Sql) {
  return {
    keep: sql.prepare((db, p: Params<ConversationTable>) =>
      db
        .insertInto("conversations")
        .values(p.row("file", ...KEPT))
        .onConflict((conflict) => conflict.column("file").doUpdateSet(newValues(...KEPT))),
    ),
    release: sql.prepare((db, p: Params<{ file: string }>) =>
      db.deleteFrom("conversations").where("file", "=", p("file")),
    ),
    putFile: sql.prepare(
      (
        db,
        p: Params<{ key: SessionKey; file: string; settled_bytes: number; switched_by: TurnId | null; at: number }>,
      ) =>
        db
          .updateTable("sessions")
          .set({
            ...p.row("file", "settled_bytes", "switched_by"),
            last_activity_at: greater("last_activity_at", p("at")),
          })
          .where("key", "=", p("key")),
    ),
  };
}
