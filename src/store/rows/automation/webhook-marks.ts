/** Marks of requests to hooks: whichever of them is found, it leads to the one request it stands for. */
import type { WebhookAdmission, WebhookMarkStore, MarkedRequest } from "../../../contracts/store/webhook-marks.ts";
import type { Flag } from "../../schema.ts";
import type { Params, Sql } from "../../sql.ts";
import type { Steps } from "../../steps.ts";
import type { RowDeps } from "../row-deps.ts";

export interface WebhookMarkTable {
  hook: string;
  mark: string;
  request_id: string;
  fingerprint: string;
  stored: Flag;
  expires_at: number;
}

export function createWebhookMarks({ sql, write }: RowDeps): WebhookMarkStore {
  const queries = createQueries(sql);

  function* admit(request: MarkedRequest): Steps<WebhookAdmission> {
    const { hook, fingerprint, at, expiresAt } = request;
    yield* queries.forget.run({ now: at });
    const byKey = yield* found(hook, markOf("key", request.key));
    const bySignature = yield* found(hook, markOf("signed", request.signed));
    if (byKey && byKey.fingerprint !== fingerprint) return { kind: "key_reused" };
    const known = byKey ?? bySignature;
    const requestId = known?.request_id ?? request.requestId;
    // also for what is known: the same key under a new signature must not come back without the key
    const marks = [...markOf("key", request.key), ...markOf("signed", request.signed)];
    for (const mark of marks)
      yield* queries.add.run({
        hook,
        mark,
        request_id: requestId,
        fingerprint,
        stored: known?.stored ?? 0,
        expires_at: expiresAt,
      });
    if (known?.stored !== 1) return { kind: "begin", requestId };
    return { kind: byKey ? "same" : "replayed", requestId };
  }

  function* found(hook: string, [mark]: readonly string[]) {
    return mark === undefined ? null : yield* queries.find.first({ hook, mark });
  }

  return {
    admit: (request) => write(() => admit(request)),
    stored: (requestId) =>
      write(function* () {
        yield* queries.stored.run({ requestId });
      }),
  };
}

const markOf = (kind: string, digest: string | null): readonly string[] =>
  digest === null ? [] : [`${kind}:${digest}`];

function createQueries(sql: Sql) {
  return {
    find: sql.prepare((db, p: Params<Pick<WebhookMarkTable, "hook" | "mark">>) =>
      db
        .selectFrom("hook_marks")
        .select(["request_id", "fingerprint", "stored"])
        .where("hook", "=", p("hook"))
        .where("mark", "=", p("mark")),
    ),
    add: sql.prepare((db, p: Params<WebhookMarkTable>) =>
      db
        .insertInto("hook_marks")
        .values(p.row("hook", "mark", "request_id", "fingerprint", "stored", "expires_at"))
        .onConflict((conflict) => conflict.columns(["hook", "mark"]).doNothing()),
    ),
    stored: sql.prepare((db, p: Params<{ requestId: string }>) =>
      db.updateTable("hook_marks").set({ stored: 1 }).where("request_id", "=", p("requestId")),
    ),
    forget: sql.prepare((db, p: Params<{ now: number }>) =>
      db.deleteFrom("hook_marks").where("expires_at", "<=", p("now")),
    ),
  };
}
