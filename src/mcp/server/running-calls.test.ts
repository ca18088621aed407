/** Calls that wait for their client between two rounds: whose they are, how long they wait, and which answers count. */
import { describe, expect, test } from "bun:test";
import type { Principal } from "../../contracts/ids.ts";
import type { ClientAnswer } from "../../contracts/tools/tool.ts";
import { deferred, orAborted } from "../../kit/deferred.ts";
import { createFakeClock } from "../../testing/fake-clock.ts";
import { type CallInputs, createRunningCalls, MAX_CALLS, MAX_CALLS_EACH, MAX_PARKED_MS } from "./running-calls.ts";

const ADA = { principal: "key:user:ada" as Principal, of: "tools/call one" };
const never = new AbortController().signal;
const accept = (name: string) => ({ action: "accept", content: { name } });

/** Asks for each name in turn, and ends with what was said. */
function asksFor(...names: readonly string[]) {
  return async ({ want, signal }: CallInputs): Promise<string> => {
    const said: string[] = [];
    for (const name of names) {
      const answer = deferred<ClientAnswer>();
      using _wanted = want({
        name,
        request: { method: "elicitation/create", params: { message: name } },
        take: (given) => (answer.resolve(given), true),
      });
      said.push(JSON.stringify((await orAborted(answer.promise, signal))["content"]));
    }
    return said.join(" ");
  };
}

function world() {
  const clock = createFakeClock();
  const calls = createRunningCalls(clock);
  const begin = (...names: readonly string[]) => {
    const call = calls.begin<string>({ id: "c1", ...ADA, run: asksFor(...names) });
    if (typeof call === "string") throw new Error(call);
    return call;
  };
  return { clock, calls, begin };
}

describe("a call that asks its client", () => {
  test("ends when every question has been answered, one round after the other", async () => {
    const { begin, calls } = world();
    const call = begin("first", "second");
    const asked = await call.next({}, never);
    expect(asked).toMatchObject({ kind: "asks", round: 1, requests: { first: { params: { message: "first" } } } });
    const again = calls.find<string>("c1", ADA);
    expect(await again?.next({ first: accept("a") }, never)).toMatchObject({ kind: "asks", round: 2 });
    expect(await again?.next({ second: accept("b") }, never)).toEqual({
      kind: "ended",
      value: '{"name":"a"} {"name":"b"}',
    });
    expect(calls.find("c1", ADA)).toBeNull();
  });

  test("takes answers that came with the first request, and leaves out what nobody asked for", async () => {
    const ended = await world()
      .begin("first")
      .next({ other: accept("x"), first: accept("a") }, never);
    expect(ended).toEqual({ kind: "ended", value: '{"name":"a"}' });
  });

  test("uses an answer once: the same name asked for again is asked of the client", async () => {
    const call = world().begin("name", "name");
    expect(await call.next({ name: accept("a") }, never)).toMatchObject({ kind: "asks", round: 1 });
    expect(await call.next({ name: accept("b") }, never)).toMatchObject({ value: '{"name":"a"} {"name":"b"}' });
  });

  test.each([[12_345], [null], ["yes"], [{}], [{ roots: [] }]])("asks again when the answer is %j", async (answer) => {
    const call = world().begin("first");
    expect(await call.next({ first: answer }, never)).toMatchObject({ kind: "asks", round: 1 });
  });

  test.each([
    ["another person", { ...ADA, principal: "operator" as Principal }],
    ["another request", { ...ADA, of: "tools/call two" }],
  ])("is not found by %s", async (_who, owner) => {
    const { begin, calls } = world();
    await begin("first").next({}, never);
    expect(calls.find("c1", owner)).toBeNull();
  });

  test("ends when its client does not come back", async () => {
    const { begin, calls, clock } = world();
    const call = begin("first");
    await call.next({}, never);
    await clock.advance(MAX_PARKED_MS);
    expect(calls.find("c1", ADA)).toBeNull();
    await expect(call.next({}, never)).rejects.toThrow("did not come back");
  });

  test("does not end while its client is there, however long the answer takes", async () => {
    const { calls, clock } = world();
    const done = deferred<string>();
    const call = calls.begin({ id: "c1", ...ADA, run: () => done.promise });
    if (typeof call === "string") throw new Error(call);
    const step = call.next({}, never);
    await clock.advance(MAX_PARKED_MS * 2);
    done.resolve("late");
    expect(await step).toEqual({ kind: "ended", value: "late" });
  });

  test("is cancelled when its client hangs up", async () => {
    const gone = new AbortController();
    const { begin, calls } = world();
    const call = begin("first");
    await call.next({}, never);
    gone.abort(new Error("hung up"));
    await expect(call.next({}, gone.signal)).rejects.toThrow("hung up");
    expect(calls.find("c1", ADA)).toBeNull();
  });

  test("ends with the credential of its caller, and no other call does", async () => {
    const { begin, calls } = world();
    const call = begin("first");
    await call.next({}, never);
    calls.end("operator" as Principal);
    expect(calls.find("c1", ADA)).not.toBeNull();
    calls.end(ADA.principal);
    await expect(call.next({}, never)).rejects.toThrow("the credential has ended");
  });
});

test("more calls than can be open are refused, and one person has no more than a share of them", () => {
  const { calls } = world();
  const of = (person: number) => ({ ...ADA, principal: `key:user:${person}` as Principal });
  for (let at = 0; at < MAX_CALLS; at++) {
    const share = Math.floor(at / MAX_CALLS_EACH);
    expect(calls.begin({ id: `c${at}`, ...of(share), run: asksFor("first") })).toBeObject();
    if (at === MAX_CALLS_EACH - 1)
      expect(calls.begin({ id: "more", ...of(share), run: asksFor("first") })).toBe("full");
  }
  expect(calls.begin({ id: "more", ...of(9), run: asksFor("first") })).toBe("full");
});

test("a call does not take the place of another one that has its id", () => {
  const { begin, calls } = world();
  const call = begin("first");
  expect(calls.begin({ id: "c1", ...ADA, of: "tools/call two", run: asksFor("first") })).toBe("taken");
  expect(calls.find<string>("c1", ADA)).toBe(call);
});
