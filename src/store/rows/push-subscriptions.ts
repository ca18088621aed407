/** Browsers that get notifications: a small table, read whole for each notification. */
import type { Principal } from "../../contracts/ids.ts";
import type { PushSubscriptionStore, StoredPushSubscription } from "../../contracts/store/push-subscriptions.ts";
import { type AuditLog, createAuditedWrite } from "../audit/entries.ts";
import type { Params, Sql } from "../sql.ts";
import { fromColumns, toColumns } from "./named-columns.ts";
import type { RowDeps } from "./row-deps.ts";

export interface PushSubscriptionTable {
  id: string;
  principal: Principal;
  sign_in: string;
  endpoint: string;
  p256dh: string;
  auth: string;
  browser: string;
  created_at: number;
  sent_at: number | null;
  problem: string | null;
}

/** What another sign-in of the same browser changes. */
const CHANGED = ["principal", "sign_in", "p256dh", "auth", "browser"] as const;
const NEW = ["id", "endpoint", "created_at", ...CHANGED] as const;
const COLUMNS = [...NEW, "sent_at", "problem"] as const satisfies readonly (keyof PushSubscriptionTable)[];
const MAX_LISTED = 200;

export function createPushSubscriptions({ sql, read, write, clock }: RowDeps, audit: AuditLog): PushSubscriptionStore {
  const { all, byId, byEndpoint, ofPerson, add, change, drop, note } = statements(sql);
  const writeAudited = createAuditedWrite(write, audit);
  const stored = (row: PushSubscriptionTable): StoredPushSubscription => fromColumns(COLUMNS, row);
  return {
    async put(subscription, most) {
      const { principal, endpoint, createdAt: at, browser } = subscription;
      const columns = toColumns(NEW, subscription);
      await writeAudited(function* () {
        const known = yield* byEndpoint.first({ endpoint });
        if (known && CHANGED.every((column) => known[column] === columns[column])) return null;
        if (known) yield* change.run({ ...columns, id: known.id });
        else if ((yield* ofPerson.all({ principal })).length >= most) return null;
        else yield* add.run(columns);
        const subject = known?.id ?? subscription.id;
        return yield* audit.append({ kind: "notifications.on", at, actor: principal, subject, detail: { browser } });
      });
      return read(function* () {
        const row = yield* byEndpoint.first({ endpoint });
        return row && stored(row);
      });
    },
    list: () =>
      read(function* () {
        return (yield* all.all({})).map(stored);
      }),
    find: (id) =>
      read(function* () {
        const row = yield* byId.first({ id });
        return row && stored(row);
      }),
    remove: (id, actor) =>
      writeAudited(function* () {
        const known = yield* byId.first({ id });
        if (!known || (yield* drop.run({ id })) === 0) return null;
        const detail = { browser: known.browser };
        return yield* audit.append({ kind: "notifications.off", at: clock.now(), actor, subject: id, detail });
      }),
    note: async (id, { at, problem }) => void (await write(() => note.run({ id, sent_at: at, problem }))),
  };
}

function statements(sql: Sql) {
  return {
    all: sql.prepare((db, _p: Params<object>) =>
      db.selectFrom("push_subscriptions").select(COLUMNS).where("id", ">", "").orderBy("id", "desc").limit(MAX_LISTED),
    ),
    byId: sql.prepare((db, p: Params<{ id: string }>) =>
      db.selectFrom("push_subscriptions").select(COLUMNS).where("id", "=", p("id")),
    ),
    byEndpoint: sql.prepare((db, p: Params<{ endpoint: string }>) =>
      db.selectFrom("push_subscriptions").select(COLUMNS).where("endpoint", "=", p("endpoint")),
    ),
    ofPerson: sql.prepare((db, p: Params<{ principal: Principal }>) =>
      db.selectFrom("push_subscriptions").select("id").where("id", ">", "").where("principal", "=", p("principal")),
    ),
    add: sql.prepare((db, p: Params<Pick<PushSubscriptionTable, (typeof NEW)[number]>>) =>
      db.insertInto("push_subscriptions").values(p.row(...NEW)),
    ),
    change: sql.prepare((db, p: Params<Pick<PushSubscriptionTable, (typeof CHANGED)[number] | "id">>) =>
      db
        .updateTable("push_subscriptions")
        .set(p.row(...CHANGED))
        .where("id", "=", p("id")),
    ),
    drop: sql.prepare((db, p: Params<{ id: string }>) => db.deleteFrom("push_subscriptions").where("id", "=", p("id"))),
    note: sql.prepare((db, p: Params<Pick<PushSubscriptionTable, "id" | "sent_at" | "problem">>) =>
      db.updateTable("push_subscriptions").set(p.row("sent_at", "problem")).where("id", "=", p("id")),
    ),
  };
}
