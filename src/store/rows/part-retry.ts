/** Reply parts that a person has sent again: ended ones wait once more, behind everything else, with an entry in the audit log. Nothing is sent again by itself. */
import { type Selectable, sql as raw } from "kysely";
import type { PartRetried, RetryRequest } from "../../contracts/delivery.ts";
import type { InstanceId } from "../../contracts/ids.ts";
import type { OutboxStore } from "../../contracts/store.ts";
import type { AuditLog } from "../audit/entries.ts";
import type { Link } from "../audit/links.ts";
import type { OutboxTable } from "./outbox-table.ts";
import type { Params, Sql } from "../sql.ts";
import type { Steps } from "../steps.ts";
import type { RowDeps } from "./row-deps.ts";

const PART = [
  "session_key",
  "channel",
  "state",
  "attempts",
  "ended_at",
  "deleted_at",
] as const satisfies readonly (keyof OutboxTable)[];
type Part = Pick<Selectable<OutboxTable>, (typeof PART)[number]>;

interface Retry {
  readonly result: PartRetried;
  /** Null: nothing was changed. */
  readonly link: Link | null;
}

export function createPartRetry(
  { sql, write, instanceId: me }: Pick<RowDeps, "sql" | "write" | "instanceId">,
  audit: AuditLog,
): Pick<OutboxStore, "retry"> {
  const { part, again } = statements(sql);
  function* retry(id: string, { by, mayRepeat }: RetryRequest, at: number): Steps<Retry> {
    const found = yield* part.first({ id });
    const result = decided(found, mayRepeat);
    if (!found || result.kind !== "retried") return { result, link: null };
    yield* again.run({ id, me, at });
    const { session_key: sessionKey, channel, attempts } = found;
    const detail = { sessionKey, channel, from: result.from, attempts };
    return { result, link: yield* audit.append({ kind: "reply.retried", at, actor: by, subject: id, detail }) };
  }
  return {
    async retry(id, request, at) {
      const { result, link } = await write(() => retry(id, request, at));
      if (link) audit.noteCommitted(link);
      return result;
    },
  };
}

function decided(part: Part | null, mayRepeat: boolean): PartRetried {
  if (part === null) return { kind: "unknown" };
  const { state, deleted_at, ended_at } = part;
  if (state !== "dead" && state !== "ambiguous") return { kind: "not_lost", state };
  if (deleted_at !== null) return { kind: "deleted" };
  if (state === "ambiguous" && !mayRepeat) return { kind: "in_doubt" };
  return { kind: "retried", from: state, endedAt: ended_at ?? 0 };
}

function statements(sql: Sql) {
  return {
    part: sql.prepare((db, p: Params<{ id: string }>) =>
      db.selectFrom("outbox").select(PART).where("id", "=", p("id")),
    ),
    again: sql.prepare((db, p: Params<{ id: string; me: InstanceId; at: number }>) =>
      db
        .updateTable("outbox")
        .set({
          // by its number it comes after all that waits in its chat now; the text is set so that a full-text index by number follows
          seq: sql.dialect.nextNumber("outbox") as never,
          text: raw`text`,
          state: "pending",
          ended_at: null,
          attempts: 0,
          lost: 0,
          delivered: 0,
          doubt: 0,
          first_tried_at: null,
          next_try_at: null,
          node: p("me"),
          // whoever claimed it before has nothing more to record about it
          claimed_by: p("me"),
          claimed_until: null,
          retried_at: p("at"),
          retried_from: raw`case when retried_from = 'ambiguous' then retried_from else state end`,
        })
        .where("id", "=", p("id")),
    ),
  };
}
