/** The turn of an agent that was asked by another: every end has its reason, and leaves neither a timer nor a lease behind. */
import { describe, expect, test } from "bun:test";
import type { AgentEvent, AgentPool, LeaseRequest } from "../../contracts/agent.ts";
import { GatewayError } from "../../contracts/errors.ts";
import { orAborted } from "../../kit/deferred.ts";
import { createFakeClock } from "../../testing/fake-clock.ts";
import { createFakePool, type FakeAgent, NO_USAGE } from "../../testing/fake-pool.ts";
import { createSeqIds } from "../../testing/seq-ids.ts";
import { createSpanRecorder } from "../spans.ts";
import { runChildTurn } from "./child-turn.ts";

const USED = { inputTokens: 3, outputTokens: 4, costUsd: 1 };
const ended = (event: object): AgentEvent => ({ text: "", usage: USED, model: "fake/one", ...event }) as AgentEvent;
const REQUEST = { caller: { agentId: "cook" } } as unknown as LeaseRequest;
/** Ends as an agent does that is told to stop. */
const patient: FakeAgent = async function* (_prompted, signal) {
  yield { type: "text", delta: "thinking" };
  await orAborted(new Promise(() => undefined), signal).catch(() => undefined); // told to stop
  yield ended({ type: "aborted" });
};
const yields = (...events: readonly AgentEvent[]): FakeAgent =>
  async function* () {
    yield* events;
  };

function world(agent: FakeAgent, lease?: AgentPool["lease"]) {
  const clock = createFakeClock();
  const fake = createFakePool(agent);
  const pool: AgentPool = lease ? { ...fake, lease } : fake;
  const stop = new AbortController();
  const said: string[] = [];
  const spans = createSpanRecorder(clock, clock.now());
  const child = { request: REQUEST, from: "asker", task: "cook", timeoutMs: 5_000, spans };
  const onText = (text: string): void => void said.push(text);
  const end = runChildTurn({ clock, ids: createSeqIds(), pool }, { ...child, onText }, stop.signal);
  return { clock, fake, stop, said, end };
}

describe("a delegated turn ends without a timer and without a lease", () => {
  test.each<[string, FakeAgent, object]>([
    ["with its answer", yields(ended({ type: "done", text: "soup" })), { kind: "answered", text: "soup", usage: USED }],
    ["without words", yields(ended({ type: "done", text: " \n" })), { kind: "failed", code: "agent_empty" }],
    [
      "with the failure of its agent",
      yields(ended({ type: "failed", code: "agent_exited", detail: "x", again: true })),
      { kind: "failed", code: "agent_exited", say: expect.stringContaining("was not tried again"), usage: USED },
    ],
    [
      "when its agent stops in the middle",
      yields({ type: "text", delta: "so" }),
      { kind: "failed", code: "agent_exited" },
    ],
    [
      "when its agent breaks its contract",
      () => ({ [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(new Error("no")) }) }),
      { kind: "failed", code: "internal", usage: NO_USAGE },
    ],
  ])("%s", async (_name, agent, expected) => {
    const { clock, fake, end } = world(agent);
    expect(await end).toMatchObject(expected);
    expect([clock.pending(), fake.open()]).toEqual([0, 0]);
  });

  test("when it takes too long: its agent is told to stop, and what it used is counted", async () => {
    const { clock, fake, end, said } = world(patient);
    await clock.advance(4_999);
    expect([said, fake.open()]).toEqual([["thinking"], 1]);
    await clock.advance(1);
    const say = "Agent cook did not answer within 5000 ms and was stopped.";
    expect(await end).toMatchObject({ kind: "failed", code: "agent_timeout", say, usage: USED });
    expect([clock.pending(), fake.open()]).toEqual([0, 0]);
  });

  test("when it is cancelled", async () => {
    const { clock, fake, end, stop } = world(patient);
    await clock.advance(1_000);
    stop.abort(new Error("the turn that asked is over"));
    expect(await end).toMatchObject({ kind: "failed", code: "cancelled", usage: USED });
    expect([clock.pending(), fake.open()]).toEqual([0, 0]);
  });

  test("when no process becomes free in its time: the wait for one is ended", async () => {
    const { clock, end } = world(patient, (_request, signal) => orAborted(new Promise(() => undefined), signal));
    await clock.advance(5_000);
    expect(await end).toMatchObject({ kind: "failed", code: "agent_timeout" });
    expect(clock.pending()).toBe(0);
  });

  test("when every process waits for another", async () => {
    const full = new GatewayError("pool_exhausted", "no process can become free");
    const { clock, end } = world(patient, () => Promise.reject(full));
    expect(await end).toMatchObject({ kind: "failed", code: "pool_exhausted", say: full.say });
    expect(clock.pending()).toBe(0);
  });
});

test("a delegated turn has used what an attempt of its agent used that was cut off, too", async () => {
  const pool = createFakePool(yields(ended({ type: "done", text: "soup" })));
  const lost = { inputTokens: 10, outputTokens: 20, costUsd: 5 };
  const { end } = world(patient, async (request, signal) => Object.assign(await pool.lease(request, signal), { lost }));
  expect(await end).toMatchObject({ kind: "answered", usage: { inputTokens: 13, outputTokens: 24, costUsd: 6 } });
});

test("words of an attempt that its agent began again are not shown with those of the next", async () => {
  const retrying = { type: "retrying" } as unknown as AgentEvent;
  const words = (delta: string): AgentEvent => ({ type: "text", delta });
  const { end, said } = world(
    yields(words("wro"), words("ng"), retrying, words("right"), ended({ type: "done", text: "right" })),
  );
  await end;
  expect(said).toEqual(["wro", "wrong", "right"]);
});
