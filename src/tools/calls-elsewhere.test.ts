/** A call whose id is in use at another gateway: how long it is waited for, what is told meanwhile, and how each end of it is told here. On a clock of its own. */
import { expect, test } from "bun:test";
import type { EarlierCall } from "../contracts/store/tool-calls.ts";
import type { Tool } from "../contracts/tools/tool.ts";
import { memoryCalls, policy, PROGRAM, says, tool, toolWorld } from "../testing/tools/tool-world.ts";
import { waitForEnd } from "../testing/wait-for.ts";
import { paramsHash } from "./stages/params-hash.ts";

const TEXT = { text: "x" };
/** Time is moved by hand, so each answer is there at once. */
const ANSWER_MS = 5_000;
const RUNS: EarlierCall = {
  tool: "echo",
  paramsHash: paramsHash("echo", TEXT),
  status: "running",
  idempotent: false,
  output: "",
  reply: null,
  elsewhere: true,
};

/** A gate whose store tells `earlier.now` about every call id. */
function gateBeside(first: EarlierCall | null, over: Partial<Tool> = {}) {
  const looks: number[] = [];
  const earlier = { now: first };
  const store = memoryCalls();
  store.earlier = async () => {
    looks.push(world.clock.elapsed());
    return earlier.now;
  };
  let runs = 0;
  const world = toolWorld([tool(async () => (runs++, says("by this one")), over)], { store });
  const call = (path: "http" | "command", signal = new AbortController().signal) => {
    const asked = { tool: "echo", callId: "same", params: TEXT, context: PROGRAM, path } as const;
    const told = waitForEnd("the answer to the call", world.gate.call(asked, signal), { withinMs: ANSWER_MS });
    return told;
  };
  return { world, store, earlier, looks, call, ran: () => runs };
}

test("a call that runs elsewhere is looked for after pauses that grow up to a second, until its end is written", async () => {
  const { world, earlier, looks, call, ran } = gateBeside(RUNS);
  const begun = world.clock.elapsed();
  const told = call("command");
  await world.clock.advance(4_549);
  expect(looks.map((at) => at - begun)).toEqual([0, 50, 150, 350, 750, 1_550, 2_550, 3_550]);
  earlier.now = { ...RUNS, status: "success", output: "by the other one" };
  await world.clock.advance(1);
  expect(await told).toEqual({ kind: "ok", result: says("by the other one") });
  expect([ran(), world.clock.pending()]).toEqual([0, 0]);
});

test("whoever has waited for half a minute is told that the call goes on elsewhere, and not before", async () => {
  const { world, call, ran } = gateBeside(RUNS);
  let told: unknown = null;
  void call("command").then((outcome) => (told = outcome));
  await world.clock.advance(29_999);
  expect(told).toBeNull();
  await world.clock.advance(1_001);
  expect(told).toEqual({
    kind: "pending",
    code: "background",
    message:
      "echo goes on at another gateway, where it was called with this id. Call it with the same id again to get its result.",
  });
  expect(ran()).toBe(0);
});

test("a program is told at once that its call waits for the owner elsewhere, and a person waits", async () => {
  const waits: EarlierCall = { ...RUNS, status: "pending" };
  const asked = gateBeside(waits);
  expect(await asked.call("http")).toEqual({
    kind: "pending",
    code: "approval_pending",
    message: "echo waits for the owner's approval: it was called with this id at another gateway.",
  });
  const patient = gateBeside(waits);
  let told: unknown = null;
  const leaving = new AbortController();
  const left = patient.call("command", leaving.signal).then((outcome) => (told = outcome));
  await patient.world.clock.advance(1_000);
  expect(told).toBeNull();
  leaving.abort(new Error("gone")); // nothing is left waiting
  await left;
});

test("whoever leaves a call that runs elsewhere is told that it goes on there, and nothing is looked for any more", async () => {
  const { world, looks, call } = gateBeside(RUNS);
  const leaving = new AbortController();
  const told = call("command", leaving.signal);
  await world.clock.advance(60);
  leaving.abort(new Error("gone"));
  expect(await told).toEqual({
    kind: "failed",
    code: "cancelled",
    message: "The call was cancelled. Another gateway goes on with it.",
  });
  const before = looks.length;
  await world.clock.advance(10_000);
  expect([looks.length - before, world.clock.pending()]).toEqual([0, 0]);
});

test.each<[what: string, earlier: EarlierCall | null, told: object, runs: number]>([
  ["there is none", null, { kind: "ok", result: says("by this one") }, 1],
  ["it is another call", { ...RUNS, paramsHash: "other" }, { kind: "refused", code: "call_conflict" }, 0],
  ["it ended with an error", { ...RUNS, status: "error", output: "no luck" }, { code: "tool_failed" }, 0],
  ["it is not known how it ended", { ...RUNS, status: "unknown" }, { code: "outcome_unknown" }, 0],
  ["it may run again", { ...RUNS, status: "unknown", idempotent: true }, { kind: "ok" }, 1],
  ["this gateway stopped in the middle of it", { ...RUNS, elsewhere: false }, { code: "outcome_unknown" }, 0],
])("a call id that was used before is judged at once when %s", async (_what, earlier, told, runs) => {
  const { world, looks, call, ran } = gateBeside(earlier);
  expect(await call("command")).toMatchObject(told);
  expect([looks.length, ran(), world.clock.pending()]).toEqual([1, runs, 0]);
});

test.each([false, true])(
  "a call whose id another gateway takes in the same moment is not run here, asked about before: %p, and its result is told",
  async (approval) => {
    const { world, store, earlier, call, ran } = gateBeside(null, { approval });
    world.rules.now = policy({ maxTotal: 1 });
    world.approvals.answer = "once";
    const { intend } = store;
    store.intend = async () => {
      earlier.now = RUNS; // the row of the other one was first
      return false;
    };
    const told = call("command");
    await world.clock.advance(60);
    expect([ran(), world.approvals.asked.length, world.rows.length]).toEqual([0, 0, 0]);
    earlier.now = { ...RUNS, status: "success", output: "by the other one" };
    await world.clock.advance(1_000);
    expect(await told).toEqual({ kind: "ok", result: says("by the other one") });
    [earlier.now, store.intend] = [null, intend];
    expect(await call("command")).toMatchObject({ kind: "ok", result: says("by this one") }); // the one place is free again
    expect(ran()).toBe(1);
  },
);

test("a row that cannot be written is no reason to look again: nothing is run, and the caller is told", async () => {
  const { store, looks, call, ran } = gateBeside(null);
  store.intend = () => Promise.reject(new Error("the disk is full"));
  expect(await call("command")).toMatchObject({ kind: "failed", message: expect.stringContaining("could not record") });
  expect([looks.length, ran()]).toEqual([1, 0]);
});
