/** A sequential slot is free again however its call ended, also while other calls of its session run. */
import { expect, test } from "bun:test";
import { createFakeClock } from "../../testing/fake-clock.ts";
import { says, SESSION, tool, toolWorld } from "../../testing/tools/tool-world.ts";
import { MAX_BACKGROUND } from "./run-call.ts";
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
    expect(await gone).toBeNull();
    first?.[Symbol.dispose]();
    expect(slots.running()).toBe(0);
  },
);

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
