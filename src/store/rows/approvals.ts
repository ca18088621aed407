/** Questions to the owner: each has one end, whoever comes first. What is allowed for a conversation goes when the conversation does. */
import { sql as raw } from "kysely";
import type { SessionKey } from "../../contracts/ids.ts";
import type { ApprovalEnd, ApprovalStore, AskedApproval, EndedApproval } from "../../contracts/store/approvals.ts";
import type { NewAuditEntry } from "../../contracts/store/tool-calls.ts";
import type { AuditLog } from "../audit/entries.ts";
import type { ApprovalTable, GrantTable } from "../schema.ts";
import type { Params, Sql } from "../sql.ts";
import { decodeCursor, decodeJson, encodeCursor, encodeJson, pageSize } from "./codec.ts";
import type { RowDeps } from "./row-deps.ts";

/** Rows in one transaction: a few milliseconds. */
const MAX_AT_ONCE = 500;
const AFTER_ALL = Number.MAX_SAFE_INTEGER;

type NewRow = Omit<ApprovalTable, "seq" | "decision" | "decided_by" | "decided_at">;
type End = Pick<ApprovalTable, "decision" | "decided_by" | "decided_at">;

const NEW = [
  ...["id", "hash", "tool", "call_id", "because", "session_key", "turn_id", "agent_id", "principal", "role"],
  ...["asked_at", "expires_at", "input"],
] as const satisfies readonly (keyof NewRow)[];

export function createApprovalRows({ sql, read, write }: RowDeps, audit: AuditLog): ApprovalStore {
  const { granted, add, open, end, grant, list, prune } = statements(sql);
  return {
    grantedBy: (sessionKey, tool) => read(() => granted.first({ sessionKey, tool })?.given_by ?? null),
    async put(asked) {
      const link = await write(() => {
        add.run(toRow(asked));
        return audit.append(askedEntry(asked));
      });
      audit.noticed(link);
    },
    async end(id, made) {
      const link = await write(() => {
        const question = open.first({ id });
        if (!question) return null;
        end.run({ id, ...toEnd(made) });
        const { session_key, tool } = question;
        if (made.decision === "session") grant.run({ session_key, tool, given_by: made.by, at: made.at });
        return audit.append(endedEntry(id, question, made));
      });
      if (link) audit.noticed(link);
      return link !== null;
    },
    ended: (page) =>
      read(() => {
        const limit = pageSize(page);
        const before = page.cursor === undefined ? AFTER_ALL : Number(decodeCursor(page.cursor, ["number"])[0]);
        const rows = list.all({ before, limit: limit + 1 });
        const items = rows.slice(0, limit).flatMap((row) => toEnded(row) ?? []);
        const last = rows.length > limit ? rows[limit - 1] : undefined;
        return last ? { items, next: encodeCursor([last.seq]) } : { items };
      }),
    prune: (before) => write(() => prune.run({ before }), "with the next"),
  };
}

/** What the previous process left open: nobody waits for the answer any more. Runs inside the transaction of the start. */
export function createOpenApprovalsEnd(sql: Sql, audit: AuditLog): (at: number) => void {
  const open = sql.prepare((db) =>
    db.selectFrom("approvals").select(["id", "session_key", "tool"]).where("decision", "is", null),
  );
  const expire = sql.prepare((db, p: Params<{ at: number }>) =>
    db
      .updateTable("approvals")
      .set({ decision: raw.lit("expired"), decided_at: p("at") })
      .where("decision", "is", null),
  );
  return (at) => {
    const left = open.all({});
    expire.run({ at });
    for (const question of left) audit.append(endedEntry(question.id, question, { decision: "expired", by: null, at }));
  };
}

/** For the moment when a session gets another conversation: what was allowed was allowed in the one before. */
export function createGrantsEnd(sql: Sql): (key: SessionKey) => void {
  const forget = sql.prepare((db, p: Params<{ key: SessionKey }>) =>
    db.deleteFrom("approval_grants").where("session_key", "=", p("key")),
  );
  return (key) => void forget.run({ key });
}

function statements(sql: Sql) {
  return {
    granted: sql.prepare((db, p: Params<{ sessionKey: SessionKey; tool: string }>) =>
      db
        .selectFrom("approval_grants")
        .select("given_by")
        .where("session_key", "=", p("sessionKey"))
        .where("tool", "=", p("tool")),
    ),
    add: sql.prepare((db, p: Params<NewRow>) => db.insertInto("approvals").values(p.row(...NEW))),
    open: sql.prepare((db, p: Params<{ id: string }>) =>
      db
        .selectFrom("approvals")
        .select(["session_key", "tool"])
        .where("id", "=", p("id"))
        .where("decision", "is", null),
    ),
    end: sql.prepare((db, p: Params<End & { id: string }>) =>
      db
        .updateTable("approvals")
        .set(p.row("decision", "decided_by", "decided_at"))
        .where("id", "=", p("id")),
    ),
    grant: sql.prepare((db, p: Params<GrantTable>) =>
      db.replaceInto("approval_grants").values(p.row("session_key", "tool", "given_by", "at")),
    ),
    list: sql.prepare((db, p: Params<{ before: number; limit: number }>) =>
      db
        .selectFrom("approvals")
        .selectAll()
        .where("seq", "<", p("before"))
        .where("decision", "is not", null)
        .orderBy("seq", "desc")
        .limit(p("limit")),
    ),
    prune: sql.prepare((db, p: Params<{ before: number }>) =>
      db
        .deleteFrom("approvals")
        .where("seq", "in", (eb) =>
          eb
            .selectFrom("approvals")
            .select("seq")
            .where("asked_at", "<", p("before"))
            .where("decision", "is not", null)
            .limit(raw.lit(MAX_AT_ONCE)),
        ),
    ),
  };
}

function askedEntry({ id, tool, hash, sessionKey, principal, askedAt }: AskedApproval): NewAuditEntry {
  return {
    kind: "approval.asked",
    at: askedAt,
    actor: principal,
    subject: id,
    detail: { tool, sessionKey, callHash: hash },
  };
}

function endedEntry(
  id: string,
  { session_key, tool }: Pick<ApprovalTable, "session_key" | "tool">,
  { decision, by, at }: ApprovalEnd,
): NewAuditEntry {
  const detail = { tool, sessionKey: session_key, decision };
  return { kind: "approval.ended", at, actor: by ?? "gateway", subject: id, detail };
}

function toRow({ input, ...asked }: AskedApproval): NewRow {
  return {
    id: asked.id,
    hash: asked.hash,
    tool: asked.tool,
    call_id: asked.callId,
    because: asked.because,
    session_key: asked.sessionKey,
    turn_id: asked.turnId,
    agent_id: asked.agentId,
    principal: asked.principal,
    role: asked.role,
    asked_at: asked.askedAt,
    expires_at: asked.expiresAt,
    input: encodeJson(input),
  };
}

function toEnd({ decision, by, at }: ApprovalEnd): End {
  return { decision, decided_by: by, decided_at: at };
}

function toEnded(row: Pick<ApprovalTable, keyof NewRow | keyof End>): EndedApproval | null {
  if (row.decision === null) return null;
  return {
    id: row.id,
    hash: row.hash,
    tool: row.tool,
    callId: row.call_id,
    because: row.because,
    sessionKey: row.session_key,
    turnId: row.turn_id,
    agentId: row.agent_id,
    principal: row.principal,
    role: row.role,
    input: decodeJson(row.input),
    askedAt: row.asked_at,
    expiresAt: row.expires_at,
    decision: row.decision,
    decidedBy: row.decided_by,
    decidedAt: row.decided_at ?? row.asked_at,
  };
}
