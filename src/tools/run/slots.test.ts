/** A sequential slot is free again however its call ended, also while other calls of its session run. */
import { expect, test } from "bun:test";
import { createFakeClock } from "../../testing/fake-clock.ts";
import { says, SESSION, tool, toolWorld } from "../../testing/tools/tool-world.ts";
import { MAX_BACKGROUND } from "./run-call.ts";
import type { SessionKey } from "../../contracts/ids.ts";
import { waitForEnd } from "../../testing/wait-for.ts";
import { createSlots, SLOT_WAIT_MS } from "./slots.ts";

const ENDS = [
  "answers",
  "fails",
  "throws at once",
  "takes too long",
  "is cancelled",
  "is refused after its slot",
] as const;

test.each(ENDS)("a sequential call that %s leaves its slot to the next one of its session", async (end) => {
  const ran: string[] = [];
  const hanging = (signal: AbortSignal) =>
    new Promise<never>((_, reject) => signal.addEventListener("abort", () => reject(signal.reason), { once: true }));
  const one = tool(
    (callId, _params, signal) => {
      ran.push(callId);
      if (callId !== "first" || end === "answers") return Promise.resolve(says("done"));
      if (end === "throws at once") throw new Error("no");
      return end === "fails" ? Promise.reject(new Error("no")) : hanging(signal);
    },
    { name: "one_by_one", flags: { idempotent: true, sequential: true } },
  );
  const beside = tool((_id, _params, signal) => hanging(signal), { name: "beside", timeoutMs: 100_000 });
  const world = toolWorld([one, beside]);
  const stop = new AbortController();
  const other = world.call({ text: "x" }, { tool: "beside" }, stop.signal); // keeps the session's slots in use
  await world.clock.advance(0);
  const cancel = new AbortController();
  if (end === "is refused after its slot") world.store.failing = new Error("disk full");
  const first = world.call({ text: "x" }, { tool: "one_by_one", callId: "first" }, cancel.signal);
  await world.clock.advance(0);
  if (end === "is cancelled") cancel.abort();
  if (end === "takes too long") await world.clock.advance(2_000);
  if (end !== "answers") expect((await first).kind).toBe("failed");
  world.store.failing = null;
  const second = world.call({ text: "x" }, { tool: "one_by_one", callId: "second" });
  await world.clock.advance(0);
  expect(ran.at(-1)).toBe("second");
  expect(await second).toMatchObject({ kind: "ok" });
  stop.abort();
  await other;
});

test.each(["is cancelled", "waits too long"])(
  "a call that %s before it gets a slot takes none, and the next slot is free",
  async (end) => {
    const clock = createFakeClock();
    const slots = createSlots(clock, () => ({ maxPerSession: 1, maxTotal: 1 }));
    const [never, cancel] = [new AbortController().signal, new AbortController()];
    const first = await slots.take(SESSION, { sequential: false }, never);
    const gone = slots.take(SESSION, { sequential: false }, cancel.signal).catch(() => null);
    if (end === "is cancelled") cancel.abort(new Error("the turn is over"));
    else await clock.advance(SLOT_WAIT_MS);
    expect(await waitForEnd("the end of the wait", gone)).toBeNull();
    first?.[Symbol.dispose]();
    expect(slots.running()).toBe(0);
  },
);

test("a call that is cancelled in the moment in which it gets its slot does not take the wait of another one away", async () => {
  const slots = createSlots(createFakeClock(), () => ({ maxPerSession: 1, maxTotal: 1 }));
  const [never, cancel] = [new AbortController().signal, new AbortController()];
  const first = await slots.take(SESSION, { sequential: false }, never);
  const second = slots.take(SESSION, { sequential: false }, cancel.signal);
  const third = slots.take(SESSION, { sequential: false }, never);
  first?.[Symbol.dispose](); // the second one has its slot now
  cancel.abort(new Error("the turn is over"));
  (await waitForEnd("the second slot", second))?.[Symbol.dispose]();
  (await waitForEnd("the third slot", third))?.[Symbol.dispose]();
  expect(slots.running()).toBe(0);
});

test("a call that gives up its wait leaves the waits of others as they are, in their order", async () => {
  const slots = createSlots(createFakeClock(), () => ({ maxPerSession: 1, maxTotal: 1 }));
  const [never, cancel] = [new AbortController().signal, new AbortController()];
  const first = await slots.take(SESSION, { sequential: false }, never);
  const served: string[] = [];
  const wait = (name: string, signal: AbortSignal) =>
    slots.take(SESSION, { sequential: false }, signal).then((slot) => (served.push(name), slot));
  const left = wait("left", cancel.signal).catch(() => null);
  const others = [wait("second", never), wait("third", never)];
  cancel.abort(new Error("the turn is over"));
  expect(await left).toBeNull();
  first?.[Symbol.dispose]();
  for (const other of others) (await waitForEnd("a slot", other))?.[Symbol.dispose]();
  expect([served, slots.running()]).toEqual([["second", "third"], 0]);
});

test("a slot that is given back twice frees one slot", async () => {
  const slots = createSlots(createFakeClock(), () => ({ maxPerSession: 4, maxTotal: 4 }));
  const never = new AbortController().signal;
  const [first] = [
    await waitForEnd("a slot", slots.take(SESSION, { sequential: false }, never)),
    await waitForEnd("a sequential slot", slots.take(SESSION, { sequential: true }, never)),
  ];
  for (let times = 0; times < 2; times++) first?.[Symbol.dispose]();
  expect(slots.running()).toBe(1);
  const waits = slots
    .take(SESSION, { sequential: true }, AbortSignal.abort(new Error("at once")))
    .catch(() => "waited");
  expect(await waitForEnd("the end of the wait", waits)).toBe("waited"); // the sequential one still runs
});

test("beside a sequential call others of its session run, and a second sequential one waits for it", async () => {
  const slots = createSlots(createFakeClock(), () => ({ maxPerSession: 4, maxTotal: 4 }));
  const take = (sequential: boolean) =>
    waitForEnd("a slot", slots.take(SESSION, { sequential }, new AbortController().signal));
  const first = await take(true);
  const second = take(true);
  await take(false);
  expect(slots.running()).toBe(2);
  first?.[Symbol.dispose]();
  await second;
  expect(slots.running()).toBe(2);
});

test("so many calls of a session may wait for a slot, and no more", async () => {
  const clock = createFakeClock();
  const slots = createSlots(clock, () => ({ maxPerSession: 1, maxTotal: 8 }));
  const stop = new AbortController();
  await slots.take(SESSION, { sequential: false }, stop.signal);
  const waiting = Array.from({ length: 256 }, () =>
    slots.take(SESSION, { sequential: false }, stop.signal).catch(() => "stopped"),
  );
  expect(await waitForEnd("the answer", slots.take(SESSION, { sequential: false }, stop.signal))).toBeNull();
  const another = "agent:default:webchat:dm:2" as SessionKey;
  const other = await slots.take(another, { sequential: false }, stop.signal);
  expect(other).not.toBeNull();
  const behind = slots.take(another, { sequential: false }, stop.signal); // waits for its own session alone
  other?.[Symbol.dispose]();
  expect(await waitForEnd("the slot of another session", behind)).not.toBeNull();
  stop.abort(new Error("stopped"));
  expect(new Set(await Promise.all(waiting))).toEqual(new Set(["stopped"]));
});

test("as many tools as the limit says run in the background, and one more is refused until one has ended", async () => {
  const ends: (() => void)[] = [];
  const world = toolWorld([
    tool(
      async (...[, , , report]) => {
        report(says("begun"));
        await new Promise<void>((resolve) => ends.push(resolve));
        return says("done");
      },
      { flags: { idempotent: true, background: true }, timeoutMs: 3_000_000 },
    ),
  ]);
  for (let n = 0; n < MAX_BACKGROUND; n++) expect((await world.call({ text: "x" })).kind).toBe("pending");
  expect(await world.call({ text: "x" })).toMatchObject({ kind: "refused", code: "rate_limited" });
  expect(world.last()?.end?.status).toBe("blocked");
  ends[0]?.();
  await world.clock.advance(0);
  expect((await world.call({ text: "x" })).kind).toBe("pending");
});

test("background tools that have ended leave room for others, however many there were", async () => {
  const world = toolWorld([
    tool(
      async (...[, , , report]) => {
        report(says("begun"));
        await Promise.resolve();
        return says("done");
      },
      { flags: { idempotent: true, background: true } },
    ),
  ]);
  for (let n = 0; n <= MAX_BACKGROUND; n++) {
    expect([n, (await world.call({ text: "x" })).kind]).toEqual([n, "pending"]);
    await world.clock.advance(0);
  }
  expect(world.ended).toHaveLength(MAX_BACKGROUND + 1);
});
