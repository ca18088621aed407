/** Keys of programs: a small table, read whole at the start. */
import type { KeyScope } from "../../contracts/api-keys.ts";
import { keyPrincipal } from "../../contracts/api-keys.ts";
import type { Principal } from "../../contracts/ids.ts";
import type { ApiKeyStore, StoredApiKey } from "../../contracts/store/api-keys.ts";
import { type AuditLog, createAuditedWrite } from "../audit/entries.ts";
import type { Params } from "../sql.ts";
import { decodeJson, encodeJson } from "./codec.ts";
import { fromColumns, toColumns } from "./named-columns.ts";
import type { RowDeps } from "./row-deps.ts";

export interface ApiKeyTable {
  id: string;
  digest: string;
  name: string;
  scopes: string; // JSON
  agents: string; // JSON
  tools: string; // JSON
  daily_usd: number | null;
  daily_tokens: number | null;
  requests_per_minute: number | null;
  expires_at: number | null;
  created_at: number;
  created_by: Principal;
  last_used_at: number | null;
}

/** What has the same form in the table. */
const PLAIN = [
  ...["id", "digest", "name", "daily_usd", "daily_tokens", "requests_per_minute"],
  ...["expires_at", "created_at", "created_by", "last_used_at"],
] as const satisfies readonly (keyof ApiKeyTable)[];
const LISTS = ["scopes", "agents", "tools"] as const;

export function createApiKeyRows({ sql, read, write, clock }: RowDeps, audit: AuditLog): ApiKeyStore {
  const all = sql.prepare((db, _p: Params<object>) =>
    db.selectFrom("api_keys").selectAll().where("id", ">", "").orderBy("id", "desc"),
  );
  const add = sql.prepare((db, p: Params<ApiKeyTable>) => db.insertInto("api_keys").values(p.row(...PLAIN, ...LISTS)));
  const byId = sql.prepare((db, p: Params<{ id: string }>) =>
    db.selectFrom("api_keys").select("name").where("id", "=", p("id")),
  );
  const drop = sql.prepare((db, p: Params<{ id: string }>) => db.deleteFrom("api_keys").where("id", "=", p("id")));
  const use = sql.prepare((db, p: Params<{ id: string; at: number }>) =>
    db
      .updateTable("api_keys")
      .set({ last_used_at: p("at") })
      .where("id", "=", p("id")),
  );
  const writeAudited = createAuditedWrite(write, audit);
  return {
    list: () =>
      read(function* () {
        return (yield* all.all({})).map(toKey);
      }),
    async put(key) {
      const { id, name, scopes, agents, tools, createdAt: at, createdBy: actor } = key;
      await writeAudited(function* () {
        const plain = toColumns(PLAIN, key);
        yield* add.run({ ...plain, scopes: encodeJson(scopes), agents: encodeJson(agents), tools: encodeJson(tools) });
        const detail = { name, scopes, agents, tools, expiresAt: key.expiresAt };
        return yield* audit.append({ kind: "key.made", at, actor, subject: keyPrincipal(id), detail });
      });
    },
    remove: (id, actor) =>
      writeAudited(function* () {
        const known = yield* byId.first({ id });
        if (!known || (yield* drop.run({ id })) === 0) return null;
        const detail = { name: known.name };
        return yield* audit.append({ kind: "key.revoked", at: clock.now(), actor, subject: keyPrincipal(id), detail });
      }),
    touch: async (id, at) => void (await write(() => use.run({ id, at }))),
  };
}

function toKey(row: ApiKeyTable): StoredApiKey {
  const { scopes, agents, tools } = row;
  return {
    ...fromColumns(PLAIN, row),
    scopes: texts(scopes) as readonly KeyScope[],
    agents: texts(agents),
    tools: texts(tools),
  };
}

/** A damaged list is an empty one: the key may do nothing then. */
function texts(json: string): readonly string[] {
  const value = decodeJson(json);
  return Array.isArray(value) && value.every((one) => typeof one === "string") ? value : [];
}
