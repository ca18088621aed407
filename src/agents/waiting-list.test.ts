/** Who is next when all processes are busy. */
import { expect, test } from "bun:test";
import type { AgentLease, LeaseRequest } from "../contracts/agent.ts";
import type { TurnId } from "../contracts/ids.ts";
import { caller } from "../testing/agent-fixture.ts";
import { createFakeClock } from "../testing/fake-clock.ts";
import { type WaitingList, createWaitingList, stuckDelegation } from "./waiting-list.ts";

const WAIT_MS = 120_000;

function line() {
  const clock = createFakeClock();
  const list = createWaitingList(clock, WAIT_MS);
  const left: string[] = [];
  const join = (name: string, priority?: number) => {
    const request = { caller: caller("operator"), sessionFile: name, settledBytes: 0 };
    void list
      .join(priority === undefined ? request : { ...request, priority }, new AbortController().signal)
      .catch((error: unknown) => left.push(`${name}: ${String(error)}`));
  };
  return { clock, list, join, left };
}

const names = (list: WaitingList) => list.all().map(({ request }) => request.sessionFile);

test("the most important request is first, and the oldest among equals", async () => {
  const { clock, list, join } = line();
  for (const [name, priority] of [
    ["webhook", 3],
    ["group", 5],
    ["person", 10],
    ["second person", 10],
  ] as const) {
    join(name, priority);
    await clock.advance(1);
  }
  join("without a word");
  expect(names(list)).toEqual(["person", "second person", "group", "webhook", "without a word"]);
});

test("every ten seconds of waiting count as one level, so that a stream of others holds nobody back for ever", async () => {
  const { clock, list, join } = line();
  join("webhook", 3);
  await clock.advance(69_999);
  join("person", 10);
  expect(names(list)).toEqual(["person", "webhook"]);
  await clock.advance(1);
  expect(names(list)).toEqual(["webhook", "person"]);
});

test("a request whose process died goes back to its place, before those who came later", async () => {
  const { clock, list, join } = line();
  join("first", 5);
  await clock.advance(1);
  join("second", 5);
  join("person", 10);
  const first = list.all()[1];
  if (!first) throw new Error("nobody waits");
  list.leave(first);
  expect(names(list)).toEqual(["person", "second"]);
  list.rejoin(first);
  expect(names(list)).toEqual(["person", "first", "second"]);
});

test("a request that nobody waits for any more does not go back in line when its process dies, because its session may have gone on", async () => {
  const { clock, list, join, left } = line();
  join("first");
  const [first] = list.all();
  if (!first) throw new Error("nobody waits");
  list.leave(first); // a process opens its session
  await clock.advance(WAIT_MS);
  expect(left).toHaveLength(1);
  list.rejoin(first);
  expect(names(list)).toEqual([]);
});

test("waiting ends after its time whatever the priority, with a reason that says so", async () => {
  const { clock, list, join, left } = line();
  join("person", 10);
  join("webhook", 3);
  await clock.advance(WAIT_MS);
  expect(left.map((said) => said.split(":")[0]).sort()).toEqual(["person", "webhook"]);
  expect(left[0]).toContain(`no process was free within ${WAIT_MS} ms`);
  expect(list.size()).toBe(0);
});

test("who was served is not told anything afterwards", async () => {
  const { clock, list, join, left } = line();
  join("person", 10);
  const [waiter] = list.all();
  if (!waiter) throw new Error("nobody waits");
  list.leave(waiter);
  expect(waiter.take({} as AgentLease)).toBe(true);
  await clock.advance(WAIT_MS);
  expect([left, waiter.take({} as AgentLease)]).toEqual([[], false]);
});

/** Turns that ask others, in a pool of `max`, in an order that chance decides. Returns how many gave way; throws when nothing can happen any more. */
function simulate(seed: number, max: number): { readonly gaveWay: number; readonly served: number } {
  let state = seed;
  const chance = (below: number): number => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((state / 2_147_483_648) * below);
  };
  const request = (id: string, delegatedBy?: string) => ({
    caller: { ...caller("operator"), turnId: id as TurnId },
    sessionFile: id,
    settledBytes: 0,
    ...(delegatedBy === undefined ? {} : { delegatedBy: delegatedBy as TurnId }),
  });
  let busy: LeaseRequest[] = [];
  let waiting = Array.from({ length: 6 }, (_, n) => ({ request: request(`t${n}`) as LeaseRequest, joinedAt: n }));
  const outcome = { gaveWay: 0, served: 0 };
  for (let step = 100; busy.length + waiting.length > 0; step++) {
    const all = [...busy, ...waiting.map((one) => one.request)];
    const leaves = busy.filter(({ caller: { turnId } }) => !all.some(({ delegatedBy }) => delegatedBy === turnId));
    const next = waiting.find((one) => one.request.delegatedBy) ?? waiting[0];
    if (next && busy.length < max) {
      waiting = waiting.filter((one) => one !== next);
      busy.push(next.request);
      continue;
    }
    const leaf = leaves[chance(leaves.length)];
    if (!leaf) throw new Error(`nothing can happen: ${all.map(({ sessionFile }) => sessionFile).join(", ")}`);
    if (leaf.sessionFile.length < 4 && chance(2) === 0) {
      for (let n = 0; n <= chance(2); n++)
        waiting.push({ request: request(`${leaf.sessionFile}${n}`, leaf.caller.turnId), joinedAt: step });
    } else {
      busy = busy.filter((one) => one !== leaf);
      outcome.served++;
    }
    for (
      let stuck = busy.length === max && stuckDelegation(busy, waiting);
      stuck;
      stuck = stuckDelegation(busy, waiting)
    ) {
      const { request: given } = stuck;
      waiting = waiting.filter((one) => one.request !== given);
      outcome.gaveWay++;
    }
  }
  return outcome;
}

test("whoever asks whom, and however few processes there are, somebody can always go on", () => {
  const outcomes = [1, 2, 3, 4].flatMap((max) => Array.from({ length: 200 }, (_, seed) => simulate(seed + 1, max)));
  expect(outcomes.every(({ served }) => served >= 6)).toBe(true);
  expect(outcomes.some(({ gaveWay }) => gaveWay > 0)).toBe(true);
  expect(outcomes.some(({ gaveWay, served }) => gaveWay === 0 && served > 6)).toBe(true);
});
