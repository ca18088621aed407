/**
 * What every store promises to gateways that use one database at the same time: of those who do the same thing, one is told that it did it,
 * the others are told that it was done; of those who add different things, none loses any.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Principal, TurnId } from "../../../contracts/ids.ts";
import type { Store } from "../../../contracts/store.ts";
import { job } from "../../automation/job-fixture.ts";
import { marked } from "../automation/hook-mark-contract.ts";
import { ended, fire } from "../automation/job-contract.ts";
import { storedKey } from "./api-key-contract.ts";
import { newSubscription } from "./push-subscription-contract.ts";
import { question } from "./approval-contract.ts";
import { storedRule } from "./approval-rule-contract.ts";
import { keyed } from "./idempotent-answer-contract.ts";
import { KEEPS_ALL, storedResponse } from "./response-contract.ts";
import { AGENT, end, HERE, intent, OPERATOR, row, sessionKey, type StoreWorld, turn } from "./store-world.ts";
import { spent } from "./usage-contract.ts";

/** Each race is run so often, under new ids: two transactions that meet once may miss each other. */
const ROUNDS = 4;
const NOW = 2_000;

interface Race {
  prepare?(store: Store, id: string): Promise<unknown>;
  /** What each gateway does; `who` is 0, 1, 2 … */
  act(store: Store, id: string, who: number): Promise<unknown>;
  /** What the gateway that was first is told. */
  readonly first: unknown;
  /** What every other one is told; an error by its code. */
  readonly others: unknown;
  /** What they are told where one gateway writes at a time, so that another one must have ended. */
  readonly othersAlone?: unknown;
}

const begun = async ({ inbox, turns }: Store, id: string): Promise<void> => {
  await inbox.accept(row(`in-${id}`, id));
  await turns.begin(turn(`t-${id}`, id, [`in-${id}`]));
};
const note = (id: string, owner = OPERATOR) => {
  const askedBy = { turnId: `t-${id}` as TurnId, callId: id };
  return { id, owner, title: "milk", content: id, tags: [], askedBy, at: 1 };
};
const withRun = async ({ jobs }: Store, id: string): Promise<void> => {
  await jobs.add(job({ id }));
  await jobs.fire([fire(job({ id }))]);
};

const MESSAGE_RACES: Readonly<Record<string, Race>> = {
  "an event arrives": {
    act: async ({ inbox }, id, who) => (await inbox.accept(row(`${id}-${who}`, id, { eventId: id }))).kind,
    first: "stored",
    others: "duplicate",
  },
  "a turn of a session begins": {
    prepare: (store, id) => Promise.all([0, 1, 2].map((who) => store.inbox.accept(row(`${id}-${who}`, id)))),
    act: async ({ turns }, id, who) => (await turns.begin(turn(`t-${id}-${who}`, id, [`${id}-${who}`]))).attempt,
    first: 1,
    others: "conflict",
  },
  "a turn ends": {
    prepare: begun,
    act: async ({ turns }, id, who) => {
      const reply = [{ part: 0, message: { text: `${who}`, kind: "reply" as const } }];
      return (await turns.finish(end(`t-${id}`, { reply }))) !== null;
    },
    first: true,
    others: false,
  },
  "a waiting message ends": {
    prepare: (store, id) => store.inbox.accept(row(`in-${id}`, id)),
    act: ({ turns }, id, who) => {
      const { sessionKey: key, inboxIds } = turn("", id, [`in-${id}`]);
      const how = { outcome: "aborted", reply: [], to: HERE, at: NOW } as const;
      return turns.endUnbegun({ turnId: `${id}-${who}` as TurnId, sessionKey: key, agentId: AGENT, inboxIds, ...how });
    },
    first: true,
    others: false,
  },
  "a message that nobody asked for is said": {
    act: ({ sessionChats }, id) => {
      const reply = [{ part: 0, message: { text: "tea", kind: "reply" } as const }];
      const about = { sessionKey: sessionKey(id), agentId: AGENT, principal: OPERATOR, to: HERE };
      return sessionChats.say({ ...about, turnId: `said-${id}` as TurnId, reply, at: NOW });
    },
    first: true,
    others: false,
  },
  "an event for a session is added": {
    act: ({ systemEvents }, id) => {
      const about = { source: "job tea", kind: "news", text: "x", createdAt: 1, expiresAt: 9_000 } as const;
      return systemEvents.add({ id, sessionKey: sessionKey(id), ...about });
    },
    first: true,
    others: false,
  },
  "events of a session are claimed by a turn": {
    prepare: ({ systemEvents }, id) => {
      const about = { source: "job tea", kind: "news", text: "x", createdAt: 1, expiresAt: 9_000 } as const;
      return systemEvents.add({ id, sessionKey: sessionKey(id), ...about });
    },
    act: async ({ systemEvents }, id, who) =>
      (await systemEvents.claim(sessionKey(id), `t-${id}-${who}` as TurnId, NOW)).events.length,
    first: 1,
    others: 0,
  },
  "a reaction is told to a turn": {
    async prepare(store, id) {
      await begun(store, id);
      await store.turns.finish(end(`t-${id}`));
      await store.outbox.react(`t-${id}:0`, { by: { principal: OPERATOR, name: "O" }, how: "set", emoji: ["👍"] }, 1);
    },
    act: async ({ outbox }, id, who) => (await outbox.tell(sessionKey(id), `t2-${id}-${who}` as TurnId)).length,
    first: 1,
    others: 0,
  },
};

const JOB_RACES: Readonly<Record<string, Race>> = {
  "a job is added": { act: ({ jobs }, id) => jobs.add(job({ id })), first: true, others: false },
  "a job is changed": {
    prepare: ({ jobs }, id) => jobs.add(job({ id })),
    act: ({ jobs }, id, who) => jobs.change(job({ id, task: `${who}`, revision: 2 }), 1),
    first: true,
    others: false,
  },
  "a job is removed": {
    prepare: ({ jobs }, id) => jobs.add(job({ id })),
    act: ({ jobs }, id) => jobs.remove(id),
    first: true,
    others: false,
  },
  "a slot is fired": {
    prepare: ({ jobs }, id) => jobs.add(job({ id })),
    act: async ({ jobs }, id, who) => {
      const rows = [{ id: `run-${id}-${who}`, slot: 600_000, status: "running", reason: null } as const];
      return (await jobs.fire([fire(job({ id }), { rows })])).size;
    },
    first: 1,
    others: 0,
  },
  "a run is added by hand": {
    prepare: ({ jobs }, id) => jobs.add(job({ id })),
    act: ({ jobs }, id, who) => jobs.addManualRun({ id: `run-${id}-${who}`, jobId: id, slot: 5 }),
    first: true,
    others: false,
  },
  "a run is tried again": {
    async prepare(store, id) {
      await withRun(store, id);
      const failed = { status: "failed", retryAt: 800_000 } as const;
      await store.jobs.end(`run-${id}-600000`, ended({ ...job({ id }), nextAt: 1_200_000 }, failed));
    },
    act: ({ jobs }, id) => jobs.begin(`run-${id}-600000`, "failed", 800_000),
    first: true,
    others: false,
  },
  "a run ends": {
    prepare: withRun,
    act: ({ jobs }, id) => jobs.end(`run-${id}-600000`, ended({ ...job({ id }), nextAt: 1_200_000 })),
    first: "ended",
    others: "over",
  },
};

const SMALL_RACES: Readonly<Record<string, Race>> = {
  "usage is recorded": { act: ({ usage }, id) => usage.record(spent(id)), first: true, others: false },
  "an approval is answered": {
    prepare: ({ approvals }, id) => approvals.put(question(id)),
    act: ({ approvals }, id) => approvals.end(id, { decision: "once", by: OPERATOR, at: NOW }),
    first: true,
    others: false,
  },
  "an approval is made a rule": {
    prepare: ({ approvals }, id) => approvals.put(question(id)),
    act: ({ approvals }, id, who) => approvals.endWithRule(id, storedRule(`${id}-${who}`, { approvalId: id }), 999),
    first: "ended",
    others: "over",
  },
  "an approval rule is removed": {
    async prepare({ approvals }, id) {
      await approvals.put(question(id));
      await approvals.endWithRule(id, storedRule(id), 999);
    },
    act: ({ approvalRules }, id) => approvalRules.remove(id, OPERATOR, NOW),
    first: true,
    others: false,
  },
  "a role is withdrawn": {
    prepare: ({ roleGrants }, id) =>
      roleGrants.put({ principal: id as Principal, role: "member", grantedBy: OPERATOR, at: 1 }),
    act: ({ roleGrants }, id) => roleGrants.remove(id as Principal, OPERATOR),
    first: true,
    others: false,
  },
  "a key is removed": {
    prepare: ({ apiKeys }, id) => apiKeys.put(storedKey(id)),
    act: ({ apiKeys }, id) => apiKeys.remove(id, OPERATOR),
    first: true,
    others: false,
  },
  "a browser is taken off the list of notifications": {
    prepare: ({ pushSubscriptions }, id) => pushSubscriptions.put(newSubscription(id), 1_000),
    act: ({ pushSubscriptions }, id) => pushSubscriptions.remove(id, OPERATOR),
    first: true,
    others: false,
  },
  "a response is removed": {
    prepare: ({ responses }, id) => responses.put(storedResponse(id), KEEPS_ALL),
    act: ({ responses }, id) => responses.remove(id, OPERATOR),
    first: true,
    others: false,
  },
  "a request with an Idempotency-Key is claimed": {
    act: async ({ idempotentAnswers }, id) => (await idempotentAnswers.claim(keyed(id))).kind,
    first: "mine",
    others: "elsewhere",
    othersAlone: "mine",
  },
  "a tool call begins": {
    act: ({ toolCalls }, id, who) => toolCalls.intend({ ...intent(`${id}-${who}`, id, false), callId: id }),
    first: true,
    others: false,
  },
};

export function twoWriterPromises(open: () => Promise<StoreWorld>): void {
  describe("gateways on one database", () => {
    races(open);
    repeats(open);
    memories(open);
    sums(open);
    numbering(open);
  });
}

function races(open: () => Promise<StoreWorld>): void {
  describe("at once", () => {
    let world: StoreWorld;
    let stores: readonly Store[] = [];
    let count = 0;
    beforeAll(async () => {
      world = await open();
      stores = [world.store, await world.openSecond(), await world.openSecond()];
    });
    afterAll(() => world[Symbol.asyncDispose]());

    test.each(Object.entries({ ...MESSAGE_RACES, ...JOB_RACES, ...SMALL_RACES }))(
      "when %s for several gateways, one of them is first",
      async (_, { prepare, act, first, others, othersAlone = others }) => {
        for (let round = 0; round < ROUNDS; round++) {
          const id = `r${count++}`;
          await prepare?.(world.store, id);
          const told = await Promise.all(
            stores.map((store, who) => act(store, id, who).catch((error: { code?: string }) => error.code)),
          );
          const winner = told.findIndex((answer) => Object.is(answer, first));
          const expected = stores.map((_store, who) =>
            who === winner ? first : world.isShared ? others : othersAlone,
          );
          expect({ winner, told }).toEqual({ winner, told: expected });
        }
      },
    );
  });
}

/** What one gateway has looked up is out of date when another one writes. */
function memories(open: () => Promise<StoreWorld>): void {
  test("a tool call that another gateway began is found by one that had looked for it before, where several may write", async () => {
    await using world = await open();
    const other = await world.openSecond();
    const look = () => other.toolCalls.earlier("principal:ann", "same");
    expect(await look()).toBeNull();
    await world.store.toolCalls.intend({ ...intent("c1", "t1", false), scope: "principal:ann", callId: "same" });
    // a store that one gateway holds alone remembers that there was none
    const found = { status: "running", paramsHash: "hash-c1", elsewhere: true };
    expect(await look()).toEqual(world.isShared ? expect.objectContaining(found) : null);
  });
}

/** What is done once is the same thing for everybody. */
function repeats(open: () => Promise<StoreWorld>): void {
  test("the same post, note, task or webhook request of several gateways is one, with one id", async () => {
    await using world = await open();
    const stores = [world.store, await world.openSecond(), await world.openSecond()];
    await begun(world.store, "a");
    const asked = { turnId: "t-a" as TurnId, callId: "c" };
    const about = { turnId: asked.turnId, sessionKey: sessionKey("a"), onceKey: "k", to: HERE, at: NOW };
    const ways: readonly ((store: Store, who: number) => Promise<unknown>)[] = [
      ({ outbox }) => outbox.post({ ...about, message: { text: "x", kind: "reply" } }),
      ({ notes }, who) => notes.save({ ...note(`n${who}`), content: "same", askedBy: asked }),
      ({ tasks }, who) =>
        tasks.add({
          id: `k${who}`,
          owner: OPERATOR,
          title: "same",
          dueDate: null,
          priority: "low",
          askedBy: asked,
          at: 1,
        }),
      ({ webhookMarks }, who) => webhookMarks.admit(marked({ requestId: `hook_${who}` })),
    ];
    for (const way of ways) {
      const told = await Promise.all(stores.map(way));
      expect(told).toEqual(stores.map(() => told[0]));
    }
    expect([
      (await world.store.notes.list(OPERATOR, 9)).length,
      (await world.store.tasks.list(OPERATOR, "all", 9)).length,
    ]).toEqual([1, 1]);
  });
}

/** Counters that are read, added to and written back. */
function sums(open: () => Promise<StoreWorld>): void {
  test("sessions, usage and notes of several gateways add up, and the new session of all of them is one", async () => {
    await using world = await open();
    const stores = [world.store, await world.openSecond(), await world.openSecond()];
    const each = Array.from({ length: 5 }, (_, n) => n);
    const work = stores.flatMap((store, who) =>
      each.flatMap((n) => [
        store.inbox.accept(row(`in${who}.${n}`, "a", { receivedAt: who * 10 + n })),
        store.usage.record(spent(`s${who}.${n}`)),
        store.notes.save(note(`n${who}.${n}`)),
        store.tasks.add({ ...note(`k${who}.${n}`), dueDate: null, priority: "low" }),
      ]),
    );
    await Promise.all(work);
    const all = stores.length * each.length;
    const { store } = world;
    expect(await store.sessions.get(sessionKey("a"))).toMatchObject({ messages: all, lastActivityAt: 24 });
    expect(await store.sessions.total()).toMatchObject({ sessions: 1 });
    const { total } = await store.usage.report({ from: "2026-01-10", to: "2026-01-10", by: "day" }, { limit: 5 });
    expect(total).toEqual({
      turns: all,
      inputTokens: all * 100,
      cachedTokens: all * 40,
      outputTokens: all * 10,
      costUsd: all / 2,
    });
    expect(await store.notes.list(OPERATOR, 99)).toHaveLength(all);
    expect(await store.tasks.list(OPERATOR, "all", 99)).toHaveLength(all);
    expect(await store.notes.search(OPERATOR, "milk", 99)).toHaveLength(all);
  });
}

function numbering(open: () => Promise<StoreWorld>): void {
  test("audit entries and tool calls of several gateways are one chain, without a gap and without a number twice", async () => {
    await using world = await open();
    const stores = [world.store, await world.openSecond(), await world.openSecond()];
    const entry = { kind: "config.reloaded", at: 1, actor: "gateway", subject: "", detail: {} } as const;
    const each = Array.from({ length: 5 }, (_, n) => n);
    await Promise.all(stores.flatMap(({ audit }) => each.map(() => audit.note(entry))));
    const numbers = (await world.store.audit.list({ limit: 50 })).items.map(({ no }) => no);
    expect(numbers).toEqual(Array.from({ length: stores.length * each.length }, (_, n) => (numbers[0] ?? 0) - n));
    await Promise.all(
      stores.flatMap(({ toolCalls }, who) => each.map((n) => toolCalls.intend(intent(`c${who}.${n}`, "t", true)))),
    );
    expect((await world.store.toolCalls.list({}, { limit: 50 })).items).toHaveLength(15);
  });

  test("each opening of a database has a number and a name of its own", async () => {
    await using world = await open();
    const all = [world.store, await world.openSecond(), await world.openSecond()];
    const epochs = all.map(({ epoch }) => epoch);
    expect(epochs).toEqual([...new Set(epochs)].toSorted((one, other) => one - other));
    expect(new Set(all.map(({ instanceId }) => instanceId)).size).toBe(3);
  });
}
