/** A gateway that runs takes over from another one: exactly what was that one's, once, and nothing that one writes later is stored. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { InstanceId } from "../../contracts/ids.ts";
import type { Store } from "../../contracts/store.ts";
import type { LeasedThing } from "../../contracts/store/node-leases.ts";
import type { TakenOver } from "../../contracts/store/nodes.ts";
import { secret } from "../../kit/secret.ts";
import { job } from "../../testing/automation/job-fixture.ts";
import { fire } from "../../testing/contracts/automation/job-contract.ts";
import { question } from "../../testing/contracts/store/approval-contract.ts";
import { KEEPS_ALL, storedResponse } from "../../testing/contracts/store/response-contract.ts";
import { end, intent, row, sessionKey, turn } from "../../testing/contracts/store/store-world.ts";
import { createTestDatabase, testPostgres } from "../../testing/postgres/database.ts";
import { clockWithoutRenewals } from "../../testing/postgres/no-renewals.ts";
import { STORE_TABLES } from "../../testing/postgres/store-tables.ts";
import { recordingLog } from "../../testing/recording-log.ts";
import { createSeqIds } from "../../testing/seq-ids.ts";
import { tempHome } from "../../testing/temp-home.ts";
import { openStore } from "../index.ts";

/** Gateways on one database that renew nothing: a test says whose time is over. */
async function world() {
  await using building = new AsyncDisposableStack();
  const home = building.use(await tempHome());
  const database = building.use(await createTestDatabase(STORE_TABLES));
  const sql = building.use(new Bun.SQL(database.url, { max: 1 }));
  const deps = { clock: clockWithoutRenewals, ids: createSeqIds(), log: recordingLog() };
  const rest = building.move();
  let opened = 0;
  return {
    sql,
    async open(): Promise<Store> {
      const beside = { stateDirectory: `directory ${opened++}` };
      return rest.use(await openStore(deps, { home: home.path, url: secret(database.url), beside }));
    },
    /** Its last renewal was long ago. */
    expire: ({ instanceId }: Store) => sql`update nodes set expires_at = 0 where id = ${instanceId}`,
    keepAlive: ({ instanceId }: Store) =>
      sql`update nodes set expires_at = expires_at + 3600000 where id = ${instanceId}`,
    [Symbol.asyncDispose]: () => rest.disposeAsync(),
  };
}

/** One open piece of work of every kind. */
async function beginWork({ inbox, turns, outbox, toolCalls, approvals, jobs, responses }: Store, who: string) {
  await inbox.accept(row(`${who}-waiting`, `${who}-b`));
  await inbox.accept(row(`${who}-begun`, `${who}-a`));
  await turns.begin(turn(`t-${who}-begun`, `${who}-a`, [`${who}-begun`]));
  await toolCalls.intend(intent(`${who}-call`, `t-${who}-begun`, false));
  await approvals.put({ ...question(`${who}-approval`), id: `${who}-approval` });
  await inbox.accept(row(`${who}-answered`, `${who}-c`));
  await turns.begin(turn(`t-${who}-answered`, `${who}-c`, [`${who}-answered`]));
  await turns.finish(end(`t-${who}-answered`));
  const counts = { attempts: 1, lost: 0, delivered: 0, doubt: false };
  await outbox.markSending(`t-${who}-answered:0`, { ...counts, at: 1_000, claimedUntil: 9_000 });
  await jobs.add(job({ id: `${who}-job` }));
  await jobs.fire([fire(job({ id: `${who}-job` }))]);
  await responses.put({ ...storedResponse(`${who}-response`), ended: false }, KEEPS_ALL);
}

const OPEN_WORK = `
  select 'message' as kind, id, node, '' as claim, '' as state from inbox where done = 0
  union all select 'turn', id, node, '', state from turns where state = 'running'
  union all select 'part', id, node, coalesce(claimed_by, ''), state from outbox where ended_at is null
  union all select 'run', job_id, node, '', status from job_runs where status = 'running'
  union all select 'response', id, node, '', '' from responses where ended = 0
  union all select 'call', id, node, '', status from tool_calls
  union all select 'approval', id, node, '', coalesce(decision, 'open') from approvals
  order by kind, id`;

interface OwnedWork {
  readonly kind: string;
  readonly id: string;
  readonly node: InstanceId;
  readonly claim: string;
  readonly state: string;
}

/** What a takeover makes of it. */
function takenBy(taker: InstanceId, work: OwnedWork): OwnedWork {
  if (work.kind === "call") return { ...work, state: "unknown" };
  if (work.kind === "approval") return { ...work, state: "expired" };
  return { ...work, node: taker, claim: work.claim && taker };
}

const sessionLease = (name: string): LeasedThing => ({ kind: "session", key: sessionKey(name) });

describe.skipIf((await testPostgres()) === null)("a gateway that runs on a Postgres database", () => {
  const all = new AsyncDisposableStack();
  const seen: { before: OwnedWork[]; after: OwnedWork[]; taken: (TakenOver | null)[]; leases: unknown[] } = {
    before: [],
    after: [],
    taken: [],
    leases: [],
  };
  let stores: readonly [Store, Store, Store];
  beforeAll(async () => {
    const fx = all.use(await world());
    const [dead, taker, live] = [await fx.open(), await fx.open(), await fx.open()];
    stores = [dead, taker, live];
    await beginWork(dead, "dead");
    await beginWork(taker, "taker");
    await beginWork(live, "live");
    const things: readonly LeasedThing[] = [
      sessionLease("dead-a"),
      sessionLease("dead-idle"),
      { kind: "platform", key: "telegram" },
      { kind: "heartbeat", key: "" },
    ];
    for (const thing of things) await dead.nodeLeases.acquire(thing);
    await live.nodeLeases.acquire(sessionLease("live-a"));
    await taker.nodeLeases.acquire(sessionLease("taker-idle"));
    for (const store of [taker, live]) await fx.keepAlive(store);
    await fx.expire(dead);
    const owned = async () => [...(await fx.sql.unsafe(OPEN_WORK))] as OwnedWork[];
    seen.before = await owned();
    seen.taken = [await taker.nodes.takeOver(), await live.nodes.takeOver()];
    seen.after = await owned();
    seen.leases = [...(await fx.sql`select key, owner, number::int as number from node_leases order by key`)];
  });
  afterAll(() => all.disposeAsync());

  test("takes over everything of one whose time is over, and nothing of those that live, nor of its own", () => {
    const [dead, taker] = stores;
    expect(new Set(seen.before.map(({ kind }) => kind)).size).toBe(7);
    expect(seen.after).toEqual(
      seen.before.map((work) => (work.node === dead.instanceId ? takenBy(taker.instanceId, work) : work)),
    );
  });

  test("says what came, and from whom; who asks after it finds nobody", () => {
    const [{ nodes }] = stores;
    expect(seen.taken).toEqual([
      {
        from: [nodes.self],
        messages: [
          { id: "dead-waiting", sessionKey: sessionKey("dead-b"), turnId: null },
          { id: "dead-begun", sessionKey: sessionKey("dead-a"), turnId: "t-dead-begun" },
        ] as unknown as TakenOver["messages"],
        runs: [expect.any(String)],
        responses: ["dead-response"],
        parts: 1,
        sessions: 1,
        toolCalls: 1,
        approvals: 1,
      },
      null,
    ]);
  });

  test("keeps sessions with something to do under a greater number, and everything else of the other one is free", () => {
    const [, taker, live] = stores;
    expect(seen.leases).toEqual([
      { key: "", owner: null, number: 1 },
      { key: sessionKey("dead-a"), owner: taker.instanceId, number: 2 },
      { key: sessionKey("dead-idle"), owner: null, number: 1 },
      { key: sessionKey("live-a"), owner: live.instanceId, number: 1 },
      { key: sessionKey("taker-idle"), owner: taker.instanceId, number: 1 },
      { key: "telegram", owner: null, number: 1 },
    ]);
  });

  test.each([
    { fence: "on", outcome: "superseded" },
    { fence: "off", outcome: "stored" },
  ])(
    "with the fence $fence, the end of a turn that one writes after it froze is $outcome",
    async ({ fence, outcome }) => {
      await using fx = await world();
      const [frozen, taker] = [await fx.open(), await fx.open()];
      await beginWork(frozen, "dead");
      if (fence === "off") await fx.sql`drop trigger batches_superseded on batches`;
      await fx.expire(frozen);
      await taker.nodes.takeOver();
      const late = frozen.turns.finish(end("t-dead-begun")).then(
        (written) => (written ? "stored" : "not written"),
        (error: { readonly code: string }) => error.code,
      );
      expect(await late).toBe(outcome);
      const replies = await fx.sql`select id from outbox where turn_id = ${"t-dead-begun"}`;
      expect(replies).toHaveLength(fence === "on" ? 0 : 1);
    },
  );

  test("takes over alone when several try at once", async () => {
    await using fx = await world();
    const dead = await fx.open();
    await beginWork(dead, "dead");
    const takers = [await fx.open(), await fx.open(), await fx.open()];
    for (const taker of takers) await fx.keepAlive(taker);
    await fx.expire(dead);
    const taken = await Promise.all(takers.map(({ nodes }) => nodes.takeOver()));
    expect(taken.filter((one) => one !== null)).toMatchObject([{ from: [dead.nodes.self], parts: 1 }]);
    const winner = takers[taken.findIndex((one) => one !== null)];
    const waiting = await Promise.all(takers.map(async ({ inbox }) => (await inbox.unfinished()).length));
    expect(waiting).toEqual(takers.map((store) => (store === winner ? 2 : 0)));
    const [{ taken_over_by: by }] = await fx.sql`select taken_over_by from nodes where id = ${dead.instanceId}`;
    expect(by).toBe(winner?.instanceId);
  });
});
