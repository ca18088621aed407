/** The statements of tool-calls.ts, apart from it so that its rules can be read without them. */
import { type Selectable, sql as raw } from "kysely";
import type { InstanceId, Principal } from "../../contracts/ids.ts";
import type { ToolCallTable, TurnTable } from "../schema.ts";
import { isLeft } from "../rows/ownership.ts";
import type { Builder, Params, Sql } from "../sql.ts";

/** How the scope of a wrong call begins, which never ran and whose id is free. */
export const REFUSED_SCOPE = "refused:";

const NEW_CALL = [
  ...["seq", "id", "call_id", "scope", "turn_id", "session_key", "principal", "tool", "origin", "path", "params_hash"],
  ...["idempotent", "status", "at", "intent_no", "intent_hash", "input", "asked", "node"],
] as const satisfies readonly (keyof ToolCallTable)[];
export type NewCall = Pick<Selectable<ToolCallTable>, (typeof NEW_CALL)[number]>;
export type ToolCallQueries = ReturnType<typeof createToolCallQueries>;

export function createToolCallQueries(sql: Sql) {
  return { ...reading(sql), ...byCallId(sql), ...scopes(sql), ...writing(sql) };
}

/** The conditions of the indexes that find calls by scope, word for word. */
const COUNTING = raw<boolean>`status in ('running', 'pending', 'success', 'error')`;
const UNKNOWN = raw<boolean>`status = 'unknown'`;
const DENIED = raw<boolean>`status = 'blocked' and reply is not null`;

/** A call by the id its caller gave it; the newest, where there may be several. */
function byCallId(sql: Sql) {
  type Once = { scope: string; callId: string };
  const found = (db: Builder, p: Params<Once>) =>
    db
      .selectFrom("tool_calls")
      .select(["tool", "params_hash", "status", "idempotent", "output", "reply", "node"])
      .where("scope", "=", p("scope"))
      .where("call_id", "=", p("callId"));
  return {
    counting: sql.prepare((db, p: Params<Once>) => found(db, p).where(COUNTING)),
    unknown: sql.prepare((db, p: Params<Once>) => found(db, p).where(UNKNOWN).orderBy("seq", "desc").limit(1)),
    denied: sql.prepare((db, p: Params<Once>) => found(db, p).where(DENIED).orderBy("seq", "desc").limit(1)),
  };
}

function reading(sql: Sql) {
  return {
    byId: sql.prepare((db, p: Params<{ id: string }>) =>
      db.selectFrom("tool_calls").select(["status", "idempotent", "turn_id"]).where("id", "=", p("id")),
    ),
    left: sql.prepare((db, p: Params<{ except: InstanceId | null }>) =>
      db
        .selectFrom("tool_calls")
        .select(["id", "status"])
        .where(raw<boolean>`status in ('running', 'pending')`)
        .where(isLeft(p("except")))
        .orderBy("at")
        .orderBy("seq"),
    ),
    lastSeq: sql.prepare((db) =>
      db.selectFrom("tool_calls").select("seq").where("seq", ">", 0).orderBy("seq", "desc").limit(1),
    ),
    unchained: sql.prepare((db) =>
      db
        .selectFrom("tool_calls")
        .selectAll()
        .where(raw<boolean>`intent_no is null`)
        .orderBy("seq"),
    ),
    anyUnknown: sql.prepare((db) => db.selectFrom("tool_calls").select("id").where(UNKNOWN).limit(1)),
    timesSince: sql.prepare((db, p: Params<{ principal: Principal; tool: string; since: number }>) =>
      db
        .selectFrom("tool_calls")
        .select("at")
        .where("tool", "=", p("tool"))
        .where("at", ">", p("since"))
        .where("principal", "=", p("principal"))
        .where("status", "<>", "blocked")
        .where(raw<boolean>`scope not like ${raw.lit(`${REFUSED_SCOPE}%`)}`)
        .orderBy("at"),
    ),
  };
}

/** Whether anything of a scope is there, by the same indexes that find a call in it. */
function scopes(sql: Sql) {
  type Scope = { scope: string };
  const anyOf = (db: Builder, p: Params<Scope>) =>
    db.selectFrom("tool_calls").select("seq").where("scope", "=", p("scope")).limit(1);
  return {
    anyCounting: sql.prepare((db, p: Params<Scope>) => anyOf(db, p).where(COUNTING)),
    anyDenied: sql.prepare((db, p: Params<Scope>) => anyOf(db, p).where(DENIED)),
    anyUnknownOf: sql.prepare((db, p: Params<Scope>) => anyOf(db, p).where(UNKNOWN)),
  };
}

function writing(sql: Sql) {
  type End = Pick<ToolCallTable, "id" | "status" | "output" | "reply" | "ms" | "end_no" | "end_hash">;
  type Adopted = Pick<ToolCallTable, "id" | "intent_no" | "intent_hash" | "end_no" | "end_hash">;
  return {
    add: sql.prepare((db, p: Params<NewCall>) => db.insertInto("tool_calls").values(p.row(...NEW_CALL))),
    begin: sql.prepare((db, p: Params<{ id: string }>) =>
      db.updateTable("tool_calls").set({ status: "running" }).where("id", "=", p("id")),
    ),
    end: sql.prepare((db, p: Params<End>) =>
      db
        .updateTable("tool_calls")
        .set(p.row("status", "output", "reply", "ms", "end_no", "end_hash"))
        .where("id", "=", p("id")),
    ),
    adopt: sql.prepare((db, p: Params<Adopted>) =>
      db
        .updateTable("tool_calls")
        .set(p.row("intent_no", "intent_hash", "end_no", "end_hash"))
        .where("id", "=", p("id")),
    ),
    markUnsafe: sql.prepare((db, p: Params<Pick<TurnTable, "id">>) =>
      db.updateTable("turns").set({ unsafe: 1 }).where("id", "=", p("id")).where("unsafe", "=", 0),
    ),
  };
}
