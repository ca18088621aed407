/** Whatever becomes of a call, it leaves nothing behind: no timer, no listener, no slot, no id that stays taken. */
import { describe, expect, test } from "bun:test";
import type { ApprovalAnswer } from "../contracts/tools/approval.ts";
import type { ToolAdmission, ToolRequest } from "../contracts/tools/tool.ts";
import { OWNER, policy, says, tool, toolWorld } from "../testing/tools/tool-world.ts";
import { watchedAbort } from "../testing/watched-signal.ts";
import { waitForEnd } from "../testing/wait-for.ts";
import { deferred } from "../kit/deferred.ts";

const SILENT = new Promise<never>(() => undefined);

type World = ReturnType<typeof world>;
interface Ending {
  /** Before the call is made. */
  before?(world: World): void;
  /** While it waits or runs. */
  meanwhile?(world: World, abort: () => void): Promise<void> | void;
  /** What the call asks for; absent: what fits. */
  readonly params?: unknown;
  readonly tool?: string;
}

/** One tool that does what its text says, and one slot in all. */
function world() {
  const made = tool(
    async (...[, params, signal, report]) => {
      const { text } = params as { text: string };
      if (text === "fail") throw new Error("no");
      if (text === "report") report(says("begun"));
      if (text !== "wait") return says("done");
      return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason), { once: true }));
    },
    { flags: { idempotent: true } },
  );
  const background = { ...made, name: "later", flags: { idempotent: true, background: true } };
  const asking = { ...made, name: "asking", approval: true };
  const built = toolWorld([made, background, asking]);
  built.rules.now = policy({ maxTotal: 1, profile: () => "full", approvals: { ask: [], never: ["bash"] } });
  return built;
}

const stop = (_world: World, abort: () => void): void => abort();
const hookWaits = ({ hooks }: World): void => void hooks.on("before_tool_call", () => SILENT, "slow");
const pluginIsReplaced = ({ hooks }: World): void => void (hooks.deciding = () => SILENT);
const rewriteWaits = ({ hooks }: World): void => void hooks.on("tool_result_persist", () => SILENT, "slow");
const ownerThinks = ({ approvals }: World): void => void (approvals.answer = SILENT as Promise<ApprovalAnswer>);
const slotIsTaken = (built: World): void => void built.call({ text: "wait" }, { callId: "holder" });

const CALLS: Readonly<Record<string, Ending>> = {
  answers: {},
  "reports and answers": { params: { text: "report" } },
  fails: { params: { text: "fail" } },
  "takes too long": { params: { text: "wait" }, meanwhile: ({ clock }) => clock.advance(1_000) },
  "is cancelled while it runs": { params: { text: "wait" }, meanwhile: stop },
  "is stopped because rights were lost": {
    params: { text: "wait" },
    meanwhile: ({ rights }) => rights.change({ kind: "lost", because: "unknown_sender", tell: true }),
  },
  "is cancelled before it begins": {},
  "is cancelled while a plugin checks it": { before: hookWaits, meanwhile: stop },
  "is cancelled while a plugin is replaced": { before: pluginIsReplaced, meanwhile: stop },
  "is cancelled while a plugin rewrites its result": { before: rewriteWaits, meanwhile: stop },
  "is cancelled while the owner thinks": { tool: "asking", before: ownerThinks, meanwhile: stop },
  "is cancelled while it waits for a slot": { before: slotIsTaken, meanwhile: stop },
  "waits too long for a slot": {
    before: slotIsTaken,
    meanwhile: ({ clock }) => clock.advance(60_000),
  },
  "is not checked in time": { before: hookWaits, meanwhile: ({ clock }) => clock.advance(15_000) },
  "is denied by the owner": { tool: "asking" },
  "does not fit the schema": { params: {} },
  "names no tool": { tool: "nothing" },
  "may not be used": { before: ({ rules }) => void (rules.now = { ...rules.now, deny: ["echo"] }) },
  "comes too often": {
    before: ({ rules }) => void (rules.now = { ...rules.now, limits: { echo: { calls: 0, perMs: 1_000 } } }),
  },
  "cannot be recorded": { before: ({ store }) => void (store.failing = new Error("disk full")) },
  "cannot be judged again after it got its slot": {
    before: ({ rights }) => {
      let asked = 0;
      const { now } = rights;
      rights.now = (caller) => (++asked === 4 ? Promise.reject(new Error("database locked")) : now(caller));
    },
  },
  "goes on in the background and ends": { tool: "later", params: { text: "report" } },
  "goes on in the background and is stopped": {
    tool: "later",
    params: { text: "wait" },
    meanwhile: async ({ clock, gate }) => {
      await clock.advance(30_000);
      await waitForEnd("the stop", Promise.resolve(gate[Symbol.asyncDispose]()));
    },
  },
};

/** Another call with the same id, and one with another id, are answered: slot and id are free. */
async function isServed(built: World, request: Partial<ToolRequest>): Promise<void> {
  built.hooks.deciding = () => [];
  built.store.failing = null;
  built.approvals.answer = "deny";
  built.rules.now = policy({ maxTotal: 1, profile: () => "full" });
  const next = await built.call({ text: "x" });
  if (built.rights.current === null) expect(next).toEqual({ kind: "ok", result: says("done") });
  expect(await built.call(request.params, request)).not.toMatchObject({ code: "call_conflict" });
}

describe("a call of a gateway tool", () => {
  test.each(Object.entries(CALLS))("that %s leaves no timer, listener, slot or id taken", async (name, ending) => {
    const built = world();
    const caller = watchedAbort();
    if (name === "is cancelled before it begins") caller.abort();
    ending.before?.(built);
    await built.clock.advance(0);
    const request = { tool: ending.tool ?? "echo", callId: "same", params: ending.params ?? { text: "x" } };
    const outcome = built.call(request.params, request, caller.signal);
    await built.clock.advance(0);
    await ending.meanwhile?.(built, caller.abort);
    const ended = await outcome;
    if (name.startsWith("is cancelled")) {
      expect(ended).toMatchObject({ kind: "failed", code: "cancelled" });
      expect(built.log.lines.map(({ words }) => words)).not.toContain("hook failed"); // nobody failed: it was not wanted any more
    }
    if (name.startsWith("cannot be")) expect(ended).toMatchObject({ kind: "failed", code: "tool_failed" });
    if (ending.before === slotIsTaken) await built.clock.advance(1_000); // the holder ends too
    await built.clock.advance(0);
    expect({
      timers: built.clock.pending(),
      listeners: caller.listeners(),
      rights: built.rights.listeners(),
    }).toEqual({ timers: 0, listeners: 0, rights: 0 });
    await isServed(built, request);
  });
});

type PiEnd = "well" | "with an error" | "with a refusal";

const piEnd = (admitted: ToolAdmission, ends: PiEnd): Promise<unknown> => {
  if (admitted.kind !== "go") throw new Error("not admitted");
  if (ends === "with a refusal") return admitted.refused({ kind: "refused", code: "not_allowed", message: "no" });
  return admitted.ended({ isError: ends === "with an error", output: "said" });
};

const PI_CALLS: Readonly<Record<string, Ending & { readonly ends?: PiEnd }>> = {
  "ends well": { ends: "well" },
  "is refused by the agent after all": { ends: "with a refusal" },
  "ends with an error": { ends: "with an error" },
  "is cut off with its turn": { meanwhile: stop },
  "is cancelled while a plugin checks it": { before: hookWaits, meanwhile: stop },
  "is cancelled while a plugin is replaced": { before: pluginIsReplaced, meanwhile: stop },
  "is cancelled while a plugin rewrites its result": { before: rewriteWaits, ends: "well", meanwhile: stop },
  "is cancelled while the owner thinks": {
    before(built) {
      ownerThinks(built);
      built.rules.now = { ...built.rules.now, approvals: { ask: ["read"], never: [] } };
    },
    meanwhile: stop,
  },
  "is denied by the owner": {
    before: ({ rules }) => void (rules.now = { ...rules.now, approvals: { ask: ["read"], never: [] } }),
  },
  "may not be used": { before: ({ rules }) => void (rules.now = { ...rules.now, deny: ["read"] }) },
  "is not one of the agent's tools": { tool: "nothing" },
  "cannot be recorded": { before: ({ store }) => void (store.failing = new Error("disk full")) },
};

describe("a call of a pi tool", () => {
  test.each(Object.entries(PI_CALLS))("that %s leaves no timer, listener or id taken", async (_name, ending) => {
    const built = world();
    const caller = watchedAbort();
    ending.before?.(built);
    const params = { path: "a.txt" };
    const request = { tool: ending.tool ?? "read", callId: "same", params, path: "pi", context: OWNER } as const;
    const admission = built.gate.admit(request, caller.signal);
    await built.clock.advance(0);
    if (ending.ends === undefined) await ending.meanwhile?.(built, caller.abort);
    const admitted = await waitForEnd("the admission", admission);
    if (ending.ends !== undefined) {
      const ended = piEnd(admitted, ending.ends);
      await built.clock.advance(0);
      await ending.meanwhile?.(built, caller.abort);
      await waitForEnd("the recorded end", ended);
    }
    await built.clock.advance(0);
    expect({ timers: built.clock.pending(), listeners: caller.listeners() }).toEqual({ timers: 0, listeners: 0 });
    expect(built.rows.every(({ end }) => end !== null)).toBe(true);
    await isServed(built, { tool: request.tool, callId: "same", params });
  });

  test("holds its id while it runs: neither the agent nor a program gets a second call under it", async () => {
    const built = world();
    const request = { tool: "read", callId: "same", params: { path: "a" }, path: "pi", context: OWNER } as const;
    const never = new AbortController().signal;
    const admitted = await built.gate.admit(request, never);
    expect(await built.gate.admit(request, never)).toMatchObject({ kind: "refused", code: "call_conflict" });
    expect(await built.call(request.params, { ...request, path: "pipe" })).toMatchObject({ code: "call_conflict" });
    expect(built.rows.map(({ end }) => end?.status ?? "open")).toEqual(["open", "error", "error"]);
    if (admitted.kind === "go") await admitted.ended({ isError: false, output: "said" });
    await built.clock.advance(0);
    expect(await built.call(request.params, { ...request, path: "pipe" })).toEqual({
      kind: "ok",
      result: says("said"),
    });
  });

  test("keeps its id until its end is on record", async () => {
    const built = world();
    const request = { tool: "read", callId: "same", params: { path: "a" }, path: "pi", context: OWNER } as const;
    const written = Promise.withResolvers<void>();
    const { settle } = built.store;
    built.store.settle = async (...end) => (await written.promise, settle(...end));
    const admitted = await built.gate.admit(request, new AbortController().signal);
    if (admitted.kind === "go") await admitted.ended({ isError: false, output: "said" });
    expect(await built.call(request.params, { ...request, path: "pipe" })).toMatchObject({ code: "call_conflict" });
    written.resolve();
    await built.clock.advance(0);
    expect(await built.call(request.params, { ...request, path: "pipe" })).toMatchObject({ kind: "ok" });
  });

  test("that was cut off has one end on record, and what pi says about it later changes nothing", async () => {
    const built = world();
    const turn = new AbortController();
    const request = { tool: "read", callId: "same", params: { path: "a" }, path: "pi", context: OWNER } as const;
    const told: unknown[] = [];
    built.events.on("tool_execution_end", ({ status, error }) => void told.push([status, error]));
    const admitted = await built.gate.admit(request, turn.signal);
    turn.abort(new Error("stopped"));
    await built.clock.advance(0);
    const message = "The turn ended before the tool said how it went.";
    expect(built.last()?.end).toMatchObject({ status: "error", output: message });
    if (admitted.kind === "go") await admitted.ended({ isError: false, output: "late" });
    expect([built.last()?.end?.output, told]).toEqual([message, [["error", message]]]);
  });

  test("that was cut off has one end, also when its agent refuses it later", async () => {
    const built = world();
    const turn = new AbortController();
    const request = { tool: "read", callId: "same", params: { path: "a" }, path: "pi", context: OWNER } as const;
    const told: unknown[] = [];
    built.events.on("tool_execution_end", ({ status }) => void told.push(status));
    const admitted = await built.gate.admit(request, turn.signal);
    turn.abort(new Error("stopped"));
    await piEnd(admitted, "with a refusal");
    expect([built.rows.length, told]).toEqual([1, ["error"]]);
  });

  test("is over for its agent when a refusal of it is on record, and not before", async () => {
    const built = world();
    const request = { tool: "read", callId: "same", params: { path: "a" }, path: "pi", context: OWNER } as const;
    const written = deferred<void>();
    const { settle } = built.store;
    built.store.settle = async (...end) => (await written.promise, settle(...end));
    const admitted = await built.gate.admit(request, new AbortController().signal);
    let over = false;
    const refused = piEnd(admitted, "with a refusal").then(() => (over = true));
    await built.clock.advance(0);
    expect(over).toBe(false);
    expect(await built.call(request.params, { ...request, path: "pipe" })).toMatchObject({ code: "call_conflict" });
    written.resolve();
    await waitForEnd("the refusal", refused);
  });

  test("is never one of the background, and its id is not told again to its agent", async () => {
    const built = world();
    const request = { tool: "read", callId: "same", params: { path: "a" }, path: "pi", context: OWNER } as const;
    const told: unknown[] = [];
    built.events.on("tool_execution_end", ({ background }) => void told.push(background));
    const never = new AbortController().signal;
    await piEnd(await built.gate.admit(request, never), "well");
    await built.clock.advance(0);
    expect([told, built.ended]).toEqual([[false], []]);
    expect(await built.gate.admit(request, never)).toMatchObject({ kind: "refused", code: "call_conflict" });
  });

  test("that cannot be recorded is not run, and the log says why", async () => {
    const built = world();
    built.store.failing = new Error("disk full");
    const request = { tool: "read", callId: "same", params: { path: "a" }, path: "pi", context: OWNER } as const;
    const admitted = await built.gate.admit(request, new AbortController().signal);
    expect(admitted).toMatchObject({ kind: "failed", code: "tool_failed" });
    expect(built.log.lines).toContainEqual(
      expect.objectContaining({
        words: "tool call could not be recorded",
        fields: expect.objectContaining({ tool: "read" }),
      }),
    );
  });

  test("of a name that nobody has is refused with the beginning of that name", async () => {
    const built = world();
    const name = "n".repeat(10_000);
    const request = { tool: name, callId: "same", params: {}, path: "pi", context: OWNER } as const;
    const refused = await built.gate.admit(request, new AbortController().signal);
    expect(refused).toMatchObject({ message: `${"n".repeat(64)} is not one of this agent's tools.` });
  });

  test("tells of its progress at a pace, and of none after its end", async () => {
    const built = world();
    const request = { tool: "read", callId: "same", params: { path: "a" }, path: "pi", context: OWNER } as const;
    const told: number[] = [];
    built.events.on("tool_execution_update", ({ chars }) => void told.push(chars));
    const admitted = await built.gate.admit(request, new AbortController().signal);
    if (admitted.kind !== "go") throw new Error("not admitted");
    for (const chars of [1, 2]) admitted.updated(chars);
    await built.clock.advance(99);
    admitted.updated(3);
    await built.clock.advance(1);
    admitted.updated(4);
    await built.clock.advance(100);
    await admitted.ended({ isError: false, output: "said" });
    admitted.updated(5);
    expect(told).toEqual([1, 4]);
  });
});
