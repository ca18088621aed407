import { describe, expect, test } from "bun:test";
import type { AgentId, Principal, SessionKey, TurnId } from "../contracts/ids.ts";
import type { ToolCallStore, ToolIntent } from "../contracts/store.ts";
import type { Tool, ToolContext, ToolRequest } from "../contracts/tools/tool.ts";
import { createFakeClock } from "../testing/fake-clock.ts";
import { recordingLog } from "../testing/recording-log.ts";
import { createSeqIds } from "../testing/seq-ids.ts";
import { createToolGate } from "./gate.ts";
import { createToolRegistry } from "./registry.ts";

const context: ToolContext = {
  sessionKey: "agent:default:webchat:dm:1" as SessionKey,
  turnId: "turn_1" as TurnId,
  agentId: "default" as AgentId,
  principal: "operator" as Principal,
  role: "owner",
  origin: { channel: "webchat", account: "default", chat: "1" },
  stats: async () => ({
    model: "fake/one",
    thinking: "off",
    messages: 15,
    toolCalls: 1,
    inputTokens: 85_000,
    outputTokens: 12,
    costUsd: 0.1234,
    contextPercent: 42.3,
    contextWindow: 200_000,
  }),
};
const signal = new AbortController().signal;

function tool(execute: Tool["execute"], overrides: Partial<Tool> = {}): Tool {
  const parameters = {
    type: "object",
    properties: { text: { type: "string" } },
    required: ["text"],
    additionalProperties: false,
  };
  return {
    name: "echo",
    label: "Echo",
    description: "Echo",
    parameters,
    flags: { idempotent: false },
    timeoutMs: 1_000,
    execute,
    ...overrides,
  };
}

function fixture(tools: readonly Tool[], intend?: ToolCallStore["intend"]) {
  const clock = createFakeClock();
  const rows: { intent: ToolIntent; end: Parameters<ToolCallStore["settle"]>[1] | null }[] = [];
  const store: ToolCallStore = {
    intend: intend ?? (async (intent) => void rows.push({ intent, end: null })),
    async settle(id, end) {
      const row = rows.find(({ intent }) => intent.id === id);
      if (row) row.end = end;
    },
  };
  const gate = createToolGate({
    clock,
    ids: createSeqIds(),
    log: recordingLog(),
    store,
    registry: createToolRegistry(tools),
  });
  const call = (params: unknown, request: Partial<ToolRequest> = {}, until = signal) =>
    gate.call({ tool: "echo", callId: "c1", params, context, path: "pipe", ...request }, until);
  return { clock, rows, gate, call };
}

describe("the tool gate", () => {
  test("writes the row before the tool runs and its end afterwards", async () => {
    const seen: string[] = [];
    const { rows, call } = fixture([
      tool(async (_id, params) => {
        seen.push(`rows before: ${rows.length}, ended: ${rows[0]?.end !== null}`);
        return { content: [{ type: "text", text: (params as { text: string }).text }] };
      }),
    ]);
    expect(await call({ text: "hi" })).toEqual({ kind: "ok", result: { content: [{ type: "text", text: "hi" }] } });
    expect(seen).toEqual(["rows before: 1, ended: false"]);
    expect(rows[0]?.end).toMatchObject({ status: "success", output: "hi" });
  });

  test("does not run a tool whose row cannot be written", async () => {
    let ran = false;
    const echo = tool(async () => {
      ran = true;
      return { content: [] };
    });
    const { call } = fixture([echo], () => Promise.reject(new Error("disk full")));
    expect(await call({ text: "hi" })).toMatchObject({ kind: "failed", code: "tool_failed" });
    expect(ran).toBe(false);
  });

  test("refuses what does not fit the schema in words a model can act on, and leaves a row", async () => {
    const { rows, call } = fixture([tool(async () => ({ content: [] }))]);
    const outcome = await call({ txt: 1 });
    expect(outcome).toMatchObject({ kind: "refused", code: "invalid_params" });
    expect(outcome.kind === "refused" && outcome.message).toContain("text");
    expect(rows[0]?.end?.status).toBe("blocked");
  });

  test.each(["nope", "__proto__", "constructor", "toString"])(
    "refuses the unknown tool %s and names the ones there are",
    async (name) => {
      const { rows, call } = fixture([tool(async () => ({ content: [] }))]);
      expect(await call({}, { tool: name })).toEqual({
        kind: "refused",
        code: "unknown_tool",
        message: `There is no tool called ${name}. The tools are: echo.`,
      });
      expect(rows[0]?.end?.status).toBe("blocked");
    },
  );

  test("ends a call by its deadline even when the tool ignores its signal", async () => {
    const { clock, rows, call } = fixture([tool(() => new Promise(() => undefined))]);
    const outcome = call({ text: "hi" });
    await clock.advance(1_000);
    expect(await outcome).toMatchObject({ kind: "failed", code: "tool_timeout" });
    expect(rows[0]?.end?.status).toBe("error");
  });

  test("passes a cancellation on to the tool at once", async () => {
    const asked = new AbortController();
    const started = Promise.withResolvers<AbortSignal>();
    const { call } = fixture([
      tool((_id, _params, until) => {
        started.resolve(until);
        return new Promise(() => undefined);
      }),
    ]);
    const outcome = call({ text: "hi" }, {}, asked.signal);
    const told = await started.promise;
    asked.abort();
    expect(told.aborted).toBe(true);
    expect(await outcome).toMatchObject({ kind: "failed", code: "cancelled" });
  });

  test("cuts an answer that is too long and says how much is missing", async () => {
    const { call } = fixture([tool(async () => ({ content: [{ type: "text", text: "x".repeat(300_000) }] }))]);
    const outcome = await call({ text: "hi" });
    const text =
      outcome.kind === "ok" && outcome.result.content[0]?.type === "text" ? outcome.result.content[0].text : "";
    expect(text.endsWith(`[cut: ${300_000 - 262_144} more characters]`)).toBe(true);
  });
});
