import { expect, setDefaultTimeout, test } from "bun:test";
import type { Principal, SessionKey } from "../contracts/ids.ts";
import { systemClock } from "../kit/clock.ts";
import { agentFixture, caller, collect } from "../testing/agent-fixture.ts";
import { until } from "../testing/agent-stage.ts";
import { idleOnes, type Pool } from "./pool-state.ts";
import { countSpares, missingSpares, placeForSpare, usefulSpares } from "./spares.ts";
import type { WorkerState } from "./worker-state.ts";

setDefaultTimeout(120_000); // real pi on a busy machine

const served = { principal: "web:user:me" as Principal, role: "owner" } as const;
const fresh: WorkerState = { at: "idle", since: 0, served: null, sessionFile: null };
const used: WorkerState = { at: "idle", since: 5, served, sessionFile: "a" };
const busy: WorkerState = { at: "busy", since: 0, served, sessionFile: "a" };
const starting: WorkerState = { at: "starting", since: 0 };

test.each<[string, WorkerState[], boolean, number]>([
  ["nothing runs", [], false, 0],
  ["a fresh one is a spare", [fresh], false, 1],
  ["one that has served somebody is not", [used, busy], false, 0],
  ["one that has served somebody is, where people share", [used, busy], true, 1],
  ["one that is starting will be one", [starting, busy], false, 1],
])("%s", (_name, states, shared, spares) => {
  expect(countSpares(states, shared)).toBe(spares);
});

test("no spares are kept where each person has a folder of their own, and as many as are asked for elsewhere", () => {
  expect(usefulSpares({ min: 2, personal: true }).count).toBe(0);
  expect(usefulSpares({ min: 2, personal: false }).count).toBe(2);
});

test.each([
  [{ spares: 0, alive: 0, min: 1, max: 4 }, 1],
  [{ spares: 1, alive: 1, min: 1, max: 4 }, 0],
  [{ spares: 0, alive: 1, min: 1, max: 4 }, 1],
  [{ spares: 0, alive: 4, min: 1, max: 4 }, 0],
  [{ spares: 0, alive: 3, min: 2, max: 4 }, 1],
  [{ spares: 3, alive: 3, min: 1, max: 4 }, 0],
  [{ spares: 0, alive: 0, min: 0, max: 4 }, 0],
])("with %j so many are missing: %i", (facts, missing) => {
  expect(missingSpares(facts)).toBe(missing);
});

const full = {
  spares: 0,
  alive: 2,
  min: 1,
  max: 2,
  now: 5_000,
  idle: [
    { id: 7, since: 20 },
    { id: 8, since: 10 },
  ],
};
const NONE = { kind: "none" } as const;

test.each<[string, Partial<typeof full>, ReturnType<typeof placeForSpare>]>([
  ["the one that has been idle longest gives way", {}, { kind: "give_way", worker: 8 }],
  ["nobody gives way while a spare is there", { spares: 1 }, NONE],
  ["nobody gives way while there is room", { alive: 1 }, NONE],
  ["nobody gives way where no spares are wanted", { min: 0 }, NONE],
  ["nobody gives way in a pool of one", { alive: 1, max: 1 }, NONE],
  ["nobody gives way who is busy", { idle: [] }, NONE],
  ["a process that was used a moment ago keeps its place", { now: 1_500 }, { kind: "later", inMs: 510 }],
  ["two seconds of rest are enough", { now: 2_010 }, { kind: "give_way", worker: 8 }],
])("a spare for a full pool: %s", (_name, changes, expected) => {
  expect(placeForSpare({ ...full, ...changes })).toEqual(expected);
});

test("a process that was prepared for a message that has not come gives way before one that was used longer ago", () => {
  const states: readonly WorkerState[] = [used, { ...fresh, served, since: 9, preparedAt: 9 }, busy];
  const workers = new Map(states.map((state, id) => [id, { id, state }]));
  const idle = idleOnes({ workers } as unknown as Pool);
  expect(placeForSpare({ ...full, alive: 3, max: 3, idle })).toEqual({ kind: "give_way", worker: 1 });
});

test("two conversations that speak in turns keep the two processes of a full pool", async () => {
  const clock = { ...systemClock, elapsed: () => 0 }; // however slow the machine is, each was used a moment ago
  await using fx = await agentFixture({ pool: { min: 2, max: 2 }, clock });
  const open = (session: string) => fx.lease({ principal: "web:user:me", sessionFile: `session-${session}.jsonl` });
  const speak = async (session: string): Promise<number> => {
    await using held = await open(session);
    await collect(held, "hello");
    return held.pid;
  };
  const together = await Promise.all([open("one"), open("two")]);
  const [first, second] = together.map(({ pid }) => pid);
  for (const held of together) await held[Symbol.asyncDispose]();
  for (let turn = 0; turn < 3; turn++) {
    expect(await speak("one")).toBe(Number(first));
    expect(await speak("two")).toBe(Number(second));
  }
  expect(fx.happened.filter(({ event }) => event === "agent.spawned")).toHaveLength(2);
});

test("a pool says whether an idle process has a session open", async () => {
  await using fx = await agentFixture({ pool: { min: 0, max: 1 } });
  const { sessionKey } = caller("operator");
  expect(fx.pool.hasOpen(sessionKey)).toBe(false);
  {
    await using _held = await fx.lease();
    expect(fx.pool.hasOpen(sessionKey)).toBe(false); // the process is busy
  }
  expect(fx.pool.hasOpen(sessionKey)).toBe(true);
  expect(fx.pool.hasOpen("agent:default:webchat:dm:another" as SessionKey)).toBe(false);
});

test("in a full pool a fresh process of real pi is ready before the next person comes, and who speaks again keeps theirs", async () => {
  await using fx = await agentFixture({ pool: { min: 1, max: 2 } });
  const pids = () => fx.happened.flatMap(({ event, data }) => (event === "agent.spawned" ? [pidOf(data)] : []));
  const servedBy = async (who: string): Promise<number> => {
    const request = { principal: `web:user:${who}`, sessionFile: `session-${who}.jsonl` };
    await using held = await fx.lease(request);
    await collect(held, "hello");
    return held.pid;
  };
  const isQuietAfter = (starts: number) => () => {
    const { idle, starting, busy } = fx.pool.stats();
    return pids().length === starts && idle === Math.min(2, starts) && starting + busy === 0;
  };
  await until("the first spare", isQuietAfter(1));
  for (const [at, who] of ["one", "two", "three"].entries()) {
    const ready = pids().slice();
    expect(ready).toContain(await servedBy(who)); // not one that was started for them
    await until(`a spare after ${who}`, isQuietAfter(at + 2));
  }
  const before = pids().slice();
  expect(before.at(-2)).toBe(await servedBy("three"));
  expect(pids()).toEqual(before);
});

function pidOf(data: unknown): number {
  return (data as { readonly pid: number }).pid;
}
