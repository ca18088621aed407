/** The order of a call's steps: written down before anybody is told or asked, checked again after every wait, and stopped in good order. */
import { describe, expect, test } from "bun:test";
import type { Caller } from "../contracts/agent.ts";
import type { ToolResult } from "../contracts/tools/tool.ts";
import { NO_MASK } from "../kit/secret.ts";
import { MEMBER, OWNER, policy, says, tool, toolWorld } from "../testing/tools/tool-world.ts";
import { waitForEnd } from "../testing/wait-for.ts";

const echo = tool(async (_id, params) => says((params as { text: string }).text));
const NEVER = new AbortController().signal;
const READ = { tool: "read", callId: "r1", params: { path: "a" }, path: "pi", context: OWNER } as const;
const GONE = { kind: "lost", because: "unknown_sender", tell: true } as const;

/** Whether a promise has settled by now. */
async function isOpen(world: ReturnType<typeof toolWorld>, promise: Promise<unknown>): Promise<boolean> {
  let open = true;
  void promise.then(() => (open = false));
  await world.clock.advance(0);
  return open;
}

describe("a row is written first", () => {
  test.each(["call", "admit"] as const)("a refusal of %s is told after its row is on the disk", async (way) => {
    const world = toolWorld([echo]);
    world.rules.now = policy({ deny: ["echo", "read"], profile: () => "full" });
    const disk = Promise.withResolvers<void>();
    const { refuse } = world.store;
    world.store.refuse = async (...row) => (await disk.promise, refuse(...row));
    const answer = way === "call" ? world.call({ text: "x" }) : world.gate.admit(READ, NEVER);
    expect(await isOpen(world, answer)).toBe(true);
    disk.resolve();
    expect(await answer).toMatchObject({ kind: "refused" });
  });

  test("a pi tool that is not the agent's is refused after its row is on the disk", async () => {
    const world = toolWorld([echo]);
    const disk = Promise.withResolvers<void>();
    const { refuse } = world.store;
    world.store.refuse = async (...row) => (await disk.promise, refuse(...row));
    const answer = world.gate.admit({ ...READ, tool: "nothing" }, NEVER);
    expect(await isOpen(world, answer)).toBe(true);
    disk.resolve();
    expect(await answer).toMatchObject({ kind: "refused" });
  });

  test("a pi tool is admitted after its row is on the disk", async () => {
    const world = toolWorld([]);
    world.rules.now = policy({ profile: () => "full" });
    const disk = Promise.withResolvers<void>();
    const { intend } = world.store;
    world.store.intend = async (...row) => (await disk.promise, intend(...row));
    const answer = world.gate.admit(READ, NEVER);
    expect(await isOpen(world, answer)).toBe(true);
    disk.resolve();
    expect(await answer).toMatchObject({ kind: "go" });
  });

  test("the owner is asked about a call after its row is on the disk, and not at all when there is none", async () => {
    const world = toolWorld([{ ...echo, approval: true }]);
    world.store.failing = new Error("disk full");
    expect(await world.call({ text: "x" })).toMatchObject({ kind: "failed", code: "tool_failed" });
    expect(world.approvals.asked).toEqual([]);
  });

  test("a call with a taken id and other parameters leaves a row while the first one runs", async () => {
    const end = Promise.withResolvers<ToolResult>();
    const world = toolWorld([tool(() => end.promise)]);
    const first = world.call({ text: "x" }, { callId: "same" });
    await world.clock.advance(0);
    expect(await world.call({ text: "y" }, { callId: "same" })).toMatchObject({ code: "call_conflict" });
    expect(world.rows.map(({ intent, end: ended }) => [intent.input, ended?.status ?? "open"])).toEqual([
      [{ text: "x" }, "open"],
      [{ text: "y" }, "error"],
    ]);
    end.resolve(says("done"));
    await first;
  });
});

describe("a caller without rights", () => {
  test("is refused before a tool is made for it", async () => {
    const made: Caller[] = [];
    const world = toolWorld([(caller) => (made.push(caller), echo)]);
    made.length = 0;
    world.rights.current = GONE;
    expect(await world.call({ text: "x" })).toMatchObject({ kind: "refused" });
    expect(made).toEqual([]);
  });

  test("is refused before the profile of a pi tool is looked up for it", async () => {
    const world = toolWorld([]);
    const asked: unknown[] = [];
    world.rules.now = policy({ profile: (...of) => (asked.push(of), "full") });
    world.rights.current = GONE;
    expect(await world.gate.admit(READ, NEVER)).toMatchObject({ kind: "refused" });
    expect(asked).toEqual([]);
  });

  test("is refused before plugins are asked about the call, and after they were asked", async () => {
    const asked: string[] = [];
    const world = toolWorld([echo]);
    world.hooks.on("before_tool_call", ({ callId }) => void asked.push(callId), "curious");
    world.rules.now = policy({ deny: ["echo"] });
    expect(await world.call({ text: "x" })).toMatchObject({ code: "not_allowed" });
    expect(asked).toEqual([]);
  });

  test("gets parameters that are too large refused before plugins read them, and after they wrote them", async () => {
    const read: number[] = [];
    const large = "x".repeat(300_000);
    const world = toolWorld([echo]);
    world.hooks.on("before_tool_call", ({ params }) => void read.push(JSON.stringify(params).length), "reader");
    const refusal = { code: "invalid_params", message: expect.stringContaining("larger than") };
    expect(await world.call({ text: large })).toMatchObject(refusal);
    expect(read).toEqual([]);
    world.hooks.on("before_tool_call", () => ({ params: { text: large } }), "writer");
    expect(await world.call({ text: "x" })).toMatchObject(refusal);
    expect(await world.gate.admit({ ...READ, params: { path: large } }, NEVER)).toMatchObject({ kind: "refused" });
  });
});

test("a plugin without an opinion about a result leaves it as it is", async () => {
  for (const answer of [undefined, null, {}, { output: undefined }]) {
    const world = toolWorld([echo]);
    world.hooks.on("tool_result_persist", () => answer as never, "indifferent");
    expect(await world.call({ text: "hi" })).toEqual({ kind: "ok", result: says("hi") });
  }
});

test("a step that fails for another reason than a cancellation is no cancellation", async () => {
  const world = toolWorld([echo]);
  let asked = 0;
  world.rights.now = async ({ role }) => {
    if (++asked === 2) throw new Error("database locked");
    return { kind: "held", role };
  };
  expect(await world.call({ text: "x" })).toMatchObject({
    code: "tool_failed",
    message: expect.stringContaining("record"),
  });
  expect(world.log.lines.map(({ words }) => words)).toContain("tool call could not be recorded");
});

test("a call whose row has no end, and that nothing runs here, is not run again, whatever tool it is", async () => {
  const world = toolWorld([{ ...echo, flags: { idempotent: true } }]);
  await world.call({ text: "x" }, { callId: "same" });
  const row = world.last();
  if (row) row.end = null;
  expect(await world.call({ text: "x" }, { callId: "same" })).toMatchObject({ code: "outcome_unknown" });
});

test("a pi tool is written down with whether it may run again after a crash", async () => {
  const world = toolWorld([]);
  world.rules.now = policy({ profile: () => "full", approvals: { ask: [], never: ["bash"] } });
  const names = ["read", "grep", "find", "ls", "write", "edit", "bash"];
  for (const name of names) await world.gate.admit({ ...READ, tool: name, callId: name }, NEVER);
  expect(world.rows.map(({ intent }) => intent.idempotent)).toEqual([true, true, true, true, false, false, false]);
});

test("details of a result reach people without secrets, and reach them", async () => {
  const world = toolWorld([tool(async () => ({ ...says("hi"), details: { n: 1 } }))], { mask: NO_MASK });
  const result = { ...says("hi"), details: { n: 1 } };
  expect(await world.call({ text: "x" }, { path: "http" })).toEqual({ kind: "ok", result });
});

test("a pi tool takes no slot of the gateway's tools", async () => {
  const world = toolWorld([echo]);
  world.rules.now = policy({ maxTotal: 1, maxPerSession: 1, profile: () => "full" });
  for (const callId of ["a", "b", "c"])
    expect(await waitForEnd("the admission", world.gate.admit({ ...READ, callId }, NEVER))).toMatchObject({
      kind: "go",
    });
  expect(await world.call({ text: "x" })).toMatchObject({ kind: "ok" });
});

test("a caller that left hears no more of a call that others wait for, and the others do", async () => {
  const report = Promise.withResolvers<(partial: ToolResult) => void>();
  const end = Promise.withResolvers<ToolResult>();
  const world = toolWorld([tool((...[, , , tell]) => (report.resolve(tell), end.promise))]);
  const heard: string[] = [];
  const [leaves, stays] = [new AbortController(), new AbortController()];
  const first = world.call({ text: "x" }, { callId: "c", onUpdate: () => void heard.push("left") }, leaves.signal);
  const second = world.call({ text: "x" }, { callId: "c", onUpdate: () => void heard.push("stays") }, stays.signal);
  const tell = await report.promise;
  leaves.abort();
  await first;
  tell(says("half"));
  expect(heard).toEqual(["stays"]);
  end.resolve(says("done"));
  expect(await second).toMatchObject({ kind: "ok" });
});

test("a tool that a factory makes for members alone is found by its exact name beside one that is spelled alike", async () => {
  const ran: string[] = [];
  const named = (name: string) => tool(async () => (ran.push(name), says("done")), { name });
  const world = toolWorld([named("read_file"), ({ role }) => (role === "member" ? named("readFile") : null)]);
  expect(await world.call({ text: "x" }, { tool: "readFile", context: MEMBER })).toMatchObject({ kind: "ok" });
  expect(await world.call({ text: "x" }, { tool: "readFile" })).toMatchObject({ kind: "ok" });
  expect(ran).toEqual(["readFile", "read_file"]);
});

describe("a gate", () => {
  test("says that its tools changed when tools or settings did, and to nobody who does not listen any more", () => {
    const world = toolWorld([echo]);
    let told = 0;
    const listening = world.gate.onChange(() => void told++);
    const change = (): void => {
      world.registry.register({ ...echo, name: `other_${told}` }, "test");
      world.events.emit("status", { what: "config" } as never);
    };
    world.events.emit("status", { what: "channel" } as never);
    expect(told).toBe(0);
    change();
    expect(told).toBe(2);
    listening[Symbol.dispose]();
    change();
    expect(told).toBe(2);
  });

  test("describes a tool once, and anew when a tool takes one of its other spellings", () => {
    const world = toolWorld([tool(async () => says(""), { name: "send_message" })]);
    const spec = (): unknown => world.gate.specs(OWNER)[0];
    const first = spec();
    expect([first, spec() === first]).toEqual([expect.objectContaining({ otherNames: ["sendMessage"] }), true]);
    world.registry.register(
      tool(async () => says(""), { name: "sendMessage" }),
      "test",
    );
    const second = spec();
    expect([(second as { otherNames?: unknown }).otherNames, spec() === second]).toEqual([undefined, true]);
  });

  test("that stops waits until refused calls are on record", async () => {
    const world = toolWorld([echo]);
    const disk = Promise.withResolvers<void>();
    const { refuse } = world.store;
    world.store.refuse = async (...row) => (await disk.promise, refuse(...row));
    const refusal = { reason: "outside_turn", because: "There is no turn." } as const;
    world.gate.recordRejected({ tool: "echo", callId: "c", params: {}, path: "pipe", context: OWNER, ...refusal });
    const stopped = Promise.resolve(world.gate[Symbol.asyncDispose]());
    expect(await isOpen(world, stopped)).toBe(true);
    disk.resolve();
    await waitForEnd("the stop", stopped);
    world.gate.recordRejected({ tool: "echo", callId: "c", params: {}, path: "pipe", context: OWNER, ...refusal });
    await world.clock.advance(0);
    expect(world.rows).toHaveLength(1); // nothing is written after the stop
  });
});
