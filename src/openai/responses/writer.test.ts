import { describe, expect, test } from "bun:test";
import type { ResponseEvent, ResponseObject } from "../../contracts/responses.ts";
import { createFakeClock } from "../../testing/fake-clock.ts";
import { readResponseRequest } from "./request.ts";
import { newResponse } from "./run.ts";
import { createResponseWriter, eventsOf, placeOfItem } from "./writer.ts";

const OPTIONS = { isAgent: () => false, isTaken: () => false, digest: () => "d" };
const ANSWER = {
  turnId: "turn_1",
  sessionKey: null,
  text: "It is mild.",
  calls: [],
  toolCalls: [{ tool: "cron", status: "success" }],
  usage: { inputTokens: 3, cachedTokens: 1, outputTokens: 2, costUsd: 0.5 },
} as const;
const CALL = { callId: "c1", tool: "get_weather", input: { city: "Oslo" } };

function written() {
  const events: ResponseEvent[] = [];
  const request = readResponseRequest({ input: "hi" }, null, OPTIONS);
  const first = newResponse({ request } as never, "resp_1a", createFakeClock());
  return { events, writer: createResponseWriter(first, (event) => void events.push(event)) };
}

const types = (events: readonly ResponseEvent[]): readonly string[] => events.map(({ type }) => type);

describe("a response that grows", () => {
  test("is announced, written word by word, closed from the inside out, and completed", () => {
    const { events, writer } = written();
    writer.show({ type: "text", delta: "It is " });
    writer.show({ type: "text", delta: "mild." });
    const response = writer.complete(writer.end(ANSWER, 7));
    expect(types(events)).toEqual([
      "response.created",
      "response.in_progress",
      "response.output_item.added",
      "response.content_part.added",
      "response.output_text.delta",
      "response.output_text.delta",
      "response.output_text.done",
      "response.content_part.done",
      "response.output_item.done",
      "response.completed",
    ]);
    expect(events.map(({ sequence_number }) => sequence_number)).toEqual(events.map((_, at) => at));
    expect(response).toMatchObject({
      status: "completed",
      completed_at: 7,
      output: [{ id: "msg_1a_0", role: "assistant", status: "completed", phase: "final_answer" }],
      usage: { input_tokens: 3, input_tokens_details: { cached_tokens: 1 }, output_tokens: 2, total_tokens: 5 },
      pi_gateway: { turn_id: "turn_1", tool_calls: [{ tool: "cron" }] },
    });
    expect(Object.values(response)).not.toContain(undefined);
  });

  test("calls what was said before a tool commentary, and what was never streamed the answer", () => {
    const { events, writer } = written();
    writer.show({ type: "text", delta: "Let me look." });
    writer.show({ type: "step" });
    const { output } = writer.end(ANSWER, 7);
    expect(output).toMatchObject([
      { phase: "commentary", content: [{ text: "Let me look." }] },
      { phase: "final_answer", content: [{ text: "It is mild." }] },
    ]);
    expect(
      events.filter(({ type }) => type === "response.output_text.delta").map((event) => event["output_index"]),
    ).toEqual([0, 1]);
  });

  test("ends with calls for the program, after the words that came with them", () => {
    const { events, writer } = written();
    writer.show({ type: "text", delta: "One moment." });
    writer.show({ type: "step" });
    const { output } = writer.complete(writer.end({ ...ANSWER, text: "One moment.", calls: [CALL] }, 7));
    expect(output).toMatchObject([
      { type: "message", phase: "commentary" },
      { type: "function_call", id: "fc_1a_1", call_id: "c1", name: "get_weather", arguments: '{"city":"Oslo"}' },
    ]);
    expect(types(events).slice(-5)).toEqual([
      "response.output_item.added",
      "response.function_call_arguments.delta",
      "response.function_call_arguments.done",
      "response.output_item.done",
      "response.completed",
    ]);
    expect(placeOfItem("fc_1a_1")).toEqual({ responseId: "resp_1a", index: 1 });
  });

  test("that fails tells of the error, and then that it has failed", () => {
    const { events, writer } = written();
    writer.show({ type: "text", delta: "It is" });
    const problem = { status: 504, type: "server_error", code: "agent_timeout", message: "Too slow.", param: null };
    const response = writer.fail(problem, true);
    expect(types(events).slice(-2)).toEqual(["error", "response.failed"]);
    expect(events.at(-2)).toMatchObject({
      error: { type: "server_error", code: "agent_timeout" },
      message: "Too slow.",
    });
    expect(response).toMatchObject({
      status: "failed",
      output: [],
      error: { code: "agent_timeout", message: "Too slow." },
    });
  });

  test("is queued first when it runs in the background", () => {
    const { events, writer } = written();
    writer.begin("queued");
    writer.begin("in_progress");
    writer.begin("in_progress");
    writer.begin("queued");
    expect(types(events)).toEqual(["response.created", "response.queued", "response.in_progress"]);
  });

  test("can be told again to somebody who was not there", () => {
    const { events, writer } = written();
    writer.show({ type: "text", delta: "It is mild." });
    const response: ResponseObject = writer.complete(writer.end({ ...ANSWER, calls: [CALL] }, 7));
    expect(types(eventsOf(response))).toEqual(types(events));
    expect(eventsOf(response).at(-1)).toEqual(events.at(-1) as ResponseEvent);
  });
});
