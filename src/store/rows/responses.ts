/** Responses of programs: found by their id and owner, followed back along their conversation, taken away a conversation at a time. */
import { sql as raw } from "kysely";
import type { InstanceId, Principal } from "../../contracts/ids.ts";
import type { ResponseShare, ResponseStore, StoredResponse } from "../../contracts/store/responses.ts";
import type { Params, Sql } from "../sql.ts";
import type { Steps } from "../steps.ts";
import { decodeJson, encodeJson } from "./codec.ts";
import type { RowDeps } from "./row-deps.ts";

export interface ResponseTable {
  id: string;
  principal: Principal;
  chain: string;
  previous: string | null;
  created_at: number;
  ended: 0 | 1;
  chars: number;
  said: string; // JSON
  body: string; // JSON
  /** The gateway that works on it. */
  node: InstanceId | null;
}

interface Owned {
  readonly id: string;
  readonly principal: Principal;
}

export function createResponses({ sql, read, write, instanceId: me }: RowDeps): ResponseStore {
  const { add, byId, drop, open, elsewhere } = statements(sql);
  const retention = createRetention(sql);
  // by person, what is stored at most: what is replaced or taken away meanwhile is still counted, until it is counted anew
  const stored = new Map<Principal, Amount>();
  return {
    async put(response, share) {
      const row = { ...toRow(response), node: me };
      const { principal } = row;
      await write(function* () {
        const before = stored.get(principal) ?? (yield* retention.amount(principal));
        yield* add.run(row);
        const after = { responses: before.responses + 1, chars: before.chars + row.chars };
        stored.set(principal, exceeds(after, share) ? yield* retention.fit(principal, mostOf(share)) : after);
      }, "with the next");
    },
    find: (id, principal) =>
      read(function* () {
        const row = yield* byId.first({ id, principal });
        return row ? toResponse(row) : null;
      }),
    chain: (id, principal, { maxResponses, maxChars }) =>
      read(function* () {
        const rows: ResponseTable[] = [];
        let chars = 0;
        for (let next: string | null = id; next !== null;) {
          const row: ResponseTable | null = yield* byId.first({ id: next, principal });
          if (!row) return "missing";
          chars += row.chars;
          if (rows.length === maxResponses || chars > maxChars) return "too_long";
          rows.unshift(row);
          next = row.previous;
        }
        return rows.map(toResponse);
      }),
    answeredBy: (id, principal) =>
      read(function* () {
        return (yield* elsewhere.first({ id, principal, me }))?.node ?? null;
      }),
    remove: (id, principal) =>
      write(function* () {
        return (yield* drop.run({ id, principal })) > 0;
      }),
    open: () =>
      read(function* () {
        return (yield* open.all({ me })).map(toResponse);
      }),
    prune: (before) => write(() => retention.prune(before)),
  };
}

interface Mine {
  readonly me: InstanceId;
}

function statements(sql: Sql) {
  return {
    add: sql.prepare((db, p: Params<ResponseTable>) =>
      db
        .insertInto("responses")
        .values(p.row("id", "principal", "chain", "previous", "created_at", "ended", "chars", "said", "body", "node"))
        .onConflict((conflict) =>
          conflict.column("id").doUpdateSet(({ ref }) => ({
            ended: ref("excluded.ended"),
            chars: ref("excluded.chars"),
            said: ref("excluded.said"),
            body: ref("excluded.body"),
          })),
        ),
    ),
    byId: sql.prepare((db, p: Params<Owned>) =>
      db.selectFrom("responses").selectAll().where("id", "=", p("id")).where("principal", "=", p("principal")),
    ),
    elsewhere: sql.prepare((db, p: Params<Owned & Mine>) =>
      db
        .selectFrom("responses")
        .select("node")
        .where("id", "=", p("id"))
        .where("principal", "=", p("principal"))
        .where("ended", "=", raw.lit(0))
        .where("node", "<>", p("me")),
    ),
    drop: sql.prepare((db, p: Params<Owned>) =>
      db.deleteFrom("responses").where("id", "=", p("id")).where("principal", "=", p("principal")),
    ),
    // as a literal: a bound value does not meet the index of those that are open
    open: sql.prepare((db, p: Params<Mine>) =>
      db.selectFrom("responses").selectAll().where("ended", "=", raw.lit(0)).where("node", "=", p("me")),
    ),
  };
}

interface Amount {
  readonly responses: number;
  readonly chars: number;
}

function exceeds({ responses, chars }: Amount, { maxResponses, maxChars }: ResponseShare): boolean {
  return responses > maxResponses || chars > maxChars;
}

/** So much of a share is kept when it is full. */
const KEPT = 0.9;

function mostOf({ maxResponses, maxChars }: ResponseShare): ResponseShare {
  return { maxResponses: Math.ceil(maxResponses * KEPT), maxChars: Math.ceil(maxChars * KEPT) };
}

interface Conversation {
  readonly principal: Principal;
  readonly chain: string;
}

function createRetention(sql: Sql) {
  const old = sql.prepare((db, p: Params<{ before: number }>) =>
    db.selectFrom("responses").select(["principal", "chain"]).where("created_at", "<", p("before")),
  );
  const newest = sql.prepare((db, p: Params<Conversation>) =>
    db
      .selectFrom("responses")
      .select(({ fn }) => fn.max<number | null>("created_at").as("at"))
      .where("principal", "=", p("principal"))
      .where("chain", "=", p("chain")),
  );
  const sizes = sql.prepare((db, p: Params<{ principal: Principal }>) =>
    db
      .selectFrom("responses")
      .select("chain")
      .select(({ fn }) => [
        fn.countAll<number>().as("count"),
        fn.sum<number>("chars").as("chars"),
        fn.max<number>("created_at").as("newest"),
      ])
      .where("principal", "=", p("principal"))
      .groupBy("chain"),
  );
  const drop = sql.prepare((db, p: Params<Conversation>) =>
    db.deleteFrom("responses").where("principal", "=", p("principal")).where("chain", "=", p("chain")),
  );
  return {
    *prune(before: number): Steps<number> {
      let gone = 0;
      for (const one of yield* old.all({ before })) {
        const at = (yield* newest.first(one))?.at ?? null; // null: it went with an earlier row of its conversation
        if (at !== null && at < before) gone += yield* drop.run(one);
      }
      return gone;
    },
    *amount(principal: Principal): Steps<Amount> {
      let [responses, chars] = [0, 0];
      for (const one of yield* sizes.all({ principal }))
        [responses, chars] = [responses + one.count, chars + one.chars];
      return { responses, chars };
    },
    /** Takes the oldest conversations away, as far as newer ones fill the share. What is left. */
    *fit(principal: Principal, share: ResponseShare): Steps<Amount> {
      let kept: Amount = { responses: 0, chars: 0 };
      for (const one of (yield* sizes.all({ principal })).toSorted((a, b) => b.newest - a.newest)) {
        const more = { responses: kept.responses + one.count, chars: kept.chars + one.chars };
        if (exceeds(more, share)) yield* drop.run({ principal, chain: one.chain });
        else kept = more;
      }
      return kept;
    },
  };
}

function toRow({
  id,
  principal,
  chain,
  previous,
  createdAt,
  ended,
  ...json
}: StoredResponse): Omit<ResponseTable, "node"> {
  const said = encodeJson(json.said);
  const body = encodeJson(json.body);
  const chars = said.length + body.length;
  return { id, principal, chain, previous, created_at: createdAt, ended: ended ? 1 : 0, chars, said, body };
}

function toResponse(row: ResponseTable): StoredResponse {
  const { id, principal, chain, previous, created_at: createdAt, ended } = row;
  const json = { said: decodeJson(row.said), body: decodeJson(row.body) };
  return { id, principal, chain, previous, createdAt, ended: ended === 1, ...json };
}
