/** Answers to requests with an Idempotency-Key, each claimed by the gateway that answers it. */
import type { InstanceId } from "../../contracts/ids.ts";
import type {
  AnswerClaim,
  IdempotentAnswerStore,
  IdempotentKey,
  IdempotentRequest,
} from "../../contracts/store/idempotent-answers.ts";
import type { Params, Sql } from "../sql.ts";
import type { Steps } from "../steps.ts";
import { decodeJson, encodeJson } from "./codec.ts";
import { isLeft } from "./ownership.ts";
import type { RowDeps } from "./row-deps.ts";
import { newValues } from "./terms.ts";

export interface IdempotentAnswerTable extends IdempotentRequest {
  /** JSON; null: it is being answered. */
  answer: string | null;
  /** The gateway that answers it. */
  node: InstanceId;
}

export function createIdempotentAnswers({ sql, write, instanceId: me }: RowDeps): IdempotentAnswerStore {
  const { find, put, keep, drop, prune } = statements(sql);
  function* claim(request: IdempotentRequest): Steps<AnswerClaim> {
    const { principal, key, digest } = request;
    const known = yield* find.first({ principal, key });
    if (known && known.digest !== digest) return { kind: "reused" };
    if (known && known.answer !== null) return { kind: "answered", answer: decodeJson(known.answer) };
    if (known && known.node !== me && !known.left) return { kind: "elsewhere" };
    yield* put.run({ ...request, node: me });
    return { kind: "mine" };
  }
  return {
    claim: (request) => write(() => claim(request), "with the next"),
    keep: ({ principal, key }, answer) =>
      write(function* () {
        yield* keep.run({ principal, key, me, answer: encodeJson(answer) });
      }, "with the next"),
    drop: ({ principal, key }) =>
      write(function* () {
        yield* drop.run({ principal, key, me });
      }, "with the next"),
    prune: (before) => write(() => prune.run({ before }), "with the next"),
  };
}

interface Mine extends IdempotentKey {
  readonly me: InstanceId;
}

function statements(sql: Sql) {
  return {
    find: sql.prepare((db, p: Params<IdempotentKey>) =>
      db
        .selectFrom("idempotent_answers")
        .select(["digest", "answer", "node", isLeft(null).as("left")])
        .where("principal", "=", p("principal"))
        .where("key", "=", p("key")),
    ),
    put: sql.prepare((db, p: Params<Omit<IdempotentAnswerTable, "answer">>) =>
      db
        .insertInto("idempotent_answers")
        .values(p.row("principal", "key", "digest", "at", "node"))
        .onConflict((conflict) => conflict.columns(["principal", "key"]).doUpdateSet(newValues("at", "node"))),
    ),
    keep: sql.prepare((db, p: Params<Mine & { readonly answer: string }>) =>
      db
        .updateTable("idempotent_answers")
        .set({ answer: p("answer") })
        .where("principal", "=", p("principal"))
        .where("key", "=", p("key"))
        .where("node", "=", p("me")),
    ),
    drop: sql.prepare((db, p: Params<Mine>) =>
      db
        .deleteFrom("idempotent_answers")
        .where("principal", "=", p("principal"))
        .where("key", "=", p("key"))
        .where("answer", "is", null)
        .where("node", "=", p("me")),
    ),
    prune: sql.prepare((db, p: Params<{ before: number }>) =>
      db.deleteFrom("idempotent_answers").where("at", "<", p("before")),
    ),
  };
}
