/** Node leases: a row for each thing that one gateway at a time may do. It is free when its owner gave it back or is gone. */
import { sql as raw } from "kysely";
import type { InstanceId, SessionKey } from "../../contracts/ids.ts";
import type { LeasedThing, NodeLease, NodeLeaseStore } from "../../contracts/store/node-leases.ts";
import type { TakenMessage } from "../../contracts/store/nodes.ts";
import type { Params, Sql } from "../sql.ts";
import type { Steps } from "../steps.ts";
import { isLive, nextLease } from "../node-expiry.ts";
import type { RowDeps } from "./row-deps.ts";
import { newValues } from "./terms.ts";

export interface NodeLeaseTable {
  kind: LeasedThing["kind"];
  key: string;
  /** Null: given back. */
  owner: InstanceId | null;
  number: number;
  since: number;
}

export function createNodeLeases({ sql, instanceId: me, read, write }: RowDeps): NodeLeaseStore {
  const { now, known, leftBy, put, release, forget, renumber } = statements(sql);
  const takeSession = createSessionMove(sql, me);
  function* liveLease(thing: LeasedThing): Steps<NodeLease | null> {
    const row = yield* known.first(thing);
    return row && isLive(row) ? toLease(row) : null;
  }
  return {
    acquire: (thing) =>
      write(function* () {
        const row = yield* known.first(thing);
        const next = nextLease(row, me);
        if (next.kind === "held") return { kind: "held", lease: toLease(next.lease) } as const;
        const left =
          next.kind === "new" && thing.kind === "session" ? yield* leftBy.first({ key: thing.key, me }) : null;
        if (left) return { kind: "held", lease: toLease({ ...left, number: row?.number ?? 0, since: 0 }) } as const;
        if (next.kind === "new") {
          const since = (yield* now.first({}))?.at ?? 0;
          yield* put.run({ ...thing, owner: me, number: next.number, since });
        }
        const lease = yield* liveLease(thing);
        if (!lease) throw new Error("a gateway that is gone asked for a lease");
        return { kind: "mine", lease } as const;
      }),
    release: (thing, number) =>
      write(function* () {
        const isReleased = (yield* release.run({ ...thing, number, me })) > 0;
        if (isReleased && thing.kind === "session") yield* forget.run({ key: thing.key });
        return isReleased;
      }),
    takeSession: (sessionKey, from) => write(() => takeSession(sessionKey, from)),
    renumber: (thing, number) =>
      write(function* () {
        return (yield* renumber.run({ ...thing, number, me })) > 0 ? number + 1 : null;
      }),
    heldBy: (thing) => read(() => liveLease(thing)),
  };
}

function statements(sql: Sql) {
  return {
    now: sql.prepare((db) => db.selectNoFrom(sql.dialect.now.as("at"))),
    known: sql.prepare((db, p: Params<LeasedThing>) =>
      db
        .selectFrom("node_leases")
        .leftJoin("nodes", "nodes.id", "node_leases.owner")
        .select(["node_leases.owner", "node_leases.number", "node_leases.since"])
        .select(["nodes.state", "nodes.name"])
        .where("node_leases.kind", "=", p("kind"))
        .where("node_leases.key", "=", p("key")),
    ),
    // messages that wait at another gateway, or were left by one that ended, come first: who takes over from it becomes the home
    leftBy: sql.prepare((db, p: Params<{ key: string; me: InstanceId }>) =>
      db
        .selectFrom("inbox")
        .leftJoin("nodes", "nodes.id", "inbox.node")
        .select((eb) => ["nodes.name", eb.ref("inbox.node").$castTo<InstanceId>().as("owner")])
        .where("inbox.done", "=", raw.lit(0))
        .where("inbox.session_key", "=", p("key") as never)
        .where("inbox.node", "<>", p("me"))
        .limit(1),
    ),
    put: sql.prepare((db, p: Params<NodeLeaseTable>) =>
      db
        .insertInto("node_leases")
        .values(p.row("kind", "key", "owner", "number", "since"))
        .onConflict((conflict) => conflict.columns(["kind", "key"]).doUpdateSet(newValues("owner", "number", "since"))),
    ),
    renumber: sql.prepare((db, p: Params<LeasedThing & { number: number; me: InstanceId }>) =>
      db
        .updateTable("node_leases")
        .set((eb) => ({ number: eb("number", "+", 1) }))
        .where((eb) => eb.and(p.row("kind", "key", "number")))
        .where("owner", "=", p("me")),
    ),
    release: sql.prepare((db, p: Params<LeasedThing & { number: number; me: InstanceId }>) =>
      db
        .updateTable("node_leases")
        .set({ owner: null })
        .where((eb) => eb.and(p.row("kind", "key", "number")))
        .where("owner", "=", p("me")),
    ),
    // its key tells who spoke where; one that is begun again under the same key is another session
    forget: sql.prepare((db, p: Params<{ key: string }>) =>
      db
        .deleteFrom("node_leases")
        .where("kind", "=", raw.lit("session"))
        .where("key", "=", p("key"))
        .where(({ not, exists, selectFrom }) =>
          not(
            exists(
              selectFrom("sessions")
                .select("sessions.key")
                .where("sessions.key", "=", p("key") as never),
            ),
          ),
        ),
    ),
  };
}

/** The lease and everything that waits go together, and only from an owner that still has both. */
function createSessionMove(sql: Sql, me: InstanceId) {
  type From = {
    readonly key: SessionKey;
    readonly owner: InstanceId;
    readonly number: number;
    readonly me: InstanceId;
  };
  const running = sql.prepare((db, p: Params<Pick<From, "key">>) =>
    db
      .selectFrom("turns")
      .select("id")
      .where("session_key", "=", p("key"))
      .where("state", "=", raw.lit("running"))
      .limit(1),
  );
  const lease = sql.prepare((db, p: Params<From>) =>
    db
      .updateTable("node_leases")
      .set((eb) => ({ owner: p("me"), number: eb("number", "+", 1), since: sql.dialect.now }))
      .where("kind", "=", raw.lit("session"))
      .where((eb) => eb.and(p.row("key", "owner", "number"))),
  );
  const messages = sql.prepare((db, p: Params<Omit<From, "number">>) =>
    db
      .updateTable("inbox")
      .set({ node: p("me") })
      .where("done", "=", raw.lit(0))
      .where("session_key", "=", p("key"))
      .where("node", "=", p("owner"))
      .returning(["id", "seq", "overflow"]),
  );
  return function* (key: SessionKey, from: Pick<NodeLease, "owner" | "number">): Steps<readonly TakenMessage[] | null> {
    const { owner, number } = from;
    if (yield* running.first({ key })) return null;
    if ((yield* lease.run({ key, owner, number, me })) === 0) return null;
    const moved = yield* messages.all({ key, owner, me });
    return moved
      .filter(({ overflow }) => overflow < 2)
      .toSorted((one, other) => one.seq - other.seq)
      .map(({ id }) => ({ id, sessionKey: key, turnId: null }));
  };
}

interface KnownLease extends Pick<NodeLeaseTable, "number" | "since"> {
  readonly owner: InstanceId;
  readonly name: string | null;
}

function toLease({ owner, name, number, since }: KnownLease): NodeLease {
  return { owner, ownerName: name ?? owner, number, since };
}
