/** Who a tool call acts for, and what happens to calls that belong to nobody. */
import { describe, expect, test } from "bun:test";
import type { ToolContext, ToolGate, ToolRequest } from "../../contracts/tool.ts";
import { systemClock } from "../../kit/clock.ts";
import { deferred } from "../../kit/deferred.ts";
import { caller, okResult, toolSpec } from "../../testing/agent-fixture.ts";
import { recordingLog } from "../../testing/recording-log.ts";
import type { AgentProcess } from "../process/process.ts";
import type { Fields } from "./protocol.ts";
import { createToolPipe } from "./tool-pipe.ts";
import type { Dialog } from "../process/wire.ts";

const never = new AbortController().signal;

function fixture(call: ToolGate["call"] = async () => okResult("done")) {
  const requests: ToolRequest[] = [];
  const orders: string[] = [];
  const answers = new Map<string, ReturnType<typeof deferred<Fields>>>();
  let ask: (dialog: Dialog) => void = () => undefined;
  let bridgeFails: (error: string) => void = () => undefined;
  let broken: string | null = null;
  const answerTo = (id: string) => {
    const found = answers.get(id) ?? deferred<Fields>();
    answers.set(id, found);
    return found;
  };
  const process: AgentProcess = {
    pid: 1,
    identity: null,
    ended: new Promise(() => undefined),
    onEnded: () => ({ [Symbol.dispose]: () => undefined }),
    stop: async () => undefined,
    async request(command) {
      orders.push(String(command.message));
      if (broken !== null) bridgeFails(broken);
      return { ok: true, data: {} };
    },
    send: (record) => answerTo(String(record.id)).resolve(record),
    onEvent: () => ({ [Symbol.dispose]: () => undefined }),
    onDialog: (servant) => {
      ask = servant;
    },
    onExtensionError: (listener) => {
      bridgeFails = listener;
    },
  };
  const gate: ToolGate & { tools: ReturnType<typeof toolSpec>[] } = {
    tools: [toolSpec("one")],
    specs: () => gate.tools,
    call(request, signal) {
      requests.push(request);
      return call(request, signal);
    },
  };
  const pipe = createToolPipe({ clock: systemClock, log: recordingLog(), tools: gate }, process, "suffix");
  return {
    pipe,
    gate,
    requests,
    orders,
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
  });

  test("that cannot be read is refused", async () => {
    const fx = fixture();
    fx.pipe.serve(context("operator"));
    for (const [id, body] of ["not json", "[]", '{"tool":"one"}', '{"tool":5,"callId":"c"}'].entries()) {
      expect(await fx.call(String(id), body)).toEqual({ ok: false, text: "The call could not be read." });
    }
  });

  test("with the id of a running one is refused", async () => {
    const fx = fixture(() => new Promise(() => undefined));
    fx.pipe.serve(context("operator"));
    void fx.call("a", call("c1"));
    expect(await fx.call("b", call("c1"))).toMatchObject({
      ok: false,
      text: expect.stringContaining("running already"),
    });
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
    fx.pipe.ended("c1");
    expect(stopped).toEqual(["c1"]);
    fx.pipe.serve(null);
    expect(stopped).toEqual(["c1", "c2"]);
  });

  test("to a gate that breaks its promise is answered all the same", async () => {
    const fx = fixture(() => Promise.reject(new Error("a bug")));
    fx.pipe.serve(context("operator"));
    expect(await fx.call("a", call("c1"))).toEqual({ ok: false, text: "The tool failed inside the gateway." });
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

describe("the list of tools", () => {
  test("is sent when it has changed, and only then", async () => {
    const fx = fixture();
    await fx.pipe.push(never);
    await fx.pipe.push(never);
    fx.gate.tools = [toolSpec("two")];
    await fx.pipe.push(never);
    expect(fx.orders.length).toBe(2);
  });

  test("that the bridge refuses is an error, although pi says yes", async () => {
    const fx = fixture();
    fx.breakBridge("bad schema");
    const outcome = await fx.pipe.push(never).then(String, String);
    expect(outcome).toContain("the bridge refused the tools: bad schema");
  });
});
