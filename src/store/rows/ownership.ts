/**
 * Work belongs to the gateway that does it. One that starts takes over what gateways left that are gone, in the transaction in which it says
 * that they are, and nothing of one that lives.
 */
import { type RawBuilder, sql as raw } from "kysely";
import type { InstanceId } from "../../contracts/ids.ts";
import type { Params, Sql } from "../sql.ts";
import type { Steps } from "../steps.ts";

/**
 * Whether no other live gateway owns the row. Asked by one that begins and has no work yet: rows in its own name are those of a former process
 * in a test, where ids come again. Rows without an owner are older than this column.
 */
export function isLeft(me: InstanceId, column = "node"): RawBuilder<boolean> {
  const owner = raw.ref(column);
  return raw<boolean>`(${owner} is null or ${owner} not in (select id from nodes where state <> 'gone' and id <> ${me}))`;
}

interface Mine {
  readonly me: InstanceId;
}

/** Makes open work of gateways that are gone that of this one. Runs inside the transaction of the start. */
export function createTakeover(sql: Sql, me: InstanceId): () => Steps<void> {
  // conditions word for word as in the indexes of what is open
  const messages = sql.prepare((db, p: Params<Mine>) =>
    db
      .updateTable("inbox")
      .set({ node: p("me") })
      .where("done", "=", raw.lit(0))
      .where(isLeft(p("me"))),
  );
  const turns = sql.prepare((db, p: Params<Mine>) =>
    db
      .updateTable("turns")
      .set({ node: p("me") })
      .where("state", "=", raw.lit("running"))
      .where(isLeft(p("me"))),
  );
  const runs = sql.prepare((db, p: Params<Mine>) =>
    db
      .updateTable("job_runs")
      .set({ node: p("me") })
      .where("status", "=", raw.lit("running"))
      .where(isLeft(p("me"))),
  );
  const responses = sql.prepare((db, p: Params<Mine>) =>
    db
      .updateTable("responses")
      .set({ node: p("me") })
      .where("ended", "=", raw.lit(0))
      .where(isLeft(p("me"))),
  );
  const claims = sql.prepare((db, p: Params<Mine>) =>
    db
      .updateTable("outbox")
      .set({ claimed_by: p("me") })
      .where("ended_at", "is", null)
      .where("claimed_by", "is not", null)
      .where(isLeft(p("me"), "claimed_by")),
  );
  return function* () {
    yield* messages.run({ me });
    yield* turns.run({ me });
    yield* runs.run({ me });
    yield* responses.run({ me });
    yield* claims.run({ me });
  };
}
