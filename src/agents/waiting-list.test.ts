/** Who is next when all processes are busy. */
import { expect, test } from "bun:test";
import type { AgentLease } from "../contracts/agent.ts";
import { caller } from "../testing/agent-fixture.ts";
import { createFakeClock } from "../testing/fake-clock.ts";
import { type WaitingList, createWaitingList } from "./waiting-list.ts";

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

test("one whose process died goes back to its place, before those who came later", async () => {
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
