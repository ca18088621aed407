/** The statements of rows/turns.ts, apart from it so that its rules can be read without them. */
import { type Selectable, sql as raw } from "kysely";
import type { InboxId, InstanceId, SessionKey, TurnId } from "../../contracts/ids.ts";
import type { TurnTable } from "../schema.ts";
import type { Builder, Params, Sql } from "../sql.ts";
import type { UsageColumns } from "./codec.ts";
import { greater } from "./terms.ts";
import { SESSION_OF_TURN } from "./turn-begin.ts";

export type TurnQueries = ReturnType<typeof createTurnQueries>;

export function createTurnQueries(sql: Sql) {
  return { ...reading(sql), ...beginning(sql), ...ending(sql) };
}

function reading(sql: Sql) {
  return {
    turn: sql.prepare((db, p: Params<{ id: TurnId }>) => db.selectFrom("turns").selectAll().where("id", "=", p("id"))),
    turnOf: sql.prepare((db, p: Params<{ inboxId: InboxId }>) =>
      db
        .selectFrom("inbox")
        .innerJoin("turns", "turns.id", "inbox.turn_id")
        .selectAll("turns")
        .where("inbox.id", "=", p("inboxId")),
    ),
    session: sql.prepare((db, p: Params<{ key: SessionKey }>) =>
      db.selectFrom("sessions").select(SESSION_OF_TURN).where("key", "=", p("key")),
    ),
    replies: sql.prepare((db, p: Params<{ turnId: TurnId }>) =>
      db
        .selectFrom("outbox")
        .select(["text", "attachments"])
        .where("turn_id", "=", p("turnId"))
        .where("deleted_at", "is", null)
        .orderBy("part"),
    ),
    toolCalls: sql.prepare((db, p: Params<{ turnId: TurnId }>) =>
      db
        .selectFrom("tool_calls")
        .select(["call_id", "tool", "input", "status", "ms"])
        .where("turn_id", "=", p("turnId"))
        .orderBy("seq"),
    ),
  };
}

const BEGUN_AGAIN = ["attempt", "file", "node", "began_bytes"] as const satisfies readonly (keyof TurnTable)[];

function beginning(sql: Sql) {
  return {
    free: sql.prepare((db, p: Params<{ inboxId: InboxId; key: SessionKey }>) =>
      db
        .selectFrom("inbox")
        .select("id")
        .where("id", "=", p("inboxId"))
        .where("session_key", "=", p("key"))
        .where("turn_id", "is", null),
    ),
    again: sql.prepare((db, p: Params<Pick<Selectable<TurnTable>, "id" | (typeof BEGUN_AGAIN)[number]>>) =>
      db
        .updateTable("turns")
        .set({ ...p.row(...BEGUN_AGAIN), at_work: 1 })
        .where("id", "=", p("id")),
    ),
    leave: sql.prepare((db, p: Params<{ id: TurnId; attempt: number }>) =>
      db.updateTable("turns").set({ at_work: 0 }).where("id", "=", p("id")).where("attempt", "=", p("attempt")),
    ),
    atWork: sql.prepare((db, p: Params<{ me: InstanceId }>) =>
      db
        .selectFrom("turns")
        .select((of) => of.fn.countAll<number>().as("count"))
        .where("state", "=", raw.lit("running"))
        .where("at_work", "=", raw.lit(1))
        .where("node", "=", p("me")),
    ),
    isAtWork: sql.prepare((db, p: Params<{ id: TurnId; me: InstanceId }>) =>
      db
        .selectFrom("turns")
        .select("id")
        .where("id", "=", p("id"))
        .where("state", "=", raw.lit("running"))
        .where("at_work", "=", raw.lit(1))
        .where("node", "=", p("me")),
    ),
    countCrashes: sql.prepare((db, p: Params<CrashCount>) => crashCounted(db, p)),
    countCrash: sql.prepare((db, p: Params<CrashCount & { id: TurnId }>) =>
      crashCounted(db, p).where("id", "=", p("id")),
    ),
  };
}

interface CrashCount {
  readonly accusedAt: number;
  /** How many turns were at work. */
  readonly atWork: number;
  readonly me: InstanceId;
}

/** Where several were at work, a crash proves nothing against any of them; where none was, the stop was in good order and proves nothing for anybody. */
function crashCounted(db: Builder, p: Params<CrashCount>) {
  return db
    .updateTable("turns")
    .set({
      crashes: raw<number>`case
        when at_work = 1 and crashes + 1 < ${p("accusedAt")} then crashes + 1
        when at_work = 1 and ${p("atWork")} = 1 then ${p("accusedAt")}
        when at_work = 0 and crashes >= ${p("accusedAt")} and ${p("atWork")} > 0 then 0
        else crashes end`,
      at_work: 0,
    })
    .where("state", "=", raw.lit("running"))
    .where("node", "=", p("me"));
}

/** What the end of a turn writes into its row. */
const ENDED = [
  ...["state", "model", "input_tokens", "output_tokens", "cost_usd", "error_code", "error_detail", "ended_at", "spans"],
  ...["settled_bytes", "reasoning"],
] as const satisfies readonly (keyof TurnTable)[];

interface SessionSum extends UsageColumns {
  readonly key: SessionKey;
  readonly file: string;
  readonly settledBytes: number;
  readonly messages: number;
  readonly at: number;
}

function ending(sql: Sql) {
  type End = Pick<Selectable<TurnTable>, "id" | (typeof ENDED)[number]>;
  return {
    end: sql.prepare((db, p: Params<End>) =>
      db
        .updateTable("turns")
        .set(p.row(...ENDED))
        .where("id", "=", p("id")),
    ),
    endMessages: sql.prepare((db, p: Params<{ turnId: TurnId }>) =>
      db.updateTable("inbox").set({ done: 1 }).where("turn_id", "=", p("turnId")),
    ),
    /** After a reset the session has another file; the old one is kept among its earlier conversations. */
    addUp: sql.prepare((db, p: Params<SessionSum>) =>
      db
        .updateTable("sessions")
        .set((eb) => ({
          settled_bytes: raw<number>`case when file = ${p("file")} then ${p("settledBytes")} else settled_bytes end`,
          input_tokens: eb("input_tokens", "+", p("input_tokens")),
          output_tokens: eb("output_tokens", "+", p("output_tokens")),
          cost_usd: eb("cost_usd", "+", p("cost_usd")),
          messages: eb("messages", "+", p("messages")),
          last_activity_at: greater("last_activity_at", p("at")),
        }))
        .where("key", "=", p("key"))
        .returning("file"),
    ),
    /** Only when a new conversation has begun in the middle of the turn. */
    settleKept: sql.prepare((db, p: Params<UsageColumns & { file: string; settledBytes: number; at: number }>) =>
      db
        .updateTable("conversations")
        .set((eb) => ({
          settled_bytes: p("settledBytes"),
          turns: eb("turns", "+", 1),
          ended_at: greater("ended_at", p("at")),
          input_tokens: eb("input_tokens", "+", p("input_tokens")),
          output_tokens: eb("output_tokens", "+", p("output_tokens")),
          cost_usd: eb("cost_usd", "+", p("cost_usd")),
        }))
        .where("file", "=", p("file")),
    ),
  };
}
