import { describe, expect, test } from "bun:test";
import type { SessionKey, TurnId } from "../contracts/ids.ts";
import type { ModelCall } from "../contracts/model-door.ts";
import { createFakeClock } from "../testing/fake-clock.ts";
import { createSpanRecorder, MAX_TOOL_SPANS } from "./spans.ts";

const CALL: ModelCall = {
  turnId: "t" as TurnId,
  sessionKey: "s" as SessionKey,
  provider: "p",
  model: "p/m",
  startedAt: 0,
  ms: 50,
  firstTokenMs: 30,
  outcome: "answered",
  status: 200,
  retries: 0,
  usage: { inputTokens: 12, outputTokens: 3, costUsd: 0 },
};

describe("the waterfall of a turn", () => {
  test("counts from acceptance and lists each stretch in the order in which it began", async () => {
    const clock = createFakeClock();
    const spans = createSpanRecorder(clock, clock.now() - 40);
    spans.enter("lease");
    await clock.advance(10);
    spans.enter("first_token");
    await clock.advance(200);
    spans.spoke();
    spans.toolStarted("c1", "session_status");
    await clock.advance(5);
    spans.toolEnded("c1");
    spans.spoke();
    await clock.advance(30);
    expect(spans.close()).toEqual([
      { name: "queued", startMs: 0, ms: 40 },
      { name: "lease", startMs: 40, ms: 10 },
      { name: "first_token", startMs: 50, ms: 200 },
      { name: "generate", startMs: 250, ms: 35 },
      { name: "tool:session_status", startMs: 250, ms: 5 },
    ]);
  });

  test("shows each model call with the wait for its first word, where it began", async () => {
    const clock = createFakeClock();
    const spans = createSpanRecorder(clock, clock.now() - 40);
    spans.enter("first_token");
    const startedAt = clock.elapsed();
    await clock.advance(30);
    spans.spoke();
    await clock.advance(20);
    spans.modelCalled({
      turnId: "t" as TurnId,
      sessionKey: "s" as SessionKey,
      provider: "p",
      model: "p/m",
      startedAt,
      ms: 50,
      firstTokenMs: 30,
      outcome: "answered",
      status: 200,
      retries: 0,
      usage: { inputTokens: 12, cachedTokens: 4, outputTokens: 3, costUsd: 0 },
    });
    expect(spans.close().find(({ name }) => name === "model:p/m")).toEqual({
      name: "model:p/m",
      startMs: 40,
      ms: 50,
      note: "answered 200, 12 tokens in (4 cached), 3 out",
      children: [{ name: "first_token", startMs: 40, ms: 30 }],
    });
  });

  test("shows how often a model call was sent again, and how it ended", () => {
    const spans = createSpanRecorder(createFakeClock(), 0);
    spans.modelCalled({ ...CALL, outcome: "failed", status: null, retries: 2, firstTokenMs: null });
    expect(spans.close().at(-1)).toMatchObject({ note: "failed, sent again 2 times, 12 tokens in, 3 out" });
    expect(spans.close().at(-1)).not.toHaveProperty("children");
  });

  test("stays small, however many model calls there are", () => {
    const spans = createSpanRecorder(createFakeClock(), 0);
    for (let call = 0; call < MAX_TOOL_SPANS + 1; call++) spans.modelCalled({ ...CALL, model: "m".repeat(1_000) });
    const models = spans.close().filter(({ name }) => name.startsWith("model:"));
    expect([models.length, models[0]?.name.length]).toEqual([MAX_TOOL_SPANS, "model:".length + 64]);
  });

  test("shows the work of another agent when it was done, with all that is inside of it", async () => {
    const clock = createFakeClock();
    await clock.advance(1_000);
    const spans = createSpanRecorder(clock, clock.now() - 40);
    const inner = { name: "generate", startMs: 3, ms: 4, children: [{ name: "first_token", startMs: 3.04, ms: 1 }] };
    spans.adopt([{ name: "delegate:helper", startedAt: 1_010, ms: 20, children: [inner] }]);
    expect(spans.close().at(-1)).toEqual({
      name: "delegate:helper",
      startMs: 50,
      ms: 20,
      children: [{ name: "generate", startMs: 53, ms: 4, children: [{ name: "first_token", startMs: 53, ms: 1 }] }],
    });
  });

  test("shows the wait for an approval as a span of its own, and the tool from when it runs", async () => {
    const clock = createFakeClock();
    const spans = createSpanRecorder(clock, clock.now());
    spans.enter("first_token");
    spans.spoke();
    spans.toolStarted("a", "bash");
    spans.approvalAsked("a");
    spans.approvalAsked("b"); // before the agent's word that it begins the call
    spans.toolStarted("b", "write");
    await clock.advance(60_000);
    spans.approvalEnded("a", true);
    spans.approvalEnded("b", false);
    await clock.advance(5);
    spans.toolEnded("a");
    spans.toolEnded("b");
    expect(spans.close().slice(-3)).toEqual([
      { name: "approval:bash", startMs: 0, ms: 60_000 },
      { name: "approval:write", startMs: 0, ms: 60_000 },
      { name: "tool:bash", startMs: 60_000, ms: 5 },
    ]);
  });

  test("of a turn that never got an agent is its wait", async () => {
    const clock = createFakeClock();
    const spans = createSpanRecorder(clock, clock.now());
    spans.enter("lease");
    await clock.advance(7);
    expect(spans.close().map(({ name, ms }) => [name, ms])).toEqual([
      ["queued", 0],
      ["lease", 7],
    ]);
  });

  test("closes what is still open, and shows tools that run beside each other each with its own time", async () => {
    const clock = createFakeClock();
    const spans = createSpanRecorder(clock, clock.now());
    spans.enter("first_token");
    spans.spoke();
    spans.toolStarted("a", "slow");
    spans.toolStarted("b", "fast");
    await clock.advance(3);
    spans.toolEnded("b");
    await clock.advance(3);
    expect(spans.close().slice(-2)).toEqual([
      { name: "tool:slow", startMs: 0, ms: 6 },
      { name: "tool:fast", startMs: 0, ms: 3 },
    ]);
  });

  test("has no negative wait when the machine's time was set back", () => {
    const clock = createFakeClock();
    expect(createSpanRecorder(clock, clock.now() + 5_000).close()).toEqual([{ name: "queued", startMs: 0, ms: 0 }]);
  });

  test("stays small, however many tools with however long names are called", () => {
    const spans = createSpanRecorder(createFakeClock(), 0);
    for (let call = 0; call < 1_000; call++) spans.toolStarted(`c${call}`, "x".repeat(10_000));
    const closed = spans.close();
    expect(closed).toHaveLength(1 + MAX_TOOL_SPANS);
    expect(Math.max(...closed.map(({ name }) => name.length))).toBeLessThan(80);
  });
});
