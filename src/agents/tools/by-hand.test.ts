/** Calls of pi tools, offers and tokens beside a gate and a process that a test plays by hand: each call ends once, and nothing is kept. */
import { describe, expect, test } from "bun:test";
import { symlink, unlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { ToolAdmission, ToolContext, ToolGate, ToolRefusal } from "../../contracts/tools/tool.ts";
import type { Caller } from "../../contracts/agent.ts";
import type { SessionKey } from "../../contracts/ids.ts";
import { toolSpec } from "../../testing/agent-fixture.ts";
import { createFakeClock } from "../../testing/fake-clock.ts";
import { keptPerRound } from "../../testing/memory-growth.ts";
import { recordingLog } from "../../testing/recording-log.ts";
import { createSeqIds } from "../../testing/seq-ids.ts";
import { tempHome } from "../../testing/temp-home.ts";
import { OWNER } from "../../testing/tools/tool-world.ts";
import { waitForEnd } from "../../testing/wait-for.ts";
import type { AgentProcess } from "../process/process.ts";
import { createAgentTokens } from "./agent-tokens.ts";
import { createOffering } from "./offering.ts";
import { createPiToolCalls } from "./pi-tool-calls.ts";
import { createUnaskedCalls } from "./unasked-calls.ts";

const NEVER = new AbortController().signal;

async function calls(over: { admit?: ToolGate["admit"]; ended?: () => Promise<{ kept: null }> } = {}) {
  const home = await tempHome();
  const log = recordingLog();
  const ends: unknown[] = [];
  const updates: number[] = [];
  const signals: AbortSignal[] = [];
  const going = (params: unknown): ToolAdmission => ({
    kind: "go",
    params,
    checksKept: false,
    updated: (chars: number) => void updates.push(chars),
    refused: async ({ message }: ToolRefusal) => void ends.push({ isError: true, output: message }),
    ended: over.ended ?? (async (end: unknown) => (ends.push(end), { kept: null })),
  });
  const admit: ToolGate["admit"] = async ({ params }, signal) => (signals.push(signal), going(params));
  const own = createPiToolCalls(
    { log, tools: { admit: over.admit ?? admit }, left: { toolBegins: () => undefined } },
    { workspace: home.path, readable: [], writable: [], asks: [] },
  );
  const call = (callId: string, params: unknown = { command: "id" }, tool = "bash") => ({ tool, callId, params });
  return {
    own,
    admit,
    call,
    log,
    ends,
    updates,
    signals,
    home: home.path,
    [Symbol.asyncDispose]: () => home[Symbol.asyncDispose](),
  };
}

describe("a call of a pi tool", () => {
  test("is judged with the signal of its turn, tells its progress while it runs, and ends once", async () => {
    await using at = await calls();
    const { signal } = new AbortController();
    expect(await at.own.admit(at.call("c1"), OWNER, signal)).toMatchObject({ ok: true });
    at.own.updated("c1", 5);
    const end = { isError: false, output: "done" };
    for (let times = 0; times < 2; times++) await at.own.ended("c1", end);
    at.own.updated("c1", 6);
    at.own.endAll();
    expect([at.signals[0] === signal, at.updates, at.ends]).toEqual([true, [5], [end]]);
  });

  test("is refused when its path leads to another file than while it was judged", async () => {
    const judged: (string | null | undefined)[] = [];
    const moves: { now?: () => Promise<void> } = {};
    await using at = await calls({
      async admit({ params, file }, signal) {
        judged.push(file?.(params));
        await moves.now?.();
        return at.admit({ params } as never, signal);
      },
    });
    const [one, other, link] = ["one.txt", "other.txt", "link"].map((name) => join(at.home, name));
    for (const file of [one, other]) await writeFile(file ?? "", "x");
    await symlink(one ?? "", link ?? "");
    expect(await at.own.admit(at.call("c1", { path: "link" }, "read"), OWNER, NEVER)).toMatchObject({ ok: true });
    moves.now = async () => {
      await unlink(link ?? "");
      await symlink(other ?? "", link ?? "");
    };
    const moved = await at.own.admit(at.call("c2", { path: "link" }, "read"), OWNER, NEVER);
    expect([moved.ok, judged]).toEqual([false, [one, one]]);
    expect(JSON.stringify([moved, at.ends])).toContain("leads to another file");
  });

  test("that the end of its turn cuts off has an end on record, and each of several has its own", async () => {
    await using at = await calls();
    for (const id of ["c1", "c2"]) await at.own.admit(at.call(id), OWNER, NEVER);
    at.own.endAll();
    at.own.endAll();
    expect(at.ends).toEqual(
      Array.from({ length: 2 }, () => ({ isError: true, output: expect.stringContaining("turn ended") })),
    );
  });

  test("whose turn ended while it was judged is not run, and has an end on record", async () => {
    await using at = await calls();
    const turn = AbortSignal.abort(new Error("stopped"));
    expect(await at.own.admit(at.call("c1"), OWNER, turn)).toMatchObject({
      ok: false,
      text: expect.stringContaining("cancelled"),
    });
    at.own.endAll();
    expect(at.ends).toHaveLength(1);
  });

  test("that leads out of the workspace is not run, and has an end on record", async () => {
    await using at = await calls();
    const verdict = await at.own.admit(at.call("c1", { path: "/etc/hosts" }, "read"), OWNER, NEVER);
    expect(verdict).toMatchObject({ ok: false, text: expect.stringContaining("outside of the workspace") });
    at.own.endAll();
    expect(at.ends).toHaveLength(1);
  });

  test("that cannot be judged is not run, and one whose end cannot be recorded ends all the same", async () => {
    await using broken = await calls({ admit: () => Promise.reject(new Error("disk full")) });
    expect(await broken.own.admit(broken.call("c1"), OWNER, NEVER)).toMatchObject({
      ok: false,
      text: expect.stringContaining("not run"),
    });
    await using at = await calls({ ended: () => Promise.reject(new Error("disk full")) });
    await at.own.admit(at.call("c1"), OWNER, NEVER);
    expect(await at.own.ended("c1", { isError: false, output: "done" })).toBeNull();
    expect(at.log.lines.map(({ words }) => words)).toEqual(["end of a tool call could not be recorded"]);
  });

  test("leaves nothing in memory when it has ended", async () => {
    await using at = await calls();
    const kept = await keptPerRound(async (round) => {
      await at.own.admit(at.call(`call ${round}`), OWNER, NEVER);
      await at.own.ended(`call ${round}`, { isError: false, output: "done" });
      for (const list of [at.ends, at.signals]) list.length = 0;
    });
    expect(kept).toEqual({});
  });
});

test("a call that pi refused itself leaves one row, and nothing when its turn is over", () => {
  const rows: unknown[] = [];
  const unasked = createUnaskedCalls(
    { tools: { recordRejected: (row) => void rows.push(row), specs: () => [] } },
    { bridge: "live", names: () => ["read"] },
  );
  const end = { isError: true, output: "Tool reed not found" };
  unasked.began({ callId: "c1", tool: "reed", input: {} });
  expect(unasked.ended("c1", end, OWNER)).toContain("Did you mean read?");
  expect([unasked.ended("c1", end, OWNER), rows.length, unasked.refusalOf("c1") !== null]).toEqual([null, 1, true]);
  unasked.began({ callId: "c2", tool: "read", input: {} });
  unasked.take("c2"); // the gateway is asked about it
  expect([unasked.ended("c2", end, OWNER), rows.length]).toEqual([null, 1]);
  unasked.began({ callId: "c3", tool: "read", input: {} });
  unasked.clear();
  expect([unasked.ended("c3", end, OWNER), unasked.refusalOf("c1"), rows.length]).toEqual([null, null, 1]);
});

test("a token speaks for the session that its process serves now, and for nobody after it was revoked", () => {
  const hidden: string[] = [];
  const tokens = createAgentTokens({
    ids: createSeqIds(),
    hide: () => (hidden.push("hidden"), { [Symbol.dispose]: () => void hidden.push("shown") }),
  });
  const token = tokens.issue();
  const value = token.secret.reveal();
  expect([tokens.known(value), tokens.resolve(value)]).toEqual([true, null]);
  token.serve(OWNER);
  expect(tokens.resolve(value)).toBe(OWNER);
  token.serve(null);
  expect(tokens.resolve(value)).toBeNull();
  token.serve(OWNER);
  token[Symbol.dispose]();
  token.serve(OWNER);
  expect([tokens.known(value), tokens.resolve(value), hidden]).toEqual([false, null, ["hidden", "shown"]]);
});

function offering() {
  const clock = createFakeClock();
  const log = recordingLog();
  const ended = Promise.withResolvers<never>();
  const listeners = new Set<(sessionKey: SessionKey | null) => void>();
  const sent: string[][] = [];
  let extensionFailed = (_error: string): void => undefined;
  const state = { tools: ["a"], answer: (_signal: AbortSignal): Promise<unknown> => Promise.resolve({ ok: true }) };
  const process = {
    pid: 1,
    ended: ended.promise,
    onExtensionError: (listener: (error: string) => void) => {
      extensionFailed = listener;
    },
    onEnded: (listener: (how: never) => void) => (
      void ended.promise.then(listener),
      { [Symbol.dispose]: () => undefined }
    ),
    request: (order: { body: { names: string[] } }, signal: AbortSignal) => (
      sent.push(order.body.names),
      state.answer(signal)
    ),
  } as unknown as AgentProcess;
  const tools = {
    offered: async () => state.tools.map(toolSpec),
    onChange: (listener: (sessionKey: SessionKey | null) => void) => (
      listeners.add(listener),
      { [Symbol.dispose]: () => void listeners.delete(listener) }
    ),
  } as unknown as ToolGate;
  const made = createOffering({ clock, log, tools }, process, {
    order: (body) => ({ body }) as never,
    own: () => [],
    has: () => true,
    live: true,
  });
  const changeIn = (sessionKey: SessionKey | null, ...names: string[]): void => {
    state.tools = names;
    for (const listener of listeners) listener(sessionKey);
  };
  const change = (...names: string[]): void => changeIn(null, ...names);
  const fail = (error: string): void => extensionFailed(error);
  return { clock, log, listeners, sent, state, made, change, changeIn, fail, end: () => ended.resolve({} as never) };
}

describe("the tools of a process", () => {
  const caller: Caller & ToolContext = OWNER;

  test("follow changes while a turn is served, one list after the other, and wait for the next turn otherwise", async () => {
    const at = offering();
    await at.made.push(caller, NEVER).taken;
    at.change("a", "b");
    await at.clock.advance(0);
    expect(at.sent).toEqual([["a"]]); // nobody is served
    at.made.follow(caller);
    await at.clock.advance(0);
    at.change("a", "b", "c");
    await waitForEnd("the list", at.made.settled());
    expect(at.sent).toEqual([["a"], ["a", "b"], ["a", "b", "c"]]);
    at.made.follow(null);
    at.change("a");
    await at.clock.advance(0);
    expect(at.sent).toHaveLength(3);
  });

  test("follow a change of the session that is served, and of no other", async () => {
    const at = offering();
    await at.made.push(caller, NEVER).taken;
    at.made.follow(caller);
    at.changeIn("agent:default:webchat:dm:other" as SessionKey, "a", "b");
    await at.made.settled();
    expect(at.sent).toEqual([["a"]]);
    at.changeIn(caller.sessionKey, "a", "c");
    await at.made.settled();
    expect([at.sent, at.made.names()]).toEqual([
      [["a"], ["a", "c"]],
      ["a", "c"],
    ]);
  });

  test("that the bridge does not take in time are an error, and end with the signal of the caller too", async () => {
    const late = offering();
    late.state.answer = (signal) =>
      new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason), { once: true }));
    const push = late.made.push(caller, NEVER).taken;
    push.catch(() => undefined);
    await late.clock.advance(10_000);
    await expect(waitForEnd("the push", push)).rejects.toMatchObject({ code: "agent_unavailable" });
    const turn = new AbortController();
    const second = late.made.push(caller, turn.signal).taken;
    second.catch(() => undefined);
    await late.clock.advance(0);
    turn.abort(new Error("stopped"));
    await expect(waitForEnd("the push", second)).rejects.toThrow("stopped");
    expect(late.clock.pending()).toBe(0);
  });

  test("are refused for an error that comes while they are taken, and for none that came before", async () => {
    const at = offering();
    at.fail("an extension failed in an earlier turn");
    await at.made.push(caller, NEVER).taken;
    at.state.answer = async () => (at.fail("no such tool"), { ok: true });
    at.state.tools = ["a", "b"];
    await expect(at.made.push(caller, NEVER).taken).rejects.toMatchObject({ code: "agent_unavailable" });
    at.state.answer = async () => ({ ok: true });
    await at.made.push(caller, NEVER).taken;
    expect(at.sent).toEqual([["a"], ["a", "b"], ["a", "b"]]);
  });

  test("are not listened to any more when the process has ended", async () => {
    const at = offering();
    expect(at.listeners.size).toBe(1);
    at.end();
    await at.clock.advance(0);
    expect(at.listeners.size).toBe(0);
  });
});

test("a call of a tool that has to be searched for is refused with the way to it; of one that there is not, with the search", () => {
  const usable = [toolSpec("read_mail"), toolSpec("tool_search")];
  const unasked = createUnaskedCalls(
    { tools: { recordRejected: () => undefined, specs: () => usable } },
    { bridge: "live", names: () => ["tool_search"] },
  );
  const refusal = (tool: string): string | null => {
    unasked.began({ callId: tool, tool, input: {} });
    return unasked.ended(tool, { isError: true, output: `Tool ${tool} not found` }, OWNER);
  };
  expect(refusal("read_mail")).toContain('Call tool_search with \\"read_mail\\", then call it again.');
  expect(refusal("paint")).toContain("The tools are: tool_search. tool_search finds more.");
});
