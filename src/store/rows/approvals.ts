/** Approvals of tool calls: the first decision ends one. A grant for a conversation ends with that conversation. */
import { sql as raw } from "kysely";
import type { InstanceId, Principal, SessionKey } from "../../contracts/ids.ts";
import type { ApprovalEnd, ApprovalStore, AskedApproval, EndedApproval } from "../../contracts/store/approvals.ts";
import type { NewAuditEntry } from "../../contracts/store/tool-calls.ts";
import type { RuleReach } from "../../contracts/tools/approval-rule.ts";
import { type AuditLog, createAuditedWrite } from "../audit/entries.ts";
import { createRuleAdd } from "./approval-rules.ts";
import type { ApprovalTable, GrantTable } from "./approval-tables.ts";
import type { Params, Sql } from "../sql.ts";
import type { Steps } from "../steps.ts";
import { decodeJson, encodeJson } from "./codec.ts";
import { fromColumns, toColumns } from "./named-columns.ts";
import { isLeft } from "./ownership.ts";
import { numberBefore, pageOf, pageSize } from "./paging.ts";
import type { RowDeps } from "./row-deps.ts";
import { newValues } from "./terms.ts";

/** Rows in one transaction: a few milliseconds. */
const MAX_AT_ONCE = 500;

type End = Pick<ApprovalTable, "decision" | "decided_by" | "decided_at">;

const ASKED = [
  ...["id", "hash", "tool", "call_id", "because", "session_key", "turn_id", "agent_id", "principal", "role"],
  ...["asked_at", "expires_at"],
] as const satisfies readonly (keyof ApprovalTable)[];
type NewRow = Pick<ApprovalTable, (typeof ASKED)[number] | "input">;

export function createApprovalRows({ sql, read, write, instanceId: me }: RowDeps, audit: AuditLog): ApprovalStore {
  const { granted, add, open, end, grant, list, prune } = statements(sql);
  const addRule = createRuleAdd(sql);
  const writeAudited = createAuditedWrite(write, audit);
  return {
    grantedBy: (sessionKey, covered) =>
      read(function* () {
        return (yield* granted.first({ sessionKey, tool: covered }))?.given_by ?? null;
      }),
    async put(asked) {
      await writeAudited(function* () {
        yield* add.run({ ...toColumns(ASKED, asked), input: encodeJson(asked.input), node: me });
        return yield* audit.append(askedEntry(asked));
      });
    },
    openHash: (id) =>
      read(function* () {
        return (yield* open.first({ id }))?.hash ?? null;
      }),
    end: (id, made) =>
      writeAudited(function* () {
        const question = yield* open.first({ id });
        if (!question) return null;
        yield* end.run({ id, decision: made.decision, decided_by: made.by, decided_at: made.at });
        const { session_key, tool } = question;
        if (made.decision === "session")
          yield* grant.run({ session_key, tool: made.covers ?? tool, given_by: made.by, at: made.at });
        return yield* audit.append(endedEntry(id, question, made));
      }),
    async endWithRule(id, rule, max) {
      const { madeBy: by, madeAt: at, reach } = rule;
      const ended = await write(function* () {
        const question = yield* open.first({ id });
        if (!question) return "over" as const;
        const ruleId = yield* addRule(rule, max);
        if (ruleId === null) return "full" as const;
        yield* end.run({ id, decision: "always", decided_by: by, decided_at: at });
        return yield* audit.append(endedEntry(id, question, { decision: "always", by, at, rule: ruleId, reach }));
      });
      if (typeof ended === "string") return ended;
      audit.noteCommitted(ended);
      return "ended";
    },
    ended: (page) =>
      read(function* () {
        const limit = pageSize(page);
        const rows = yield* list.all({ before: numberBefore(page), limit: limit + 1 });
        return pageOf(rows, limit, toEnded, ({ seq }) => [seq]);
      }),
    prune: (before) => write(() => prune.run({ before }), "with the next"),
  };
}

/** Ends approvals of gateways that are gone, because no call waits for them any more. How many there were. Runs inside of a takeover. */
export function createOpenApprovalsEnd(
  sql: Sql,
  audit: AuditLog,
): (at: number, except: InstanceId | null) => Steps<number> {
  const open = sql.prepare((db, p: Params<{ except: InstanceId | null }>) =>
    db
      .selectFrom("approvals")
      .select(["id", "session_key", "tool"])
      .where("decision", "is", null)
      .where(isLeft(p("except"))),
  );
  const expire = sql.prepare((db, p: Params<{ at: number; except: InstanceId | null }>) =>
    db
      .updateTable("approvals")
      .set({ decision: raw.lit("expired"), decided_at: p("at") })
      .where("decision", "is", null)
      .where(isLeft(p("except"))),
  );
  return function* (at, except) {
    const left = yield* open.all({ except });
    yield* expire.run({ at, except });
    for (const question of left)
      yield* audit.append(endedEntry(question.id, question, { decision: "expired", by: null, at }));
    return left.length;
  };
}

/** Called when a session gets another conversation: grants belong to the one before. */
export function createGrantsEnd(sql: Sql): (key: SessionKey) => Steps<void> {
  const forget = sql.prepare((db, p: Params<{ key: SessionKey }>) =>
    db.deleteFrom("approval_grants").where("session_key", "=", p("key")),
  );
  return function* (key) {
    yield* forget.run({ key });
  };
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
    add: sql.prepare((db, p: Params<NewRow & Pick<ApprovalTable, "node">>) =>
      db.insertInto("approvals").values(p.row(...ASKED, "input", "node")),
    ),
    open: sql.prepare((db, p: Params<{ id: string }>) =>
      db
        .selectFrom("approvals")
        .select(["session_key", "tool", "hash"])
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
      db
        .insertInto("approval_grants")
        .values(p.row("session_key", "tool", "given_by", "at"))
        .onConflict((conflict) => conflict.columns(["session_key", "tool"]).doUpdateSet(newValues("given_by", "at"))),
    ),
    list: sql.prepare((db, p: Params<{ before: number; limit: number }>) =>
      db
        .selectFrom("approvals")
        .selectAll()
        .where("seq", "<", p("before"))
        .where("decision", "is not", null)
        .$narrowType<{ decision: EndedApproval["decision"] }>()
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
            .limit(MAX_AT_ONCE),
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

interface EndWithRule {
  readonly decision: "always";
  readonly by: Principal;
  readonly at: number;
  readonly rule: string;
  readonly reach: RuleReach;
}

function endedEntry(
  id: string,
  { session_key, tool }: Pick<ApprovalTable, "session_key" | "tool">,
  end: ApprovalEnd | EndWithRule,
): NewAuditEntry {
  const via = "via" in end && end.via !== undefined ? { via: end.via } : {};
  const more = "rule" in end ? { rule: end.rule, reach: end.reach } : via;
  const detail = { tool, sessionKey: session_key, decision: end.decision, ...more };
  return { kind: "approval.ended", at: end.at, actor: end.by ?? "gateway", subject: id, detail };
}

function toEnded(row: NewRow & End & { readonly decision: EndedApproval["decision"] }): EndedApproval {
  return {
    ...fromColumns(ASKED, row),
    input: decodeJson(row.input),
    decision: row.decision,
    decidedBy: row.decided_by,
    decidedAt: row.decided_at ?? row.asked_at,
  };
}
