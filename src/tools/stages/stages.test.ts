/** The small decisions on the way of a call: names, digests, limits, and what is left of a secret. */
import { describe, expect, test } from "bun:test";
import type { Principal } from "../../contracts/ids.ts";
import { createFakeClock } from "../../testing/fake-clock.ts";
import { memoryCalls, policy, says, tool, toolWorld } from "../../testing/tools/tool-world.ts";
import { waitFor } from "../../testing/wait-for.ts";
import { scrubJson } from "../audit/scrub-json.ts";
import { knownName, knownParams, otherToolNames } from "./names.ts";
import { canonical, paramsHash } from "./params-hash.ts";
import { createRateLimits } from "./rate.ts";

describe("names", () => {
  const has =
    (...names: string[]) =>
    (name: string) =>
      names.includes(name);

  test.each([
    ["send_message", "send_message"],
    ["sendMessage", "send_message"],
    ["Bash", "bash"],
    ["Glob", "find"],
    ["nothing", "nothing"],
    ["__proto__", "__proto__"],
  ])("of tools: %s means %s", (given, known) => {
    expect(knownName(given, has("send_message", "bash", "find"))).toBe(known);
  });

  test("of tools that will be understood are known beforehand", () => {
    expect([otherToolNames("send_message"), otherToolNames("bash"), otherToolNames("cron")]).toEqual([
      ["sendMessage"],
      ["Bash"],
      [],
    ]);
    for (const other of otherToolNames("send_message"))
      expect(knownName(other, has("send_message"))).toBe("send_message");
  });

  const schema = { properties: { chat_id: {}, replyTo: {}, path: {} } };
  test.each([
    [{ chatId: 1 }, { chat_id: 1 }],
    [{ chat_id: 1 }, { chat_id: 1 }],
    [{ reply_to: 1 }, { replyTo: 1 }],
    [{ file_path: "a" }, { path: "a" }],
    [{ unknownThing: 1 }, { unknownThing: 1 }],
    ["text", "text"],
    [null, null],
  ])("of parameters: %p means %p", (given, known) => {
    expect(knownParams(given, schema)).toEqual({ ok: true, params: known });
  });

  test.each([
    { chat_id: 1, chatId: 2 },
    { file_path: "a", filePath: "b" },
    { path: "a", file_path: "b" },
  ])("of parameters: %p is one too many", (given) => {
    expect(knownParams(given, schema).ok).toBe(false);
  });

  test("of a tool that takes both spellings are left alone", () => {
    const both = { properties: { chat_id: {}, chatId: {} } };
    expect(knownParams({ chat_id: 1, chatId: 2 }, both)).toEqual({ ok: true, params: { chat_id: 1, chatId: 2 } });
  });
});

test("the digest of a call does not depend on the order of its parameters, and on everything else", () => {
  expect(paramsHash("a", { x: 1, y: [1, { p: 1, q: 2 }] })).toBe(paramsHash("a", { y: [1, { q: 2, p: 1 }], x: 1 }));
  const others = [
    paramsHash("b", { x: 1 }),
    paramsHash("a", { x: 2 }),
    paramsHash("a", { x: "1" }),
    paramsHash("a", [1]),
  ];
  expect(new Set([paramsHash("a", { x: 1 }), ...others]).size).toBe(5);
  expect(canonical({ b: undefined, a: null })).toBe('{"a":null}');
});

describe("limits", () => {
  const limit = { calls: 2, perMs: 60_000 };
  const ada = { principal: "web:user:ada" as Principal, tool: "search" };

  test("let so many calls pass in any stretch of time, and say when the next may come", async () => {
    const clock = createFakeClock();
    const rate = createRateLimits({ clock, store: memoryCalls() });
    expect(await rate.take(ada, limit)).toEqual({ kind: "ok" });
    await clock.advance(40_000);
    expect(await rate.take(ada, limit)).toEqual({ kind: "ok" });
    expect(await rate.take(ada, limit)).toEqual({ kind: "wait", retryAfterMs: 20_000 });
    await clock.advance(19_999);
    expect((await rate.take(ada, limit)).kind).toBe("wait");
    await clock.advance(1);
    expect(await rate.take(ada, limit)).toEqual({ kind: "ok" });
    expect(await rate.take(ada, limit)).toEqual({ kind: "wait", retryAfterMs: 40_000 });
  });

  test("let everything pass again after a silence as long as the stretch", async () => {
    const clock = createFakeClock();
    const rate = createRateLimits({ clock, store: memoryCalls() });
    for (let times = 0; times < 2; times++) {
      expect([(await rate.take(ada, limit)).kind, (await rate.take(ada, limit)).kind]).toEqual(["ok", "ok"]);
      await clock.advance(60_000);
    }
  });

  test("are one person's and one tool's own", async () => {
    const rate = createRateLimits({ clock: createFakeClock(), store: memoryCalls() });
    await rate.take(ada, { calls: 1, perMs: 1_000 });
    for (const other of [
      { ...ada, principal: "web:user:bo" as Principal },
      { ...ada, tool: "other" },
    ])
      expect(await rate.take(other, { calls: 1, perMs: 1_000 })).toEqual({ kind: "ok" });
  });

  test("count a call under every spelling of its tool", async () => {
    const world = toolWorld([tool(async () => says("done"), { name: "say_it", limit: { calls: 1, perMs: 60_000 } })]);
    expect(await world.call({ text: "x" }, { tool: "say_it" })).toMatchObject({ kind: "ok" });
    const again = await world.call({ text: "x" }, { tool: "sayIt", callId: "second" });
    expect(again).toMatchObject({ kind: "refused", code: "rate_limited" });
  });

  test("that are durable hold across a restart, others begin anew; refused calls do not count", async () => {
    for (const [durable, kind] of [
      [true, "refused"],
      [false, "ok"],
    ] as const) {
      const made = tool(async () => says("done"), { limit: { calls: 1, perMs: 60_000, durable } });
      const first = toolWorld([made]);
      await first.call({ text: true });
      expect(await first.call({ text: "x" })).toMatchObject({ kind: "ok" });
      expect(await first.call({ text: "x" })).toMatchObject({ code: "rate_limited", retryAfterMs: 60_000 });
      const second = toolWorld([made], { store: first.store, clock: first.clock });
      expect((await second.call({ text: "x" }, { callId: "after" })).kind).toBe(kind);
    }
  });

  test("remember so many persons and forget who called longest ago; a durable limit looks that one up again", async () => {
    const most = 10_000;
    const store = memoryCalls();
    let asked = 0;
    store.timesSince = async () => (asked++, []);
    const rate = createRateLimits({ clock: createFakeClock(), store });
    const once = { calls: 1, perMs: 60_000, durable: true };
    const person = (n: number) => ({ principal: `web:user:${n}` as Principal, tool: "search" });
    for (let n = 0; n < most; n++) await rate.take(person(n), once);
    expect((await rate.take(person(0), once)).kind).toBe("wait");
    expect(asked).toBe(most); // nobody was forgotten, or looked up twice
    await rate.take(person(most), once);
    expect([(await rate.take(person(0), once)).kind, (await rate.take(person(1), once)).kind]).toEqual(["wait", "ok"]);
  });

  test("that are durable hold for two calls that come at the same moment", async () => {
    const store = memoryCalls();
    const read: (() => void)[] = [];
    store.timesSince = async () => (await new Promise<void>((resolve) => read.push(resolve)), []);
    const rate = createRateLimits({ clock: createFakeClock(), store });
    const both = [1, 2].map(() => rate.take(ada, { calls: 1, perMs: 60_000, durable: true }));
    for (const answer of read) answer();
    expect((await Promise.all(both)).map(({ kind }) => kind)).toEqual(["ok", "wait"]);
  });

  test("count a repeated call id once", async () => {
    const world = toolWorld([tool(async () => says("done"))]);
    world.rules.now = policy({ limits: { echo: { calls: 1, perMs: 60_000 } } });
    for (let again = 0; again < 3; again++)
      expect(await world.call({ text: "x" }, { callId: "same" })).toMatchObject({ kind: "ok" });
  });
});

test("secrets are taken out of a value wherever they stand, and the rest of it stays", () => {
  const scrub = (text: string) => text.replaceAll("hunter2", "[redacted]");
  const value = {
    a: ["hunter2", 1, null],
    apiKey: "abc",
    nested: { password: "x", userToken: "y", token_count: 3 },
    n: true,
  };
  expect(scrubJson(value, scrub)).toEqual({
    a: ["[redacted]", 1, null],
    apiKey: "[redacted]",
    nested: { password: "[redacted]", userToken: "[redacted]", token_count: 3 },
    n: true,
  });
});

describe("a call that is one too many", () => {
  const done = tool(async () => says("done"));

  test("within its limit says how many there may be and when to try again", async () => {
    const world = toolWorld([done]);
    world.rules.now = policy({ limits: { echo: { calls: 1, perMs: 90_000 } } });
    await world.call({ text: "x" });
    await world.clock.advance(30_500);
    expect(await world.call({ text: "x" })).toEqual({
      kind: "refused",
      code: "rate_limited",
      message: "echo allows 1 calls in 90 s. Try again in 60 s, not before.",
      retryAfterMs: 59_500,
    });
  });

  test("among those that wait for the owner says so, and when to try again", async () => {
    const world = toolWorld([tool(async () => says("done"), { approval: true })]);
    world.approvals.answer = "full";
    expect(await world.call({ text: "x" })).toEqual({
      kind: "refused",
      code: "rate_limited",
      message: "echo was not run. Too many calls wait for the owner already.",
      retryAfterMs: 5_000,
    });
  });

  test("among those that run waits for a minute, then says so, and when to try again", async () => {
    const world = toolWorld([done]);
    world.rules.now = policy({ maxTotal: 0 });
    let outcome: unknown = "waits";
    void world.call({ text: "x" }).then((told) => (outcome = told));
    await world.clock.advance(59_999);
    expect(outcome).toBe("waits");
    await world.clock.advance(1);
    await waitFor("the answer", () => outcome !== "waits");
    expect(outcome).toEqual({
      kind: "refused",
      code: "rate_limited",
      message: "Too many tools are running. Call fewer at a time.",
      retryAfterMs: 5_000,
    });
  });
});

describe("calls that other gateways count", () => {
  const LIMIT = { calls: 3, perMs: 60_000 };
  const ANN = { principal: "x:user:1" as Principal, tool: "echo" };

  function shared(earlier: readonly number[] = []) {
    const clock = createFakeClock();
    const told: unknown[] = [];
    let heard: (name: string, count: number, perMs: number) => void = () => undefined;
    const store = memoryCalls();
    let recalls = 0;
    store.timesSince = async () => (recalls++, [...earlier]);
    const countedCalls = {
      tell: (name: string, perMs: number) => void told.push([name, perMs]),
      hear: (listener: typeof heard) => void (heard = listener),
    };
    const rate = createRateLimits({ clock, store, countedCalls });
    const hear = (count: number, name = "x:user:1\necho") => heard(name, count, LIMIT.perMs);
    return { clock, told, hear, rate, recalls: () => recalls };
  }

  test("are told of each call that is let through here, and of none that is not", async () => {
    const { told, rate } = shared();
    for (let call = 0; call < 5; call++) await rate.take(ANN, LIMIT);
    expect(told).toEqual(Array.from({ length: 3 }, () => ["x:user:1\necho", 60_000]));
  });

  test("count here, each of them, for that person and tool alone, until they are old", async () => {
    const { clock, told, hear, rate } = shared();
    hear(2);
    hear(3, "x:user:1\nother");
    expect(await rate.take(ANN, LIMIT)).toEqual({ kind: "ok" });
    await clock.advance(20_000);
    expect(await rate.take(ANN, LIMIT)).toEqual({ kind: "wait", retryAfterMs: 40_000 });
    hear(1);
    await clock.advance(40_000);
    expect([(await rate.take(ANN, LIMIT)).kind, (await rate.take(ANN, LIMIT)).kind]).toEqual(["ok", "ok"]);
    expect(await rate.take(ANN, LIMIT)).toEqual({ kind: "wait", retryAfterMs: 20_000 });
    expect(told).toHaveLength(3);
  });

  test("do not keep this gateway from looking into the record for a limit that outlasts restarts, once", async () => {
    const { clock, hear, rate, recalls } = shared([0, 0]);
    const durable = { ...LIMIT, durable: true };
    hear(1);
    await clock.advance(1);
    await rate.take(ANN, durable);
    await rate.take(ANN, durable);
    expect(recalls()).toBe(1);
  });
});
