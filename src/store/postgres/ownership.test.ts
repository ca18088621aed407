/** Each kind of open work, and the gateway that owns it: a gateway that opens the database touches nothing of one that lives, and takes all of one that died. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Store } from "../../contracts/store.ts";
import { secret } from "../../kit/secret.ts";
import { job } from "../../testing/automation/job-fixture.ts";
import { fire } from "../../testing/contracts/automation/job-contract.ts";
import { question } from "../../testing/contracts/store/approval-contract.ts";
import { keyed } from "../../testing/contracts/store/idempotent-answer-contract.ts";
import { KEEPS_ALL, storedResponse } from "../../testing/contracts/store/response-contract.ts";
import { end, intent, row, turn } from "../../testing/contracts/store/store-world.ts";
import { createTestDatabase, testPostgres } from "../../testing/postgres/database.ts";
import { clockWithoutRenewals } from "../../testing/postgres/no-renewals.ts";
import { STORE_TABLES } from "../../testing/postgres/store-tables.ts";
import { recordingLog } from "../../testing/recording-log.ts";
import { createSeqIds } from "../../testing/seq-ids.ts";
import { tempHome } from "../../testing/temp-home.ts";
import { openStore } from "../index.ts";

interface Path {
  /** Work that the first gateway leaves open. */
  prepare(store: Store): Promise<unknown>;
  /** What another gateway sees of it that has taken it over, or would do it a second time. */
  look(store: Store): Promise<unknown>;
  readonly ofLive: unknown;
  readonly ofDead: unknown;
}

const ID = "w1";
const approvalOf = async ({ approvals }: Store) =>
  (await approvals.ended({ limit: 9 })).items.map(({ decision }) => decision);
const callsOf = async ({ toolCalls }: Store) =>
  (await toolCalls.list({}, { limit: 9 })).items.map(({ status }) => status);
const claimOf = async ({ outbox }: Store) =>
  outbox.markSending("t-sent:0", { attempts: 2, lost: 0, delivered: 0, doubt: false, at: 5_000, claimedUntil: 6_000 });

/** By table. The last test says that none is missing. */
const PATHS: Readonly<Record<string, Path>> = {
  inbox: {
    prepare: ({ inbox }) => inbox.accept(row("waiting", "b")),
    look: async ({ inbox }) => (await inbox.unfinished()).map(({ id }) => String(id)),
    ofLive: [],
    ofDead: ["waiting", "begun"],
  },
  turns: {
    async prepare({ inbox, turns }) {
      await inbox.accept(row("begun", "a"));
      await turns.begin(turn("t-begun", "a", ["begun"]));
    },
    async look({ turns, inbox }) {
      await turns.countCrashes(3);
      return (await inbox.unfinished()).find(({ turn: known }) => known)?.turn?.crashes ?? "none";
    },
    ofLive: "none",
    ofDead: 1,
  },
  outbox: {
    async prepare({ inbox, turns, outbox }) {
      await inbox.accept(row("sent", "c"));
      await turns.begin(turn("t-sent", "c", ["sent"]));
      await turns.finish(end("t-sent"));
      const counts = { attempts: 1, lost: 0, delivered: 0, doubt: false };
      await outbox.markSending("t-sent:0", { ...counts, at: 1_000, claimedUntil: 9_000 });
    },
    look: claimOf,
    ofLive: false,
    ofDead: true,
  },
  tool_calls: {
    prepare: ({ toolCalls }) => toolCalls.intend(intent(ID, "t-begun", false)),
    look: callsOf,
    ofLive: ["pending"],
    ofDead: ["unknown"],
  },
  approvals: {
    prepare: ({ approvals }) => approvals.put(question(ID)),
    look: approvalOf,
    ofLive: [],
    ofDead: ["expired"],
  },
  job_runs: {
    async prepare({ jobs }) {
      await jobs.add(job({ id: ID }));
      await jobs.fire([fire(job({ id: ID }))]);
    },
    look: async ({ jobs }) => (await jobs.running()).length,
    ofLive: 0,
    ofDead: 1,
  },
  idempotent_answers: {
    prepare: ({ idempotentAnswers }) => idempotentAnswers.claim(keyed(ID)),
    look: async ({ idempotentAnswers }) => (await idempotentAnswers.claim(keyed(ID))).kind,
    ofLive: "elsewhere",
    ofDead: "mine",
  },
  responses: {
    prepare: ({ responses }) => responses.put({ ...storedResponse(ID), ended: false }, KEEPS_ALL),
    look: async ({ responses }) => (await responses.open()).length,
    ofLive: 0,
    ofDead: 1,
  },
};

describe.skipIf((await testPostgres()) === null)("open work of a gateway on Postgres", () => {
  const all = new AsyncDisposableStack();
  let sql: Bun.SQL;
  let open: () => Promise<Store>;
  let beside: Store;
  let after: Store;
  const seen = { ofLive: new Map<string, unknown>(), ofDead: new Map<string, unknown>() };
  beforeAll(async () => {
    const home = all.use(await tempHome());
    const database = all.use(await createTestDatabase(STORE_TABLES));
    sql = all.use(new Bun.SQL(database.url, { max: 1 }));
    const deps = { clock: clockWithoutRenewals, ids: createSeqIds(), log: recordingLog() };
    let opened = 0;
    open = async () => {
      const gateway = { stateDirectory: `directory ${opened++}` };
      return all.use(await openStore(deps, { home: home.path, url: secret(database.url), beside: gateway }));
    };
    const first = await open();
    for (const { prepare } of Object.values(PATHS)) await prepare(first);
    beside = await open();
    for (const [table, { look }] of Object.entries(PATHS)) seen.ofLive.set(table, await look(beside));
    expect((await first.inbox.accept(row("waiting", "b"))).kind).toBe("duplicate"); // it still writes
    // what the death of its process leads to, without the wait: its last renewal was long ago
    await sql`update nodes set expires_at = 0 where id = ${first.instanceId}`;
    after = await open();
    for (const [table, { look }] of Object.entries(PATHS)) seen.ofDead.set(table, await look(after));
  });
  afterAll(() => all.disposeAsync());

  test.each(Object.entries(PATHS))(
    "in %s is left alone while that gateway lives, and taken over after its death",
    (table, { ofLive, ofDead }) => {
      expect([seen.ofLive.get(table), seen.ofDead.get(table)]).toEqual([ofLive, ofDead]);
    },
  );

  test("that was taken over belongs to one gateway alone", async () => {
    expect(await PATHS.inbox?.look(beside)).toEqual([]);
    const third = await open();
    expect(await Promise.all([PATHS.inbox?.look(third), PATHS.job_runs?.look(third)])).toEqual([[], 0]);
  });

  test("is known for every table that has an owner", async () => {
    const owned = await sql`select table_name as name from information_schema.columns
      where table_schema = current_schema() and column_name = 'node' order by 1`;
    expect(owned.map(({ name }: { readonly name: string }) => name)).toEqual(Object.keys(PATHS).toSorted());
  });
});
