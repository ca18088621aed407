/** People who asked for access: a small table, read whole at the start. */
import { sql as raw } from "kysely";
import type { PairingRow, PairingStore } from "../../../contracts/channels/pairing.ts";
import type { Principal } from "../../../contracts/ids.ts";
import type { NewAuditEntry } from "../../../contracts/store/tool-calls.ts";
import { type AuditLog, createAuditedWrite } from "../../audit/entries.ts";
import type { PairingTable } from "../../schema.ts";
import type { Params } from "../../sql.ts";
import { fromColumns, toColumns } from "../named-columns.ts";
import type { RowDeps } from "../row-deps.ts";

const COLUMNS = [
  ...["id", "channel", "account", "principal", "name", "digest", "state"],
  ...["created_at", "expires_at", "decided_at", "decided_by"],
] as const satisfies readonly (keyof PairingTable)[];

export function createPairings({ sql, read, write }: RowDeps, audit: AuditLog): PairingStore {
  const all = sql.prepare((db, _p: Params<object>) =>
    db.selectFrom("pairings").selectAll().where("id", ">", "").orderBy("id"),
  );
  const dropPerson = sql.prepare((db, p: Params<{ channel: string; account: string; principal: Principal }>) =>
    db.deleteFrom("pairings").where((eb) => eb.and(p.row("channel", "account", "principal"))),
  );
  const dropExpired = sql.prepare((db, p: Params<{ now: number }>) =>
    db.deleteFrom("pairings").where("expires_at", "<=", p("now")).where("state", "<>", raw.lit("approved")),
  );
  const add = sql.prepare((db, p: Params<PairingTable>) => db.insertInto("pairings").values(p.row(...COLUMNS)));
  const writeAudited = createAuditedWrite(write, audit);
  return {
    list: () =>
      read(function* () {
        return (yield* all.all({})).map((row) => fromColumns(COLUMNS, row));
      }),
    async put(row) {
      await writeAudited(function* () {
        yield* dropExpired.run({ now: row.decidedAt ?? row.createdAt });
        yield* dropPerson.run(row);
        yield* add.run(toColumns(COLUMNS, row));
        return yield* audit.append(entryOf(row));
      });
    },
  };
}

/** Neither the code nor the name that a stranger gives is part of it. */
function entryOf(row: PairingRow): NewAuditEntry {
  const { id, channel, account, principal, state, decidedBy, decidedAt, createdAt } = row;
  return {
    kind: `pairing.${state}`,
    at: decidedAt ?? createdAt,
    actor: decidedBy ?? principal,
    subject: principal,
    detail: { id, channel, account },
  };
}
