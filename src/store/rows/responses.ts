/** Responses of programs: found by their id and owner, followed back along their conversation, taken away a conversation at a time. */
import type { Principal } from "../../contracts/ids.ts";
import type { ResponseRetention, ResponseStore, StoredResponse } from "../../contracts/store/responses.ts";
import type { Params, Sql } from "../sql.ts";
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
}

interface Owned {
  readonly id: string;
  readonly principal: Principal;
}

export function createResponses({ sql, read, write }: RowDeps): ResponseStore {
  const { add, byId, drop, open } = statements(sql);
  const prune = createPruning(sql);
  return {
    async put(response) {
      const row = toRow(response);
      await write(() => add.run(row), "with the next");
    },
    find: (id, principal) =>
      read(() => {
        const row = byId.first({ id, principal });
        return row ? toResponse(row) : null;
      }),
    chain: (id, principal, max) =>
      read(() => {
        const rows: ResponseTable[] = [];
        for (let next: string | null = id; next !== null;) {
          const row: ResponseTable | null = byId.first({ id: next, principal });
          if (!row) return "missing";
          if (rows.length === max) return "too_long";
          rows.unshift(row);
          next = row.previous;
        }
        return rows.map(toResponse);
      }),
    remove: (id, principal) => write(() => drop.run({ id, principal }) > 0),
    open: () => read(() => open.all({}).map(toResponse)),
    prune: (rule) => write(() => prune(rule)),
  };
}

function statements(sql: Sql) {
  return {
    add: sql.prepare((db, p: Params<ResponseTable>) =>
      db
        .insertInto("responses")
        .values(p.row("id", "principal", "chain", "previous", "created_at", "ended", "chars", "said", "body"))
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
    drop: sql.prepare((db, p: Params<Owned>) =>
      db.deleteFrom("responses").where("id", "=", p("id")).where("principal", "=", p("principal")),
    ),
    open: sql.prepare((db, _p: Params<object>) => db.selectFrom("responses").selectAll().where("ended", "=", 0)),
  };
}

function createPruning(sql: Sql): (rule: ResponseRetention) => number {
  const chains = sql.prepare((db, _p: Params<object>) =>
    db
      .selectFrom("responses")
      .select(["principal", "chain"])
      .select(({ fn }) => [
        fn.countAll<number>().as("count"),
        fn.sum<number>("chars").as("chars"),
        fn.max<number>("created_at").as("newest"),
      ])
      .groupBy(["principal", "chain"])
      .orderBy("newest", "desc"),
  );
  const drop = sql.prepare((db, p: Params<{ principal: Principal; chain: string }>) =>
    db.deleteFrom("responses").where("principal", "=", p("principal")).where("chain", "=", p("chain")),
  );
  return ({ before, maxEach, maxCharsEach }) => {
    const shares = new Map<Principal, { count: number; chars: number }>();
    let gone = 0;
    for (const { principal, chain, count, chars, newest } of chains.all({})) {
      const share = shares.get(principal) ?? { count: 0, chars: 0 };
      const fits = share.count + count <= maxEach && share.chars + chars <= maxCharsEach;
      if (newest >= before && fits) shares.set(principal, { count: share.count + count, chars: share.chars + chars });
      else gone += drop.run({ principal, chain });
    }
    return gone;
  };
}

function toRow({ id, principal, chain, previous, createdAt, ended, ...json }: StoredResponse): ResponseTable {
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
