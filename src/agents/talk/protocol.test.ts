/** Records as pi writes them, and the turn they become. */
import { describe, expect, test } from "bun:test";
import type { AgentEvent } from "../../contracts/agent.ts";
import { classifyFailure } from "./provider-failure.ts";
import { type PiRecord, modelName, parseRecord } from "./protocol.ts";
import { type Ending, createRun } from "./run.ts";

const USAGE = { input: 10, output: 5, cacheRead: 2, cacheWrite: 1, totalTokens: 18, cost: { total: 0.25 } };

function assistant(text: string, stopReason: string, errorMessage?: string) {
  const content = text === "" ? [] : [{ type: "text", text }];
  return { role: "assistant", content, provider: "fake", model: "fake-1", usage: USAGE, stopReason, errorMessage };
}

const start = { type: "message_start", message: assistant("", "pending") };
const delta = (text: string) => ({
  type: "message_update",
  usage: USAGE,
  assistantMessageEvent: { type: "text_delta", contentIndex: 0, delta: text },
});
const end = (text: string, stop: string, error?: string) => ({
  type: "message_end",
  message: assistant(text, stop, error),
});
const toolStart = { type: "tool_execution_start", toolCallId: "c1", toolName: "gw_echo", args: { text: "hi" } };
const toolEnd = {
  type: "tool_execution_end",
  toolCallId: "c1",
  toolName: "gw_echo",
  result: { content: [{ type: "text", text: "hi" }], details: {} },
  isError: false,
};
const settled = { type: "agent_settled" };

/** Plays records as lines through the parser, as a process would. */
function play(records: readonly unknown[], ending?: Ending): readonly AgentEvent[] {
  const run = createRun("start/model");
  const events = records.flatMap((record) => {
    const parsed = parseRecord(JSON.stringify(record));
    return parsed.kind === "event" ? run.apply(parsed.event) : [];
  });
  return [...events, run.end(ending ?? { because: "settled" })];
}

describe("a recorded run", () => {
  test("with one tool call becomes text, the tool, and the last message as the answer", () => {
    const records = [
      { type: "agent_start" },
      { type: "turn_start" },
      { type: "message_start", message: { role: "system", content: "", sections: {}, toolsAdded: [] } },
      { type: "message_end", message: { role: "user", content: [{ type: "text", text: "say hi" }] } },
      start,
      delta("Let "),
      delta("me call."),
      end("Let me call.", "toolUse"),
      toolStart,
      { type: "tool_execution_update", toolCallId: "c1", toolName: "gw_echo", partialResult: { content: [] } },
      {
        type: "tool_execution_update",
        toolCallId: "c1",
        partialResult: { content: [{ type: "text", text: "half way" }] },
      },
      toolEnd,
      { type: "tool_execution_update", toolCallId: "c1", partialResult: { content: [{ type: "text", text: "late" }] } },
      { type: "turn_end", message: {}, toolResults: [] },
      start,
      delta("Done."),
      end("Done.", "stop"),
      { type: "agent_end", messages: [], willRetry: false },
      settled,
    ];
    expect(play(records)).toEqual([
      { type: "text", delta: "Let " },
      { type: "text", delta: "me call." },
      { type: "tool_start", callId: "c1", tool: "gw_echo", input: { text: "hi" } },
      { type: "tool_update", callId: "c1", text: "half way" },
      { type: "tool_end", callId: "c1", tool: "gw_echo", isError: false, output: "hi" },
      { type: "text", delta: "\n\nDone." },
      {
        type: "done",
        text: "Done.",
        usage: { inputTokens: 26, cachedTokens: 4, outputTokens: 10, costUsd: 0.5 },
        model: "fake/fake-1",
      },
    ]);
  });

  test("whose last message is empty answers with what was said before", () => {
    const records = [start, delta("One."), end("One.", "toolUse"), toolStart, toolEnd, start, end("", "stop"), settled];
    expect(play(records).at(-1)).toMatchObject({ type: "done", text: "One." });
  });

  test("that is tried again after a passing error keeps only the good attempt", () => {
    const records = [
      start,
      delta("half"),
      end("half", "error", "529 overloaded"),
      { type: "agent_end", messages: [], willRetry: true },
      { type: "auto_retry_start", attempt: 1, maxAttempts: 2, delayMs: 1000, errorMessage: "529 overloaded" },
      start,
      delta("whole"),
      end("whole", "stop"),
      settled,
    ];
    expect(play(records).map((event) => (event.type === "text" ? event.delta : event.type))).toEqual([
      "half",
      "retrying",
      "whole",
      "done",
    ]);
    expect(play(records).at(-1)).toMatchObject({ text: "whole" });
  });

  test("that settles with an error fails with its code and keeps the partial text", () => {
    const records = [start, delta("half"), end("half", "error", "429: slow down"), settled];
    expect(play(records).at(-1)).toMatchObject({
      type: "failed",
      code: "provider_limited",
      again: false,
      text: "half",
    });
  });

  test("that we have stopped is aborted, although pi calls it an error", () => {
    const records = [start, delta("half"), end("half", "error", "The operation was aborted."), settled];
    expect(play(records, { because: "stopped" }).at(-1)).toMatchObject({ type: "aborted", text: "half" });
  });

  test("that settles without a word, a tool or an error has failed", () => {
    expect(play([start, end("", "stop"), settled]).at(-1)).toMatchObject({ type: "failed", code: "agent_empty" });
  });

  test("whose process dies keeps what was streamed", () => {
    const ending: Ending = { because: "failed", code: "agent_exited", detail: "gone", again: true };
    expect(play([start, delta("half")], ending).at(-1)).toMatchObject({ type: "failed", again: true, text: "half" });
  });
});

describe("a line from the agent", () => {
  const cases: readonly [string, string, PiRecord][] = [
    ["that is no JSON is stray", "Warning: something", { kind: "stray" }],
    ["that is no object is stray", "[1,2]", { kind: "stray" }],
    ["without a type is stray", '{"a":1}', { kind: "stray" }],
    ["that is empty is stray", "", { kind: "stray" }],
    ["that nests too deeply is stray", `{"type":"x","a":${"[".repeat(80)}${"]".repeat(80)}}`, { kind: "stray" }],
    ["of an unknown type is dropped by name", '{"type":"moon_phase"}', { kind: "unknown", type: "moon_phase" }],
    [
      "that answers nothing we asked is dropped",
      '{"type":"response","success":false}',
      { kind: "unknown", type: "response without id" },
    ],
    [
      "that says yes is an answer",
      '{"id":"1","type":"response","success":true}',
      { kind: "response", id: "1", ok: true, data: {} },
    ],
    [
      "that says no is an answer with the reason",
      '{"id":"1","type":"response","success":false,"error":"busy"}',
      { kind: "response", id: "1", ok: false, error: "busy" },
    ],
    [
      "that asks something is a dialog",
      '{"type":"extension_ui_request","id":"u","method":"input","title":"t","placeholder":"p"}',
      { kind: "dialog", id: "u", title: "t", body: "p", asks: { kind: "input", title: "t", placeholder: "p" } },
    ],
    [
      "that offers a choice says which, and how long it waits",
      '{"type":"extension_ui_request","id":"u","method":"select","title":"t","options":["a","b"],"timeout":5000}',
      {
        kind: "dialog",
        id: "u",
        title: "t",
        body: "",
        asks: { kind: "select", title: "t", options: ["a", "b"], timeoutMs: 5_000 },
      },
    ],
    [
      "that wants a yes says what for",
      '{"type":"extension_ui_request","id":"u","method":"confirm","title":"t","message":"m"}',
      { kind: "dialog", id: "u", title: "t", body: "", asks: { kind: "confirm", title: "t", text: "m" } },
    ],
    [
      "that opens an editor wants words, and says which are there",
      '{"type":"extension_ui_request","id":"u","method":"editor","title":"t","prefill":"p"}',
      {
        kind: "dialog",
        id: "u",
        title: "t",
        body: "",
        asks: { kind: "input", title: "t", prefill: "p", many: true },
      },
    ],
    [
      "that notifies is a note",
      '{"type":"extension_ui_request","id":"u","method":"notify","message":"m","notifyType":"warning"}',
      { kind: "note", note: { text: "m", level: "warning" } },
    ],
    [
      "that decorates a terminal is a sign of life",
      '{"type":"extension_ui_request","id":"u","method":"setStatus","statusKey":"k","statusText":"s"}',
      { kind: "event", event: { type: "alive" } },
    ],
    [
      "that repeats the whole run is not parsed",
      '{"type":"agent_end","messages":[broken',
      { kind: "event", event: { type: "alive" } },
    ],
    [
      "with a number where text belongs is read as empty",
      '{"type":"tool_execution_start","toolCallId":5,"toolName":null,"args":1}',
      { kind: "event", event: { type: "tool_started", callId: "", tool: "", input: 1 } },
    ],
  ];
  test.each(cases)("%s", (_name, line, expected) => {
    expect(parseRecord(line)).toEqual(expected);
  });

  test("with hostile numbers counts as nothing", () => {
    const message = { role: "assistant", content: 7, usage: { input: -5, output: "9", cost: { total: null } } };
    const line = JSON.stringify({ type: "message_end", message });
    expect(parseRecord(line)).toMatchObject({
      event: { message: { text: "", usage: { inputTokens: 0, outputTokens: 0, costUsd: 0 }, stop: "other" } },
    });
  });
});

test("a model is named by provider and id, and an unknown one is none", () => {
  expect([modelName({ provider: "a", id: "b" }), modelName({ id: "unknown" }), modelName(null)]).toEqual([
    "a/b",
    null,
    null,
  ]);
});

describe("an error of a provider", () => {
  const cases: readonly [string, ReturnType<typeof classifyFailure>][] = [
    ["EDQUOT: disk quota exceeded, write", "agent_disk_full"],
    ['401: {"error":{"message":"invalid x-api-key"}}', "provider_auth"],
    ["403 Forbidden", "provider_auth"],
    ["Incorrect API key provided: status 401", "provider_auth"],
    ["429: rate limit reached", "provider_limited"],
    ["You exceeded your current quota", "provider_limited"],
    ['402: {"error":{"message":"Insufficient credits"}}', "provider_unpaid"],
    ["402 Payment Required", "provider_unpaid"],
    ["Insufficient Balance", "provider_unpaid"],
    ['400: {"error":{"message":"Your credit balance is too low to access the API."}}', "provider_unpaid"],
    ['429: {"error":{"message":"You exceeded your current quota","type":"insufficient_quota"}}', "provider_unpaid"],
    ["429 Billing hard limit has been reached", "provider_unpaid"],
    ["500: internal", "provider_down"],
    ["529 overloaded_error", "provider_down"],
    ["503 Service Unavailable", "provider_down"],
    ['400: {"error":"bad"}', "provider_refused"],
    ["422 unprocessable", "provider_refused"],
    ["terminated", "provider_cut"],
    ["fetch failed", "provider_cut"],
    ["read ECONNRESET", "provider_cut"],
    ["Stream ended without finish_reason", "provider_cut"],
    ["Connection error.", "provider_cut"],
    ["Request timed out.", "provider_silent"],
    ["No API key found for anthropic.", "model_missing"],
    ["Model not found: a/b", "model_missing"],
    ["something nobody has seen before", "provider_refused"],
  ];
  test.each(cases)("%s → %s", (message, code) => {
    expect(classifyFailure(message)).toBe(code);
  });
});
