/** What a prompt ends with when it was told to stop: the answer alone, or what was said before the stop. Never an answer and a notice. */
import { describe, expect, test } from "bun:test";
import type { PiEvent, PiMessage } from "./protocol.ts";
import { createRun, type Ending } from "./run.ts";

const ANSWER = "the whole answer";

function message(stop: PiMessage["stop"], text = ANSWER): PiEvent {
  const usage = { inputTokens: 1, outputTokens: 1, costUsd: 0 };
  return { type: "message_ended", message: { text, model: "p/m", usage, stop, error: "" } };
}

const delta = (text: string): PiEvent => ({ type: "text", delta: text });
const toolStarted: PiEvent = { type: "tool_started", callId: "c1", tool: "bash", input: {} };

/** Everything that tells a prompt to stop. */
const CAUSES: readonly (readonly [string, Ending])[] = [
  ["the turn limit or a person", { because: "stopped" }],
  ["the silence limit", { because: "failed", code: "provider_silent", detail: "quiet", again: false }],
];

describe.each(CAUSES)("a prompt that was told to stop by %s", (_name, cause) => {
  const play = (before: readonly PiEvent[], after: readonly PiEvent[]) => {
    const run = createRun("p/m");
    for (const event of before) run.apply(event);
    run.cutOff();
    const shown = after.flatMap((event) => run.apply(event)).filter(({ type }) => type === "text");
    return { shown, end: run.end(cause) };
  };

  test.each<[string, PiEvent[], PiEvent[]]>([
    ["arrives whole after the stop", [delta("the ")], [delta("whole answer"), message("stop")]],
    ["arrives without its deltas", [], [message("stop")]],
    ["reaches the limit of the model", [delta("the ")], [delta("whole answer"), message("length")]],
    ["had arrived before the stop", [delta(ANSWER), message("stop")], []],
  ])("ends as done when the answer %s", (_case, before, after) => {
    const { shown, end } = play(before, after);
    expect(end).toMatchObject({ type: "done", text: ANSWER });
    expect(shown).toEqual([]);
  });

  test.each<[string, PiEvent[], PiEvent[], string]>([
    ["words without an end", [delta("before")], [delta(" and after")], "before"],
    ["words of a message that was aborted", [delta("before")], [delta(" and after"), message("aborted")], "before"],
    ["words of a message that failed", [], [delta("after"), message("error")], ""],
    ["words before a tool that still runs", [], [message("toolUse", "let me look"), toolStarted], ""],
    ["an answer that goes on", [], [message("stop", ""), delta("more")], ""],
  ])("drops %s that arrive after the stop", (_case, before, after, text) => {
    const { shown, end } = play(before, after);
    expect(end).toMatchObject({ type: cause.because === "stopped" ? "aborted" : "failed", text });
    expect(shown).toEqual([]);
  });
});

test("a prompt that was not told to stop shows its words as they come, and a failure keeps them", () => {
  const run = createRun("p/m");
  expect(run.apply(delta("half"))).toEqual([{ type: "text", delta: "half" }]);
  const died: Ending = { because: "failed", code: "agent_exited", detail: "gone", again: true };
  expect(run.end(died)).toMatchObject({ type: "failed", again: true, text: "half" });
});

test("thoughts of a model are told apart from its answer, with a gap between those before and after a tool, and none after a stop", () => {
  const run = createRun("p/m");
  const thought = (text: string): PiEvent => ({ type: "thought", delta: text });
  const events = [thought("a"), { type: "alive" } as const, thought("b"), toolStarted, thought("c"), delta(ANSWER)];
  expect(events.flatMap((event) => run.apply(event)).filter(({ type }) => type !== "tool_start")).toEqual([
    { type: "thought", delta: "a" },
    { type: "thought", delta: "b" },
    { type: "thought", delta: "\n\nc" },
    { type: "text", delta: ANSWER },
  ]);
  run.cutOff();
  expect(run.apply(thought("late"))).toEqual([]);
});
