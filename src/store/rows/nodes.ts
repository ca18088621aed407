/** The gateways that use the database: each is a row from its start on. Others take over from those that have ended without saying so, or left something. */
import { type Selectable, sql as raw } from "kysely";
import { GatewayError } from "../../contracts/errors.ts";
import type { InstanceId } from "../../contracts/ids.ts";
import type {
  GatewayNode,
  NodeState,
  NodeStore,
  NodeVersions,
  NodeWork,
  TakenOver,
} from "../../contracts/store/nodes.ts";
import { endOfNode, judgeNode, NODE_EXPIRY_MS } from "../node-expiry.ts";
import type { Params, Sql } from "../sql.ts";
import type { Steps } from "../steps.ts";
import { ownsWork } from "./ownership.ts";
import type { RowDeps } from "./row-deps.ts";
import { newValues } from "./terms.ts";

export interface NodeTable {
  id: InstanceId;
  state_directory: string;
  name: string;
  version: string;
  state: NodeState;
  started_at: number;
  renewed_at: number;
  expires_at: number | null;
  taken_over_by: InstanceId | null;
  key_id: string | null;
  settings: string | null;
  plugins: string | null;
}

type Row = Selectable<NodeTable>;

/** What a gateway says about itself. */
export interface NodeIdentity {
  readonly name: string;
  readonly version: string;
  /** Equal for all processes that held the same state directory, and for no other. */
  readonly stateDirectory: string;
  /** Of its audit key, without giving it away: gateways with the same one may live beside each other. Null: it is alone with its database. */
  readonly keyId: string | null;
}

const KEPT_MS = 7 * 86_400_000;

/** The row of this gateway, and what it says about others. Runs inside the transactions of its start, of a takeover and of its end. */
export function createNodeRow(sql: Sql, me: InstanceId) {
  const { now, others, over, add, takeOver, end, forget } = statements(sql);
  return {
    /** Throws `store_taken` while another gateway lives that has other keys. */
    *begin({ name, version, stateDirectory, keyId }: NodeIdentity): Steps<void> {
      const { at, upSince } = (yield* now.first({})) ?? { at: 0, upSince: 0 };
      const known = yield* others.all({ me });
      const judged = known.map((node) => ({ node, is: judgeNode(node, { stateDirectory, now: at, upSince }) }));
      const stranger = judged.find(({ node, is }) => is === "live" && (keyId === null || node.key_id !== keyId))?.node;
      if (stranger) throw taken(stranger, endOfNode(stranger, { upSince }) - at);
      for (const { node, is } of judged) if (is !== "live") yield* takeOver.run({ id: node.id, me });
      yield* forget.run({ before: at - KEPT_MS });
      const expiresAt = sql.dialect.severalGateways ? at + NODE_EXPIRY_MS : null;
      const row = { id: me, state_directory: stateDirectory, name, version, at, key_id: keyId, expires_at: expiresAt };
      yield* add.run(row);
    },
    /** Those whose time is over are gone from now on, and this gateway took over: who they are. */
    *endOthers(): Steps<TakenOver["from"]> {
      const ended = yield* over.all({ me });
      for (const { id } of ended) yield* takeOver.run({ id, me });
      return ended;
    },
    *end(): Steps<void> {
      yield* end.run({ me });
    },
  };
}

interface NodeOptions {
  readonly name: string;
  takeOver(): Steps<TakenOver | null>;
  /** Calls `act` when the time of others is over and this gateway may take over from them. `act` never rejects. */
  whenOthersEnd(act: () => Promise<void>): Disposable;
}

export function createNodes(deps: RowDeps, { name, takeOver, whenOthersEnd }: NodeOptions): NodeStore {
  const { sql, instanceId: me, read, write, isHeld, log } = deps;
  const list = sql.prepare((db, p: Params<{ limit: number }>) =>
    db.selectFrom("nodes").selectAll().orderBy("started_at", "desc").orderBy("id", "desc").limit(p("limit")),
  );
  const drain = sql.prepare((db, p: Params<{ me: InstanceId }>) =>
    db.updateTable("nodes").set({ state: "draining" }).where("id", "=", p("me")).where("state", "=", "live"),
  );
  const describe = sql.prepare((db, p: Params<NodeVersions & { me: InstanceId }>) =>
    db.updateTable("nodes").set(p.row("settings", "plugins")).where("id", "=", p("me")),
  );
  const takeOverNow = async (): Promise<TakenOver | null> => {
    const taken = await write(takeOver);
    if (taken) log.info("took over from another gateway", summaryOf(taken));
    return taken;
  };
  return {
    several: sql.dialect.severalGateways,
    self: { id: me, name },
    takeOver: takeOverNow,
    watch: (heard) =>
      whenOthersEnd(async () => {
        try {
          const taken = await takeOverNow();
          if (taken) heard(taken);
        } catch (error) {
          log.warn("another gateway could not be taken over from; tried again with the next renewal", { error });
        }
      }),
    list: (limit) =>
      read(function* () {
        return (yield* list.all({ limit })).map(toNode);
      }),
    work: () => read(createWorkList(sql)),
    describe: (versions) =>
      write(function* () {
        yield* describe.run({ ...versions, me });
      }, "with the next"),
    drain: () =>
      write(function* () {
        yield* drain.run({ me });
      }),
    isHeld,
  };
}

/** Counted by the indexes of what is open, and of leases. */
function createWorkList(sql: Sql): () => Steps<readonly NodeWork[]> {
  const messages = sql.prepare((db) =>
    db
      .selectFrom("inbox")
      .select(["node", ({ fn }) => fn.countAll<number>().as("count")])
      .where("done", "=", raw.lit(0))
      .groupBy("node"),
  );
  const turns = sql.prepare((db) =>
    db
      .selectFrom("turns")
      .select(["node", ({ fn }) => fn.countAll<number>().as("count")])
      .where("state", "=", raw.lit("running"))
      .groupBy("node"),
  );
  const sessions = sql.prepare((db) =>
    db
      .selectFrom("node_leases")
      .select(["owner as node", ({ fn }) => fn.countAll<number>().as("count")])
      .where("kind", "=", raw.lit("session"))
      .where("owner", "is not", null)
      .groupBy("owner"),
  );
  const others = sql.prepare((db) =>
    db
      .selectFrom("node_leases")
      .select(["owner as node", "kind", "key"])
      .where("kind", "<>", raw.lit("session"))
      .where("owner", "is not", null)
      .orderBy("key"),
  );
  return function* () {
    const counts = new Map<InstanceId, Counted>();
    const of = (node: InstanceId): Counted => {
      const one = counts.get(node) ?? { waiting: 0, running: 0, sessions: 0, platforms: [], heartbeat: false };
      counts.set(node, one);
      return one;
    };
    for (const { node, count } of yield* messages.all({})) if (node !== null) of(node).waiting = count;
    for (const { node, count } of yield* turns.all({})) if (node !== null) of(node).running = count;
    for (const { node, count } of yield* sessions.all({})) if (node !== null) of(node).sessions = count;
    for (const { node, kind, key } of yield* others.all({})) {
      if (node === null) continue;
      if (kind === "platform") of(node).platforms.push(key);
      else of(node).heartbeat = true;
    }
    return [...counts].map(([node, counted]) => ({ node, ...counted }));
  };
}

interface Counted {
  waiting: number;
  running: number;
  sessions: number;
  readonly platforms: string[];
  heartbeat: boolean;
}

function statements(sql: Sql) {
  type New = Pick<NodeTable, "id" | "state_directory" | "name" | "version" | "key_id"> & { at: number };
  return {
    now: sql.prepare((db) => db.selectNoFrom([sql.dialect.now.as("at"), sql.dialect.upSince.as("upSince")])),
    // one that has ended keeps a time while it has left something
    others: sql.prepare((db, p: Params<{ me: InstanceId }>) =>
      db
        .selectFrom("nodes")
        .selectAll()
        .where("taken_over_by", "is", null)
        .where((eb) => eb.or([eb("state", "<>", raw.lit("gone")), eb("expires_at", "is not", null)]))
        .where("id", "<>", p("me"))
        .orderBy("started_at"),
    ),
    over: sql.prepare((db, p: Params<{ me: InstanceId }>) =>
      db
        .selectFrom("nodes")
        .select(["id", "name"])
        .where("taken_over_by", "is", null)
        .where("expires_at", "<=", sql.dialect.now)
        .where("id", "<>", p("me"))
        .orderBy("started_at"),
    ),
    // ids of gateways are drawn at random; those of tests come again, and mean a gateway that begins anew
    add: sql.prepare((db, p: Params<New & { expires_at: number | null }>) =>
      db
        .insertInto("nodes")
        .values({
          ...p.row("id", "state_directory", "name", "version", "key_id", "expires_at"),
          state: raw.lit("live"),
          started_at: p("at"),
          renewed_at: p("at"),
          taken_over_by: null,
        })
        .onConflict((conflict) =>
          conflict
            .column("id")
            .doUpdateSet(
              newValues(
                ...["state_directory", "name", "version", "key_id", "expires_at", "state", "started_at", "renewed_at"],
                "taken_over_by",
              ),
            ),
        ),
    ),
    takeOver: sql.prepare((db, p: Params<{ id: InstanceId; me: InstanceId }>) =>
      db
        .updateTable("nodes")
        .set({ state: "gone", taken_over_by: p("me") })
        .where("id", "=", p("id")),
    ),
    end: sql.prepare((db, p: Params<{ me: InstanceId }>) =>
      db
        .updateTable("nodes")
        .set({
          state: "gone",
          expires_at: sql.dialect.severalGateways
            ? raw<number | null>`case when ${ownsWork(p("me"))} then ${sql.dialect.now} end`
            : null,
        })
        .where("id", "=", p("me")),
    ),
    forget: sql.prepare((db, p: Params<{ before: number }>) =>
      db.deleteFrom("nodes").where("state", "=", "gone").where("started_at", "<", p("before")),
    ),
  };
}

function summaryOf({ from, messages, runs, responses, ...counts }: TakenOver) {
  const names = from.map(({ name }) => name);
  return { from: names, messages: messages.length, runs: runs.length, responses: responses.length, ...counts };
}

function toNode(row: Row): GatewayNode {
  return {
    id: row.id,
    name: row.name,
    version: row.version,
    state: row.state,
    startedAt: row.started_at,
    renewedAt: row.renewed_at,
    expiresAt: row.expires_at,
    takenOverBy: row.taken_over_by,
    settings: row.settings,
    plugins: row.plugins,
  };
}

function taken({ id, name, version, started_at }: Row, freeInMs: number): GatewayError {
  const since = new Date(started_at).toISOString();
  const seconds = Math.ceil(freeInMs / 1_000);
  return new GatewayError("store_taken", "another gateway with other keys lives on this database", {
    fields: { node: id, name, version, since, freeInMs },
    say: `Another gateway uses this database: ${name} (version ${version}), since ${since}. It has other keys than this one. To run both, give all gateways of the database the same store.secret, or copy audit.key, media.key and token from its state directory (docs/scaling.md); otherwise stop it first, or set store.url to another database. If it has died without a word, the database is free in ${seconds} s.`,
  });
}
