/** What a stop and crashes of the gateway do to turns: a finished answer is kept, and only what brings the gateway down is given up. */
import { describe, expect, test } from "bun:test";
import { ERRORS } from "../contracts/errors.ts";
import { type FakeAgent, NO_USAGE, says, waits } from "../testing/fake-pool.ts";
import { realStore } from "../testing/real-store.ts";
import { waitFor } from "../testing/wait-for.ts";
import { flow, type FlowOptions, SESSION } from "../testing/worlds/flow-world.ts";
import { systemClock } from "../kit/clock.ts";

const GRACE_MS = 1_000;

/** Answers only after it was told to stop, as a model does whose last words are on their way. */
const answersLate: FakeAgent = async function* (_prompted, signal) {
  await new Promise((resolve) => signal.addEventListener("abort", resolve));
  yield { type: "done", text: "just in time", usage: NO_USAGE, model: "fake/one" };
};

/** Asks, stops the gateway, lets its grace time pass; what the store has then. */
async function stoppedWhile(agent: FakeAgent) {
  const fx = await flow(agent, { graceMs: GRACE_MS });
  const started = fx.next("turn.started");
  await fx.ask("hello");
  await started;
  const stopped = fx.turns[Symbol.asyncDispose]();
  await fx.clock.advance(GRACE_MS + 1);
  await stopped;
  const open = await fx.store.inbox.unfinished();
  const { items } = await fx.store.sessions.transcript(SESSION, { limit: 10 });
  return { fx, open: open.length, said: items.filter(({ role }) => role === "assistant").map(({ text }) => text) };
}

test("a turn that the gateway leaves when it stops is not shown as running any more", async () => {
  const { fx, open } = await stoppedWhile(waits);
  await using _fx = fx;
  expect([open, fx.live.snapshot(SESSION)]).toEqual([1, null]);
});

test("turns of other people wait in the queue while every process is at work", async () => {
  const fx = await flow(waits, { graceMs: GRACE_MS });
  await using _fx = fx;
  for (const chat of ["1", "2", "3", "4"])
    await fx.ask("hello", { address: { channel: "webchat", account: "default", chat }, eventId: `e${chat}` });
  await waitFor("both processes at work", () => fx.pool.prompted.length === 2);
  await fx.clock.advance(0);
  expect([fx.pool.prompted.length, fx.queue.stats().waiting]).toEqual([2, 2]);
  const stopped = fx.turns[Symbol.asyncDispose]();
  await fx.clock.advance(GRACE_MS + 1);
  await stopped;
});

describe("an answer that is finished while the gateway stops", () => {
  test("after the grace time is stored, and not asked for again", async () => {
    const { fx, open, said } = await stoppedWhile(answersLate);
    await using _fx = fx;
    expect([open, said]).toEqual([0, ["just in time"]]);
    expect(fx.pool.prompted).toHaveLength(1);
  });

  test("is kept when the disk takes its end only at the second try", async () => {
    let full = true;
    const store: FlowOptions["store"] = (real) => ({
      ...real,
      turns: {
        ...real.turns,
        finish: (end) => (full ? Promise.reject(new Error("disk full")) : real.turns.finish(end)),
      },
    });
    const fx = await flow(says("in time"), { store, graceMs: 10_000 });
    await using _fx = fx;
    await fx.ask("hello");
    const failed = () => fx.log.lines.some(({ words }) => words === "turn could not be stored yet");
    await waitFor("the disk to refuse the end of the turn", failed);
    const stopped = fx.turns[Symbol.asyncDispose]();
    full = false;
    await fx.clock.advance(1_000);
    await stopped;
    expect([await fx.store.inbox.unfinished(), fx.pool.prompted.length]).toEqual([[], 1]);
  });

  test("is not made up: a turn without one is left to the next start", async () => {
    const { fx, open, said } = await stoppedWhile(waits);
    await using _fx = fx;
    expect([open, said]).toEqual([1, []]);
  });
});

test("a turn with which the gateway went down three times ends with a notice that says so, and reaches no agent again", async () => {
  await using real = await realStore(systemClock);
  const first = await flow(waits, { on: real });
  const started = first.next("turn.started");
  await first.ask("poison");
  const { turnId } = await started;
  const begin = { turnId, sessionKey: SESSION, agentId: "default" as never, inboxIds: [], at: 1 };
  for (let crash = 0; crash < 2; crash++) {
    await real.store.turns.countCrashes(3);
    await real.store.turns.begin(begin); // as the next start does
  }
  const last = await flow(says("never said"), { on: real }); // its start counts the third
  await using _last = last;
  await waitFor("the turn to end", async () => (await real.store.inbox.unfinished()).length === 0);
  expect(last.pool.prompted).toEqual([]);
  expect(await real.store.turns.get(turnId)).toMatchObject({
    turn: { outcome: "failed", errorCode: "gateway_crashed" },
  });
  const { items } = await real.store.sessions.transcript(SESSION, { limit: 10 });
  expect(items.at(-1)?.text).toBe(ERRORS.gateway_crashed.say);
  first.queue.abort(SESSION);
  await first[Symbol.asyncDispose]();
});
