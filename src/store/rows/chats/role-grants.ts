/** Roles given from a chat: a small table, read whole at the start. */
import type { Principal } from "../../../contracts/ids.ts";
import type { RoleGrantStore } from "../../../contracts/store/role-grants.ts";
import { type AuditLog, createAuditedWrite } from "../../audit/entries.ts";
import type { RoleGrantTable } from "../../schema.ts";
import type { Params } from "../../sql.ts";
import type { RowDeps } from "../row-deps.ts";
import { newValues } from "../terms.ts";

export function createRoleGrants({ sql, read, write, clock }: RowDeps, audit: AuditLog): RoleGrantStore {
  const all = sql.prepare((db, _p: Params<object>) =>
    db
      .selectFrom("role_grants")
      .selectAll()
      .where("principal", ">", "" as Principal)
      .orderBy("principal"),
  );
  const put = sql.prepare((db, p: Params<RoleGrantTable>) =>
    db
      .insertInto("role_grants")
      .values(p.row("principal", "role", "granted_by", "at"))
      .onConflict((conflict) => conflict.column("principal").doUpdateSet(newValues("role", "granted_by", "at"))),
  );
  const remove = sql.prepare((db, p: Params<{ principal: Principal }>) =>
    db.deleteFrom("role_grants").where("principal", "=", p("principal")),
  );
  const writeAudited = createAuditedWrite(write, audit);
  return {
    list: () =>
      read(function* () {
        return (yield* all.all({})).map(({ principal, role, granted_by, at }) => ({
          principal,
          role,
          grantedBy: granted_by,
          at,
        }));
      }),
    async put({ principal, role, grantedBy, at }) {
      await writeAudited(function* () {
        yield* put.run({ principal, role, granted_by: grantedBy, at });
        return yield* audit.append({ kind: "role.given", at, actor: grantedBy, subject: principal, detail: { role } });
      });
    },
    remove: (principal, by) =>
      writeAudited(function* () {
        if ((yield* remove.run({ principal })) === 0) return null;
        return yield* audit.append({
          kind: "role.removed",
          at: clock.now(),
          actor: by,
          subject: principal,
          detail: {},
        });
      }),
  };
}
