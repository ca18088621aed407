/** Approval rules: each read and each use asks the database, so that a rule that was removed at any gateway allows nothing. */
import type { Selectable } from "kysely";
import type { ApprovalRuleStore, NewApprovalRule } from "../../contracts/store/approval-rules.ts";
import type { ApprovalRule } from "../../contracts/tools/approval-rule.ts";
import { type AuditLog, createAuditedWrite } from "../audit/entries.ts";
import type { Params, Sql } from "../sql.ts";
import type { Steps } from "../steps.ts";
import type { RuleTable } from "./approval-tables.ts";
import { decodeJson, encodeJson } from "./codec.ts";
import { fromColumns, toColumns } from "./named-columns.ts";
import { numberBefore, pageOf, pageSize } from "./paging.ts";
import type { RowDeps } from "./row-deps.ts";
import { newValues } from "./terms.ts";

/** Rows in one transaction: a few milliseconds. */
const MAX_AT_ONCE = 500;

/** What has the same form in the table. */
const MADE = [
  ...["id", "tool", "agent_id", "principal", "because", "reach", "value", "says", "shown"],
  ...["approval_id", "call_hash", "made_by", "made_at", "expires_at"],
] as const satisfies readonly (keyof RuleTable)[];
/** Two rules that are the same in these are one. */
const SAME = ["agent_id", "principal", "tool", "reach", "value", "origins", "because"] as const;
type NewRow = Pick<RuleTable, (typeof MADE)[number] | "origins">;
type Same = Pick<RuleTable, (typeof SAME)[number]>;

export function createApprovalRuleRows({ sql, read, write }: RowDeps, audit: AuditLog): ApprovalRuleStore {
  const { of, byId, use, list, drop, prune } = statements(sql);
  const writeAudited = createAuditedWrite(write, audit);
  return {
    of: ({ tool, agentId, principal }, at) =>
      read(function* () {
        return (yield* of.all({ tool, agent_id: agentId, principal, at })).map(toRule);
      }),
    use: (id, { at, callId, callHash, sessionKey }) =>
      writeAudited(function* () {
        const rule = yield* byId.first({ id });
        if (!rule || (yield* use.run({ id, at })) === 0) return null;
        const detail = { tool: rule.tool, sessionKey, callId, callHash };
        return yield* audit.append({ kind: "rule.used", at, actor: rule.principal, subject: id, detail });
      }),
    list: (at, page) =>
      read(function* () {
        const limit = pageSize(page);
        const rows = yield* list.all({ at, before: numberBefore(page), limit: limit + 1 });
        return pageOf(rows, limit, toRule, ({ seq }) => [seq]);
      }),
    remove: (id, actor, at) =>
      writeAudited(function* () {
        const rule = yield* byId.first({ id });
        if (!rule || (yield* drop.run({ id })) === 0) return null;
        const detail = { tool: rule.tool, person: rule.principal, agent: rule.agent_id, reach: rule.reach };
        return yield* audit.append({ kind: "rule.removed", at, actor, subject: id, detail });
      }),
    prune: (before) => write(() => prune.run({ before }), "with the next"),
  };
}

/** Puts a rule into a transaction. Null: its agent has as many as `max`. Else its id, which is that of the same rule if there is one. */
export function createRuleAdd(sql: Sql): (rule: NewApprovalRule, max: number) => Steps<string | null> {
  const same = sql.prepare((db, p: Params<Same>) =>
    db
      .selectFrom("approval_rules")
      .select("id")
      .where((eb) => eb.and(SAME.map((column) => eb(column, "=", p(column) as never)))),
  );
  const held = sql.prepare((db, p: Params<{ agentId: RuleTable["agent_id"]; at: number }>) =>
    db
      .selectFrom("approval_rules")
      .select((eb) => eb.fn.countAll<number>().as("rules"))
      .where("agent_id", "=", p("agentId"))
      .where("expires_at", ">", p("at")),
  );
  const put = sql.prepare((db, p: Params<NewRow>) =>
    db
      .insertInto("approval_rules")
      .values(p.row(...MADE, "origins"))
      .onConflict((conflict) =>
        conflict
          .columns([...SAME])
          .doUpdateSet(newValues("says", "shown", "approval_id", "call_hash", "made_by", "made_at", "expires_at")),
      ),
  );
  return function* (rule, max) {
    const row = { ...toColumns(MADE, rule), origins: encodeJson(rule.origins) };
    const { agent_id, principal, tool, reach, value, origins, because } = row;
    const known = yield* same.first({ agent_id, principal, tool, reach, value, origins, because });
    const count = (yield* held.first({ agentId: rule.agentId, at: rule.madeAt }))?.rules ?? 0;
    if (!known && Number(count) >= max) return null;
    yield* put.run(row);
    return known?.id ?? rule.id;
  };
}

function statements(sql: Sql) {
  return {
    of: sql.prepare((db, p: Params<Pick<Same, "agent_id" | "principal" | "tool"> & { at: number }>) =>
      db
        .selectFrom("approval_rules")
        .selectAll()
        .where("agent_id", "=", p("agent_id"))
        .where("principal", "=", p("principal"))
        .where("tool", "=", p("tool"))
        .where("expires_at", ">", p("at")),
    ),
    byId: sql.prepare((db, p: Params<{ id: string }>) =>
      db.selectFrom("approval_rules").select(["tool", "agent_id", "principal", "reach"]).where("id", "=", p("id")),
    ),
    use: sql.prepare((db, p: Params<{ id: string; at: number }>) =>
      db
        .updateTable("approval_rules")
        .set((eb) => ({ last_used_at: p("at"), uses: eb("uses", "+", 1) }))
        .where("id", "=", p("id"))
        .where("expires_at", ">", p("at")),
    ),
    list: sql.prepare((db, p: Params<{ at: number; before: number; limit: number }>) =>
      db
        .selectFrom("approval_rules")
        .selectAll()
        .where("seq", "<", p("before"))
        .where("expires_at", ">", p("at"))
        .orderBy("seq", "desc")
        .limit(p("limit")),
    ),
    drop: sql.prepare((db, p: Params<{ id: string }>) => db.deleteFrom("approval_rules").where("id", "=", p("id"))),
    prune: sql.prepare((db, p: Params<{ before: number }>) =>
      db
        .deleteFrom("approval_rules")
        .where("seq", "in", (eb) =>
          eb.selectFrom("approval_rules").select("seq").where("expires_at", "<", p("before")).limit(MAX_AT_ONCE),
        ),
    ),
  };
}

function toRule(row: Selectable<RuleTable>): ApprovalRule {
  return {
    ...fromColumns(MADE, row),
    origins: decodeJson(row.origins) as ApprovalRule["origins"], // written above
    lastUsedAt: row.last_used_at,
    uses: row.uses,
  };
}
