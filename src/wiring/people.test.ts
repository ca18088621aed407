/** How the owner hears of a budget: in the chat where they were last, once, whatever happens in between. */
import { expect, test } from "bun:test";
import { createChannelRegistry } from "../channels/index.ts";
import { checkConfigText } from "../config/index.ts";
import { createLetterHub } from "../testing/letter-hub.ts";
import { keyPrincipal } from "../contracts/api-keys.ts";
import { DEFAULT_AGENT, type InstanceId, OPERATOR, type Principal, type SessionKey } from "../contracts/ids.ts";
import type { Store } from "../contracts/store.ts";
import { systemIds } from "../kit/ids.ts";
import { Lifetime } from "../kit/lifetime.ts";
import { createTopic } from "../kit/topic.ts";
import { createEvents } from "../observe/index.ts";
import { storedKey } from "../testing/contracts/store/api-key-contract.ts";
import { createFakeClock } from "../testing/fake-clock.ts";
import { realStore } from "../testing/real-store.ts";
import { recordingLog } from "../testing/recording-log.ts";
import { waitFor } from "../testing/wait-for.ts";
import type { Core } from "./core.ts";
import { createNodeEvents, openNodes } from "./nodes.ts";
import { openPeople } from "./people.ts";

const OPERATOR_SESSION = "agent:default:api:dm:operator" as SessionKey;

function nodesOf(hub = createLetterHub(), id = "gateway_1") {
  const deps = { clock: createFakeClock(), ids: systemIds, log: recordingLog() };
  const nodes = {} as Store["nodes"]; // nobody compares versions here
  return openNodes(deps, createNodeEvents(deps), { letters: hub.join(id as InstanceId), nodes });
}

test("a limit that is reached is said in the owner's chat once, also when the gateway is started again", async () => {
  const { config } = checkConfigText(JSON.stringify({ budget: { dailyUsd: 1 } }), () => undefined);
  if (!config) throw new Error("not valid");
  const clock = createFakeClock();
  await using real = await realStore(clock);
  const log = recordingLog();
  const events = createEvents({ log });
  const outboxWake = createTopic<void>();
  const seen: string[] = [];
  let told = Promise.withResolvers<void>();
  outboxWake.subscribe(() => void seen.push("outbox"));
  events.on("status", ({ what }) => {
    seen.push(what);
    told.resolve();
  });
  const life = new Lifetime({ clock, log });
  const open = (store: Store) =>
    openPeople(life, {
      clock,
      ids: systemIds,
      log,
      events,
      store,
      outboxWake,
      nodes: nodesOf(),
      config: () => config,
      channels: createChannelRegistry(),
    } as unknown as Core);
  const work = { agentId: DEFAULT_AGENT, principal: OPERATOR, origin: "chat" } as const;
  const usage = { inputTokens: 1, outputTokens: 1, costUsd: 2 };
  const said = async (store = real.store) => (await store.sessions.transcript(OPERATOR_SESSION, { limit: 10 })).items;

  const { say } = real.store.sessionChats;
  const noted: typeof say = async (...words) => {
    const isNew = await say(...words);
    seen.push("stored");
    return isNew;
  };
  const sessionChats = { ...real.store.sessionChats, say: noted };
  const { budget } = await open({ ...real.store, sessionChats });
  await budget.record(budget.bill(work, { id: "t1", model: "m", usage }));
  await told.promise;
  expect((await said()).map(({ kind, text }) => [kind, text.slice(0, 25)])).toEqual([
    ["notice", "A daily budget is used up"],
  ]);
  expect(seen).toEqual(["stored", "outbox", "budget"]);

  told = Promise.withResolvers<void>();
  await clock.advance(60_000);
  const store = await real.reopen();
  const again = await open(store);
  expect(again.budget.ask(work).may).toBe(false);
  await told.promise;
  expect(await said(store)).toHaveLength(1);
});

test("a key has the lower of its own budget and that of the configuration, and no say about anybody else", async () => {
  const clock = createFakeClock();
  await using real = await realStore(clock);
  const id = "key-1";
  const settings = {
    budget: { principals: { [keyPrincipal(id)]: { dailyUsd: 2, monthlyUsd: 3 }, "*": { dailyUsd: 9 } } },
  };
  const { config } = checkConfigText(JSON.stringify(settings), () => undefined);
  if (!config) throw new Error("not valid");
  await real.store.apiKeys.put(storedKey(id, { dailyUsd: 1, dailyTokens: 500, expiresAt: null }));
  await real.store.apiKeys.put(storedKey("key-2", { dailyUsd: null, dailyTokens: null, expiresAt: null }));
  const log = recordingLog();
  const { budget, keys } = await openPeople(new Lifetime({ clock, log }), {
    clock,
    ids: systemIds,
    log,
    events: createEvents({ log }),
    store: real.store,
    outboxWake: createTopic<void>(),
    nodes: nodesOf(),
    config: () => config,
    channels: createChannelRegistry(),
  } as unknown as Core);
  const asked = { name: "x", scopes: ["chat"], agents: ["*"], tools: ["*"], dailyTokens: null } as const;
  const free = { requestsPerMinute: null, expiresAt: null };
  expect(budget.limits()).toHaveLength(3);
  const made = await keys.make({ ...asked, ...free, dailyUsd: 7 }, { principal: OPERATOR, key: null });
  expect(budget.limits().map(({ max }) => max)).toContain(7); // a new key counts at once
  if (made.kind === "made") await keys.revoke(made.key.id, OPERATOR);
  expect(budget.limits().map(({ limit, max }) => [limit, max])).toEqual([
    ["principals.key:user:key-1.monthlyUsd", 3],
    ["principals.key:user:key-1.dailyUsd", 1],
    ["principals.key:user:key-1.dailyTokens", 500],
  ]);
  const usage = { inputTokens: 1, outputTokens: 1, costUsd: 1 };
  const work = { agentId: DEFAULT_AGENT, principal: keyPrincipal(id), origin: "api" } as const;
  await budget.record(budget.bill(work, { id: "t1", model: "m", usage }));
  expect(budget.ask(work).may).toBe(false);
  expect(budget.ask({ ...work, principal: keyPrincipal("key-2") }).may).toBe(true);
});

/** Two gateways on one database. */
async function twoGateways(clock = createFakeClock()) {
  const { config } = checkConfigText("{}", () => undefined);
  if (!config) throw new Error("not valid");
  const real = await realStore(clock);
  const log = recordingLog();
  const hub = createLetterHub();
  const open = (id: string) =>
    openPeople(new Lifetime({ clock, log }), {
      clock,
      ids: systemIds,
      log,
      events: createEvents({ log }),
      store: real.store,
      outboxWake: createTopic<void>(),
      nodes: nodesOf(hub, id),
      config: () => config,
      channels: createChannelRegistry(),
    } as unknown as Core);
  const [first, second] = [await open("gateway_1"), await open("gateway_2")];
  return { first, second, clock, [Symbol.asyncDispose]: () => real[Symbol.asyncDispose]() };
}

test("a time zone that somebody chooses at one gateway holds at the other one, and so does that of the host again", async () => {
  await using world = await twoGateways();
  const { first, second } = world;
  for (const timezone of ["Asia/Tokyo", "America/Lima"]) {
    expect(await first.times.choose(OPERATOR, timezone)).toBe(true);
    await waitFor(
      "the other gateway to know",
      () => second.times.zoneOf(OPERATOR),
      (zone) => zone === timezone,
    );
  }
  await second.times.choose(OPERATOR, null);
  await waitFor(
    "the first one to know",
    () => first.times.zoneOf(OPERATOR),
    (zone) => zone === undefined,
  );
});

test("a decision about a pairing is undone from either gateway, unless the other one has decided since", async () => {
  await using world = await twoGateways();
  const { first, second, clock } = world;
  const stranger = { principal: "telegram:user:5" as Principal, name: "Ann", channel: "telegram", account: "main" };
  const code = /: (\S+)$/.exec((await first.pairing.ask(stranger)) ?? "")?.[1] ?? "";
  const [{ id } = { id: "" }] = second.pairing.list();
  const states = () => [first, second].map(({ pairing }) => pairing.list()[0]?.state);
  await first.pairing.approve({ code, role: "member" }, OPERATOR);
  expect(states()).toEqual(["approved", "approved"]);
  expect(await second.pairing.undo(id, OPERATOR)).toBe(true);
  expect(states()).toEqual(["pending", "pending"]);
  await first.pairing.approve({ code, role: "member" }, OPERATOR);
  await clock.advance(1_000);
  await second.pairing.revoke(id, OPERATOR);
  await clock.advance(1_000);
  expect(await first.pairing.undo(id, OPERATOR)).toBe(true); // what the other one did, and not what this one did before
  expect(states()).toEqual(["approved", "approved"]);
  expect(await second.pairing.undo(id, OPERATOR)).toBe(false);
});
