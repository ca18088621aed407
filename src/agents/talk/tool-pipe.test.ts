/** Who a tool call acts for, and what happens to calls that belong to nobody. */
import { describe, expect, test } from "bun:test";
import type { ToolContext, ToolGate, ToolRequest, RejectedCall } from "../../contracts/tools/tool.ts";
import { systemClock } from "../../kit/clock.ts";
import { deferred } from "../../kit/deferred.ts";
import { caller, okResult, toolSpec } from "../../testing/agent-fixture.ts";
import { recordingLog } from "../../testing/recording-log.ts";
import { unhandledIn } from "../../testing/unhandled.ts";
import type { AgentProcess } from "../process/process.ts";
import type { AskingDeps } from "./asking.ts";
import type { Fields } from "./protocol.ts";
import { createToolPipe } from "./tool-pipe.ts";
import type { Dialog } from "../process/wire.ts";

const never = new AbortController().signal;

function fixture(
  call: ToolGate["call"] = async () => okResult("done"),
  { checksKept = false, questions }: { checksKept?: boolean; questions?: AskingDeps["questions"] } = {},
) {
  const log = recordingLog();
  const requests: ToolRequest[] = [];
  const away: RejectedCall[] = [];
  const orders: string[] = [];
  const looks: string[] = [];
  const answers = new Map<string, ReturnType<typeof deferred<Fields>>>();
  let ask: (dialog: Dialog) => void = () => undefined;
  let bridgeFails: (error: string) => void = () => undefined;
  let broken: string | null = null;
  let held: Promise<void> | null = null;
  const listeners = new Set<(sessionKey: null) => void>();
  const ends: { isError: boolean; output: string }[] = [];
  const answerTo = (id: string) => {
    const found = answers.get(id) ?? deferred<Fields>();
    answers.set(id, found);
    return found;
  };
  const process: AgentProcess = {
    pid: 1,
    identity: null,
    memoryBytes: () => null,
    processorSeconds: () => 0,
    program: () => null,
    family: () => [],
    ended: new Promise(() => undefined),
    onEnded: () => ({ [Symbol.dispose]: () => undefined }),
    stop: async () => undefined,
    leftRunning() {
      looks.push("before");
      return [];
    },
    async endLeftRunning() {
      looks.push("after");
      return [];
    },
    async request(command) {
      orders.push(String(command.message));
      await held;
      if (broken !== null) bridgeFails(broken);
      return { ok: true, data: {} };
    },
    send: (record) => answerTo(String(record.id)).resolve(record),
    onEvent: () => ({ [Symbol.dispose]: () => undefined }),
    onDialog: (servant) => {
      ask = servant;
    },
    onNote: () => undefined,
    onExtensionError: (listener) => {
      bridgeFails = listener;
    },
  };
  const gate: ToolGate & { tools: ReturnType<typeof toolSpec>[] } = {
    tools: [toolSpec("one")],
    specs: () => gate.tools,
    offered: async () => gate.tools,
    onChange(listener) {
      listeners.add(listener);
      return { [Symbol.dispose]: () => void listeners.delete(listener) };
    },
    admit: async ({ params }) => ({
      kind: "go",
      params,
      checksKept,
      updated: () => undefined,
      refused: async () => undefined,
      async ended(end) {
        ends.push(end);
        return { kept: checksKept ? `kept of ${end.output}` : null };
      },
    }),
    recordRejected: (one) => void away.push(one),
    call(request, signal) {
      requests.push(request);
      return call(request, signal);
    },
  };
  const pipe = createToolPipe({ clock: systemClock, log, tools: gate, ...(questions ? { questions } : {}) }, process, {
    token: null,
    suffix: "suffix",
    bridge: "live",
    profile: "chat",
    room: { workspace: "/nowhere", readable: [], writable: [], asks: [] },
  });
  return {
    pipe,
    log,
    gate,
    requests,
    away,
    orders,
    looks,
    ends,
    /** Changes the tools; pi takes its time to hear of it. */
    change(until: Promise<void>) {
      held = until;
      gate.tools = [...gate.tools, toolSpec(`more_${gate.tools.length}`)];
      for (const listener of listeners) listener(null);
    },
    dialog: (dialog: Dialog) => ask(dialog),
    answered: (id: string) => answerTo(id).promise,
    breakBridge: (error: string) => {
      broken = error;
    },
    async call(id: string, body: unknown, title = "pi-gateway:tool_call") {
      ask({ id, title, body: typeof body === "string" ? body : JSON.stringify(body) });
      const { value, cancelled } = await answerTo(id).promise;
      return cancelled === true ? "cancelled" : JSON.parse(String(value));
    },
  };
}

const context = (principal: string): ToolContext => ({
  ...caller(principal),
  stats: () => Promise.reject(new Error("not here")),
});
const call = (callId: string) => ({ tool: "one", callId, params: { a: 1 } });

describe("a tool call", () => {
  test("acts for the one whose lease is open, whatever it says itself", async () => {
    const fx = fixture();
    fx.pipe.serve(context("web:user:1"));
    await fx.call("a", { ...call("c1"), principal: "operator", sessionKey: "someone-else" });
    fx.pipe.serve(context("web:user:2"));
    await fx.call("b", call("c2"));
    expect(fx.requests.map(({ context: { principal } }) => principal as string)).toEqual(["web:user:1", "web:user:2"]);
    expect(fx.requests[0]?.params).toEqual({ a: 1 });
  });

  test("outside a lease is refused", async () => {
    const fx = fixture();
    expect(await fx.call("a", call("c1"))).toMatchObject({
      ok: false,
      text: expect.stringContaining("outside of a conversation turn"),
    });
    fx.pipe.serve(context("operator"));
    fx.pipe.serve(null);
    expect(await fx.call("b", call("c1"))).toMatchObject({ ok: false });
    expect(fx.requests).toEqual([]);
    expect(fx.away).toMatchObject([
      { ...call("c1"), context: null, path: "pipe", reason: "outside_turn" },
      { ...call("c1"), context: null, path: "pipe", reason: "outside_turn" },
    ]);
  });

  test("that goes on in the background is answered with its envelope, and is no error", async () => {
    const fx = fixture(async () => ({ kind: "pending", code: "background", message: "digging" }));
    fx.pipe.serve(context("operator"));
    const { ok, content } = await fx.call("a", call("c1"));
    expect([ok, JSON.parse(content[0].text)]).toMatchObject([true, { status: "pending", tool: "one" }]);
  });

  test("that cannot be read is refused", async () => {
    const fx = fixture();
    fx.pipe.serve(context("operator"));
    for (const [id, body] of ["not json", "[]", '{"tool":"one"}', '{"tool":5,"callId":"c"}'].entries()) {
      expect(await fx.call(String(id), body)).toEqual({
        ok: false,
        text: expect.stringMatching(/^\{"status":"error","tool":"unknown","error":"The call could not be read\./),
      });
    }
    expect(fx.away.length).toBe(4);
    expect(fx.away[0]).toMatchObject({
      reason: "unreadable",
      params: { chars: 8, begins: "not json" },
      context: { principal: "operator" },
    });
  });

  test("with the id of a running one is refused", async () => {
    const fx = fixture(() => new Promise(() => undefined));
    fx.pipe.serve(context("operator"));
    void fx.call("a", call("c1"));
    expect(await fx.call("b", call("c1"))).toMatchObject({
      ok: false,
      text: expect.stringContaining("running already"),
    });
    expect(fx.away).toMatchObject([{ ...call("c1"), reason: "id_taken", context: { principal: "operator" } }]);
  });

  test("that is one too many is refused", async () => {
    const fx = fixture(() => new Promise(() => undefined));
    fx.pipe.serve(context("operator"));
    for (let at = 0; at < 64; at++) void fx.call(`d${at}`, call(`c${at}`));
    expect(await fx.call("last", call("c64"))).toMatchObject({ ok: false, text: expect.stringContaining("Too many") });
    expect(fx.away).toMatchObject([{ ...call("c64"), reason: "too_many" }]);
  });

  test("that the agent refuses itself is told to the gate, one that it asks for is not", async () => {
    const fx = fixture();
    fx.pipe.serve(context("operator"));
    const refused = { isError: true, output: "Tool bash not found" };
    fx.pipe.began({ callId: "c1", tool: "one", input: { a: 1 } });
    await fx.call("a", call("c1"));
    fx.pipe.ended("c1", { isError: true, output: "it failed" });
    fx.pipe.began({ callId: "c2", tool: "bash", input: { command: "id" } });
    fx.pipe.ended("c2", refused);
    fx.pipe.ended("c2", refused);
    fx.pipe.began({ callId: "c3", tool: "bash", input: {} });
    fx.pipe.serve(context("web:user:2"));
    fx.pipe.ended("c3", refused); // of a turn that is over
    expect(fx.away).toMatchObject([
      {
        tool: "bash",
        callId: "c2",
        params: { command: "id" },
        path: "pi",
        reason: "refused_by_agent",
        context: { principal: "operator" },
        because: "The agent did not make this call: Tool bash not found",
      },
    ]);
  });

  test("is cancelled when the turn is over, and when the agent no longer waits", async () => {
    const stopped: string[] = [];
    const fx = fixture((request, signal) => {
      signal.addEventListener("abort", () => stopped.push(request.callId));
      return new Promise(() => undefined);
    });
    fx.pipe.serve(context("operator"));
    void fx.call("a", call("c1"));
    void fx.call("b", call("c2"));
    fx.pipe.ended("c1", { isError: true, output: "" });
    expect(stopped).toEqual(["c1"]);
    fx.pipe.serve(null);
    expect(stopped).toEqual(["c1", "c2"]);
  });

  test("hears of a stop at once, without pi; pi is not told how it ended, and no call begins until the turn is over", async () => {
    const stopped: string[] = [];
    const fx = fixture((request, signal) => {
      const { promise, resolve } = Promise.withResolvers<ReturnType<typeof okResult>>();
      if (request.callId === "later") resolve(okResult("done"));
      signal.addEventListener("abort", () => (stopped.push(request.callId), resolve(okResult("too late"))));
      return promise;
    });
    const turn = new AbortController();
    let said = false;
    fx.pipe.serve(context("operator"));
    void fx.call("a", call("c1")).then(() => (said = true));
    fx.pipe.stopCalls(turn.signal);
    expect(stopped).toEqual(["c1"]);
    void fx.call("b", call("c2")).then(() => (said = true));
    await new Promise(setImmediate);
    expect([said, fx.requests.length]).toEqual([false, 1]);
    expect(fx.away).toMatchObject([{ callId: "c2", reason: "outside_turn" }]);
    turn.abort();
    expect(await fx.call("c", call("later"))).toMatchObject({ ok: true });
  });

  test("to a gate that breaks its promise is answered all the same", async () => {
    const fx = fixture(() => Promise.reject(new Error("a bug")));
    fx.pipe.serve(context("operator"));
    const envelope = { status: "error", tool: "one", error: "The tool failed inside the gateway." };
    expect(await fx.call("a", call("c1"))).toEqual({ ok: false, text: JSON.stringify(envelope) });
  });

  test("of another kind finds nobody to ask", async () => {
    const fx = fixture();
    fx.pipe.serve(context("operator"));
    expect(await fx.call("a", "Delete everything?", "Confirm")).toBe("cancelled");
  });

  test("reports its progress to the agent", async () => {
    const fx = fixture(async ({ onUpdate }) => {
      onUpdate?.({ content: [{ type: "text", text: "half way" }] });
      return okResult("done");
    });
    fx.pipe.serve(context("operator"));
    await fx.call("a", call("c1"));
    expect(fx.orders).toEqual(['/gw-suffix {"kind":"progress","callId":"c1","text":"half way"}']);
  });
});

describe("the text that is kept in the place of a result,", () => {
  const ADMIT = "pi-gateway:tool_admit";
  const RESULT = "pi-gateway:tool_result";

  test.each([
    ["of a result", { kind: "ok", result: { content: [{ type: "text", text: "real" }] }, kept: "other" }, "other"],
    [
      "of an error",
      { kind: "failed", code: "tool_failed", message: "real", kept: "other" },
      '{"status":"error","tool":"one","error":"other"}',
    ],
  ] as const)(
    "%s of a gateway tool, is told to the agent beside it, and shown to people",
    async (_what, outcome, kept) => {
      const fx = fixture(async () => outcome);
      fx.pipe.serve(context("operator"));
      const answer = await fx.call("a", call("c1"));
      expect(JSON.stringify(answer)).toContain("real");
      expect(answer).toMatchObject({ kept });
      expect(fx.pipe.ended("c1", { isError: false, output: "real" })).toBe(kept);
      fx.pipe.serve(context("operator"));
      expect(fx.pipe.ended("c1", { isError: false, output: "of another turn" })).toBeNull();
    },
  );

  test("of a pi tool, is a sentence until a plugin has looked at the result, and then the plugin's text", async () => {
    const fx = fixture(undefined, { checksKept: true });
    fx.pipe.serve(context("operator"));
    const unchecked = "[withheld: the gateway could not check what to keep of this result]";
    for (const id of ["c1", "c2"])
      expect(await fx.call(id, { tool: "bash", callId: id, params: {} }, ADMIT)).toMatchObject({ kept: unchecked });
    const told = await fx.call("r", { callId: "c1", isError: false, output: "real" }, RESULT);
    expect(told).toEqual({ ok: true, kept: "kept of real" });
    expect(fx.pipe.ended("c1", { isError: false, output: "real" })).toBe("kept of real");
    expect(fx.pipe.ended("c2", { isError: true, output: "real" })).toBe(unchecked); // pi was stopped before it asked
  });

  test("is nothing while no plugin looks at results", async () => {
    const fx = fixture();
    fx.pipe.serve(context("operator"));
    expect(await fx.call("a", { tool: "bash", callId: "c1", params: {} }, ADMIT)).toMatchObject({ kept: null });
    expect(fx.pipe.ended("c1", { isError: true, output: "real" })).toBeNull();
  });
});

/** More than may run at once. */
const MANY_CALLS = 70;

describe("a call of pi tools", () => {
  const ADMIT = "pi-gateway:tool_admit";
  test("gets the end that pi tells, once, or the one of its turn", async () => {
    const fx = fixture();
    fx.pipe.serve(context("operator"));
    for (const id of ["c1", "c2", "c3"]) await fx.call(id, { tool: "bash", callId: id, params: {} }, ADMIT);
    await fx.call("r", { callId: "c1", isError: false, output: "told" }, "pi-gateway:tool_result");
    fx.pipe.ended("c1", { isError: true, output: "told again" });
    fx.pipe.ended("c2", { isError: true, output: "noticed" });
    fx.pipe.serve(null);
    expect(fx.ends).toEqual([
      { isError: false, output: "told" },
      { isError: true, output: "noticed" },
      { isError: true, output: "The turn ended before this call did." },
    ]);
    fx.pipe.serve(context("operator"));
    fx.pipe.ended("c3", { isError: false, output: "told after the turn" });
    fx.pipe.serve(null);
    expect(fx.ends).toHaveLength(3);
  });

  test.each([
    ["of pi tools", ADMIT],
    ["of the gateway's tools", "pi-gateway:tool_call"],
  ])(
    "%s takes a place only while it runs: a turn may make any number of them, one after the other",
    async (_of, title) => {
      const fx = fixture();
      fx.pipe.serve(context("operator"));
      const answers: unknown[] = [];
      for (let at = 0; at < MANY_CALLS; at++) answers.push((await fx.call(`d${at}`, call(`c${at}`), title)).ok);
      expect(answers.filter((ok) => ok !== true)).toEqual([]);
    },
  );

  test("that pi no longer waits for gives its place back, also when its tool goes on", async () => {
    const fx = fixture(() => new Promise(() => undefined));
    fx.pipe.serve(context("operator"));
    for (let at = 0; at < MANY_CALLS; at++) {
      void fx.call(`d${at}`, call(`c${at}`));
      fx.pipe.ended(`c${at}`, { isError: true, output: "given up" });
    }
    await new Promise<void>((resolve) => setImmediate(resolve));
    expect([fx.requests.length, fx.away.length]).toEqual([MANY_CALLS, 0]);
  });

  test("makes the turn look for what was left running, once; a turn without one does not look", async () => {
    const fx = fixture();
    fx.pipe.serve(context("operator"));
    await fx.call("a", call("c1"));
    await fx.pipe.endLeftRunning();
    expect(fx.looks).toEqual([]);
    for (const id of ["c2", "c3"]) await fx.call(id, { tool: "bash", callId: id, params: {} }, ADMIT);
    await fx.pipe.endLeftRunning();
    await fx.pipe.endLeftRunning();
    expect(fx.looks).toEqual(["before", "after"]);
  });

  test("outside a lease is refused", async () => {
    const fx = fixture();
    expect(await fx.call("a", { tool: "bash", callId: "c1", params: {} }, ADMIT)).toMatchObject({ ok: false });
  });
});

describe("the list of tools", () => {
  test("reaches the agent before the answer of the call that changed it", async () => {
    const taken = deferred<void>();
    const fx = fixture(async () => {
      fx.change(taken.promise);
      return okResult("done");
    });
    fx.pipe.serve(context("operator"));
    let answered = false;
    void fx.answered("a").then(() => {
      answered = true;
    });
    const answer = fx.call("a", call("c1"));
    await new Promise<void>((resolve) => setImmediate(resolve));
    expect([fx.orders.length, answered]).toEqual([1, false]);
    taken.resolve();
    expect(await answer).toMatchObject({ ok: true });
  });

  test("is sent when it has changed, and only then", async () => {
    const fx = fixture();
    await fx.pipe.push(null, never).taken;
    await fx.pipe.push(null, never).taken;
    fx.gate.tools = [toolSpec("two")];
    await fx.pipe.push(null, never).taken;
    expect(fx.orders.length).toBe(2);
  });

  test("that the bridge refuses is an error, although pi says yes", async () => {
    const fx = fixture();
    fx.breakBridge("bad schema");
    const outcome = await fx.pipe.push(null, never).taken.then(String, String);
    expect(outcome).toContain("the bridge refused the tools: bad schema");
  });
});

test("a dialog whose answer fails inside the gateway is answered as cancelled: the agent does not wait, and nothing is left unhandled", async () => {
  const questions = { ask: () => Promise.reject(new Error("disk full")), tell: async () => undefined };
  const at = fixture(undefined, { questions });
  at.pipe.serve(context("webchat:1"));
  const unhandled = await unhandledIn(async () => {
    at.dialog({ id: "d1", title: "Sure?", body: "", asks: { kind: "confirm", title: "Sure?" } });
    expect(await at.answered("d1")).toMatchObject({ id: "d1", cancelled: true });
  });
  expect([unhandled, at.log.lines.map(({ words }) => words)]).toEqual([
    [],
    ["a dialog of an agent could not be answered"],
  ]);
});
