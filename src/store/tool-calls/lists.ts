/** Tool calls as people look for them: newest first, by session, tool, status and time. Each question walks the one index that leaves it the least to look at. */
import { type RawBuilder, type SelectQueryBuilder, sql as raw } from "kysely";
import type { AuditRow, AuditStatus, ToolCallFilter, ToolCallStore } from "../../contracts/store/tool-calls.ts";
import type { Tables } from "../schema.ts";
import type { Builder, Sql } from "../sql.ts";
import type { Dialect } from "../dialect.ts";
import type { CallRow } from "../audit/links.ts";
import { decodeJson } from "../rows/codec.ts";
import { decodeCursor, NEWEST, pageOf, pageSize } from "../rows/paging.ts";
import type { RowDeps } from "../rows/row-deps.ts";
import { withinReach } from "../rows/session-reach.ts";

const SHOWN = [
  ...["seq", "id", "turn_id", "principal", "session_key", "tool", "origin", "status", "ms", "at", "input", "output"],
  "asked",
] as const satisfies readonly (keyof CallRow)[];
type Shown = Pick<CallRow, (typeof SHOWN)[number]>;

export function createToolCallLists(sql: Sql, read: RowDeps["read"]): ToolCallStore["list"] {
  return (filter, page) =>
    read(function* () {
      const limit = pageSize(page);
      const after = page.cursor === undefined ? [] : decodeCursor(page.cursor, ["number", "number"]).map(Number);
      const rows = (yield* sql.all((db) => question(db, sql.dialect, filter, after).limit(limit + 1))) as Shown[];
      return pageOf(rows, limit, toAuditRow, ({ at, seq }) => [at, seq]);
    });
}

/**
 * Only one term may use an index, which is the one that is walked: a conversation is the rarest thing, then what did not end well,
 * then a tool. SQLite knows nothing about how many rows there are of each, and would guess.
 */
function question(db: Builder, dialect: Dialect, filter: ToolCallFilter, after: readonly number[]) {
  const { principal, sessionKey, within, tool, status, since, until } = filter;
  const { unindexed } = dialect;
  const [at = NEWEST, seq = NEWEST] = after;
  const leads = sessionKey !== undefined ? "session" : isRare(status) ? "status" : tool !== undefined ? "tool" : "time";
  let query: SelectQueryBuilder<Tables, "tool_calls", Shown> = db.selectFrom("tool_calls").select(SHOWN);
  if (principal !== undefined) query = query.where(unindexed("principal"), "=", principal);
  if (sessionKey !== undefined) query = query.where("session_key", "=", sessionKey);
  if (within) query = query.where(withinReach(dialect, "session_key", within));
  if (tool !== undefined)
    query = leads === "tool" ? query.where("tool", "=", tool) : query.where(unindexed("tool"), "=", tool);
  if (status !== undefined)
    query = query.where(leads === "status" ? rareTerm(status) : statusTerm(status, unindexed("status")));
  if (since !== undefined) query = query.where("at", ">=", since);
  if (until !== undefined) query = query.where("at", "<", until);
  return query
    .where(raw<boolean>`(at, seq) < (${at}, ${seq})`)
    .orderBy("at", "desc")
    .orderBy("seq", "desc");
}

function isRare(status: AuditStatus | undefined): boolean {
  return status !== undefined && status !== "success";
}

/** What is there besides the status itself is the index's own condition, word for word. */
function rareTerm(status: AuditStatus) {
  if (status === "pending") return raw<boolean>`status in ('running', 'pending')`;
  return raw<boolean>`status in ('error', 'blocked', 'unknown') and status = ${status}`;
}

/** Two states that have no end are one to people. */
function statusTerm(status: AuditStatus, column: RawBuilder<string>) {
  return status === "pending" ? raw<boolean>`${column} in ('running', 'pending')` : raw<boolean>`${column} = ${status}`;
}

function toAuditRow(row: Shown): AuditRow {
  return {
    id: row.id,
    turnId: row.turn_id === "" ? null : row.turn_id,
    userId: row.principal,
    sessionKey: row.session_key,
    tool: row.tool,
    origin: row.origin,
    input: decodeJson(row.input),
    ...(row.asked === null ? {} : { asked: decodeJson(row.asked) }),
    output: row.output,
    status: row.status === "running" ? "pending" : row.status,
    executionTimeMs: row.ms,
    createdAt: row.at,
  };
}
