/** However a turn ends, nothing of it stays: no timer, no process, nothing that is shown as running, nobody who works for it. */
import { expect, test } from "bun:test";
import type { AgentLease } from "../contracts/agent.ts";
import type { Commands } from "../contracts/command.ts";
import { orAborted } from "../kit/deferred.ts";
import { dies, type FakeAgent, type FakePool, NO_USAGE, says, waits } from "../testing/fake-pool.ts";
import { waitFor, waitForEnd } from "../testing/wait-for.ts";
import { flow, SESSION } from "../testing/worlds/flow-world.ts";

const GRACE_MS = 1_000;
const TIMEOUT_MS = 60_000;
const hang = (signal: AbortSignal): Promise<never> => orAborted(new Promise<never>(() => undefined), signal);

/** Says its words so quickly that the last ones are held back for a moment, and then does as it is told. */
const speaking = (then: FakeAgent): FakeAgent =>
  async function* (prompted, signal) {
    for (const delta of ["One ", "two ", "three"]) yield { type: "text", delta };
    yield* then(prompted, signal);
  };
const again: FakeAgent = async function* (prompted, signal) {
  yield { type: "retrying", because: "503" };
  yield* speaking(says("four"))(prompted, signal);
};
const againAndWaits: FakeAgent = async function* (prompted, signal) {
  yield { type: "retrying", because: "503" };
  yield* speaking(waits)(prompted, signal);
};

type World = Awaited<ReturnType<typeof world>>;

async function world(agent: FakeAgent, more: (pool: FakePool) => Partial<FakePool> = () => ({})) {
  const working = { now: 0 };
  let asked = 0;
  const fx = await flow(agent, {
    graceMs: GRACE_MS,
    timeoutMs: TIMEOUT_MS,
    parts: async ({ pool }) => {
      const given: FakePool = { ...pool, ...more(pool) };
      return {
        pool: {
          ...given,
          lease(request, signal) {
            asked++;
            return given.lease(request, signal);
          },
        },
        lastStats: {
          stale: () => true,
          note: () => undefined,
          expect: () => undefined,
          settled: async () => undefined,
          of: () => null,
        },
        delegations: {
          open() {
            working.now++;
            return {
              settle: async () => ({ usage: NO_USAGE, spans: [] }),
              [Symbol.dispose]: () => void working.now--,
            };
          },
        },
      };
    },
  });
  let listening = 0;
  const on = fx.events.on.bind(fx.events) as (...given: readonly unknown[]) => Disposable;
  const counted = (...given: readonly unknown[]): Disposable => {
    const listener = on(...given);
    listening++;
    return {
      [Symbol.dispose]() {
        listening--;
        listener[Symbol.dispose]();
      },
    };
  };
  Object.assign(fx.events, { on: counted });
  return Object.assign(fx, { working, asked: () => asked, listening: () => listening });
}

/** A pool in which no process becomes free, until the test is over: one that fails has to end as well. */
const full = (end: AbortSignal) => (): Partial<FakePool> => ({
  lease: (_request, signal) => hang(AbortSignal.any([signal, end])),
});
const testEnd = () => {
  const end = new AbortController();
  return { signal: end.signal, [Symbol.dispose]: () => end.abort(new Error("the test is over")) };
};
/** Processes that do not say how large their session is. */
const silentStats =
  (returned: () => void) =>
  (pool: FakePool): Partial<FakePool> => ({
    async lease(request, signal): Promise<AgentLease> {
      const lease = await pool.lease(request, signal);
      return {
        ...lease,
        stats: (until) => hang(until),
        async [Symbol.asyncDispose]() {
          returned();
          await lease[Symbol.asyncDispose]();
        },
      };
    },
  });

const stop = (at: World): void => void at.queue.abort(SESSION);
const nothing = (): void => undefined;
const late = async (at: World): Promise<void> => at.clock.advance(TIMEOUT_MS);

const ENDS: readonly [string, FakeAgent, (at: World) => void | Promise<void>, string][] = [
  ["answers", speaking(says("four")), nothing, "done"],
  ["answers after the model was asked again", again, nothing, "done"],
  ["dies each time", speaking(dies), nothing, "failed"],
  ["is stopped while it speaks", speaking(waits), stop, "aborted"],
  ["is stopped after the model was asked again", againAndWaits, stop, "aborted"],
  ["takes too long", speaking(waits), late, "failed"],
];

test.each(ENDS)("a turn whose agent %s leaves nothing behind", async (_how, agent, act, outcome) => {
  await using at = await world(agent);
  const ended = at.next("turn.ended");
  await at.ask("hello");
  await waitFor("the prompt", () => at.pool.prompted.length > 0);
  await at.clock.advance(1); // less than the gap between two updates: words are held back
  await act(at);
  expect((await waitForEnd("the end of the turn", ended)).outcome).toBe(outcome as never);
  await at.clock.advance(0);
  expect([at.live.snapshot(SESSION), at.clock.pending(), at.pool.open()]).toEqual([null, 0, 0]);
  expect([at.working.now, at.listening()]).toEqual([0, 0]);
});

test("a process that does not say how large its session is keeps no reply waiting, and is given back after half a second", async () => {
  let returned = 0;
  await using at = await world(
    says("here"),
    silentStats(() => returned++),
  );
  const ended = at.next("turn.recorded");
  await at.ask("hello");
  await waitForEnd("the end of the turn", ended); // the clock stands still
  await at.clock.advance(499);
  expect(returned).toBe(0);
  await at.clock.advance(1);
  await waitFor("the process", () => returned === 1);
  expect(at.clock.pending()).toBe(0);
});

test.each<[string, (at: World) => void | Promise<void>, string]>([
  ["is stopped", stop, "aborted"],
  ["takes too long", late, "failed"],
])("a turn that %s while it waits for a process ends, and waits for none any more", async (_how, act, outcome) => {
  const end = testEnd();
  await using at = await world(says("never"), full(end.signal));
  using _end = end;
  const ended = at.next("turn.ended");
  await at.ask("hello");
  await waitFor("the wish for a process", () => at.asked() > 0);
  await act(at);
  expect((await waitForEnd("the end of the turn", ended)).outcome).toBe(outcome as never);
  await at.clock.advance(0);
  expect([at.live.snapshot(SESSION), at.clock.pending(), at.working.now]).toEqual([null, 0, 0]);
});

test("a turn that waits for a process when the gateway stops is left to the next start", async () => {
  using end = testEnd();
  const at = await world(says("never"), full(end.signal));
  await at.ask("hello");
  await waitFor("the wish for a process", () => at.asked() > 0);
  const stopped = Promise.resolve(at.turns[Symbol.asyncDispose]());
  await at.clock.advance(GRACE_MS);
  await waitForEnd("the stop", stopped);
  expect([(await at.store.inbox.unfinished()).length, at.clock.pending(), at.working.now]).toEqual([1, 0, 0]);
  await at[Symbol.asyncDispose]();
});

/** `/compact`, which needs the agent. `model`: empty when the agent did nothing. */
const errand = (compact: (signal: AbortSignal) => Promise<unknown>): Commands => ({
  find: () => null,
  findFor: () => ({ name: "compact", args: "" }) as never,
  plain: ({ text }) => text,
  workKind: () => "errand",
  list: () => [],
  answer: async (_found, context, signal) => {
    await context.agent?.compact("").catch(() => undefined);
    void (await compact(signal).catch(() => undefined));
    return "done";
  },
});

test.each([
  ["that has asked nothing of a model is left to the next start", false, 1],
  ["that has cost something is answered, and not asked for again", true, 0],
])("an errand %s when the gateway stops meanwhile", async (_what, costs, unfinished) => {
  let began = false;
  const at = await flow(says("never"), {
    graceMs: GRACE_MS,
    workKind: () => "errand",
    parts: async ({ pool }) => ({
      commands: errand((signal) => ((began = true), hang(signal))),
      pool: {
        ...pool,
        async lease(request, signal): Promise<AgentLease> {
          const lease = await pool.lease(request, signal);
          const compacted = { kind: "done", usage: NO_USAGE, model: "fake/one", before: 1, after: 1 } as never;
          return { ...lease, ...(costs ? { compact: async () => compacted } : {}) };
        },
      },
    }),
  });
  await at.ask("/compact");
  await waitFor("the errand", () => began);
  const stopped = Promise.resolve(at.turns[Symbol.asyncDispose]());
  await at.clock.advance(GRACE_MS);
  await waitForEnd("the stop", stopped);
  expect((await at.store.inbox.unfinished()).length).toBe(unfinished);
  await at[Symbol.asyncDispose]();
});
