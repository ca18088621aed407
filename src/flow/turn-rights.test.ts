/** A turn has the rights of now: before it begins, while it runs, when a message is steered into it, and when its reply is stored. */
import { describe, expect, test } from "bun:test";
import { ERRORS } from "../contracts/errors.ts";
import type { Batch } from "../contracts/queue.ts";
import { systemClock } from "../kit/clock.ts";
import { deferred } from "../kit/deferred.ts";
import { type FakeAgent, NO_USAGE, says, waits } from "../testing/fake-pool.ts";
import { HERE } from "../testing/contracts/store/store-world.ts";
import { recordingLog } from "../testing/recording-log.ts";
import { fakeRights } from "../testing/tools/tool-world.ts";
import { waitFor, waitForEnd } from "../testing/wait-for.ts";
import { flow, type FlowOptions } from "../testing/worlds/flow-world.ts";
import type { AttemptResult } from "./ending/turn-ending.ts";
import { attemptWithRights, openTurnRights } from "./turn-rights.ts";

const GONE = { kind: "lost", because: "unknown_sender", tell: true } as const;
const SILENT = { ...GONE, tell: false } as const;
const SAID = `assistant ${ERRORS.access_revoked.say}`;

async function world(agent: FakeAgent, options: FlowOptions = {}) {
  const rights = fakeRights();
  const fx = await flow(agent, { ...options, parts: async () => ({ rights }) });
  return Object.assign(fx, { rights });
}

describe("a turn whose person lost access", () => {
  test("while an attempt failed is not tried again", async () => {
    const rights = fakeRights();
    const agent: FakeAgent = async function* () {
      rights.current = GONE; // nobody is told
      const failed = { type: "failed", code: "agent_exited", detail: "x", again: true } as const;
      yield { ...failed, text: "", usage: NO_USAGE, model: "fake/one" };
    };
    await using fx = await flow(agent, { parts: async () => ({ rights }) });
    const notice = fx.replied();
    await fx.ask("hello");
    await notice;
    expect([fx.pool.prompted.length, fx.seen.slice(-2)]).toEqual([1, ["ended failed", SAID]]);
  });

  test("before it began asks no agent and ends with one sentence", async () => {
    await using fx = await world(says("a secret"));
    fx.rights.current = GONE;
    const ended = fx.next("turn.ended");
    const notice = fx.replied();
    await fx.ask("hello");
    expect((await ended).outcome).toBe("failed");
    expect((await notice).item).toMatchObject({ kind: "notice", text: ERRORS.access_revoked.say });
    expect(fx.pool.prompted).toEqual([]);
  });

  test("while it runs is stopped at once, and what was said so far is not sent", async () => {
    await using fx = await world(waits);
    const speaking = fx.next("turn.delta");
    const notice = fx.replied();
    await fx.ask("tell me a story");
    await speaking;
    fx.rights.change(GONE);
    await notice;
    expect(fx.seen.slice(-2)).toEqual(["ended failed", SAID]);
  });

  test("unnoticed, a moment before its answer was complete, has its answer dropped", async () => {
    const rights = fakeRights();
    const agent: FakeAgent = async function* () {
      rights.current = GONE; // nobody is told
      yield { type: "done", text: "a secret", usage: NO_USAGE, model: "fake/one" };
    };
    await using fx = await flow(agent, { parts: async () => ({ rights }) });
    const notice = fx.replied();
    await fx.ask("hello");
    await notice;
    expect(fx.seen.slice(-2)).toEqual(["ended failed", SAID]);
    expect(JSON.stringify(fx.seen)).not.toContain("a secret");
  });

  test.each([true, false])("where nothing may be said ends without a word; begun: %p", async (begun) => {
    await using fx = await world(waits);
    if (!begun) fx.rights.current = SILENT;
    const ended = fx.next("turn.ended");
    const speaking = begun ? fx.next("turn.delta") : null;
    await fx.ask("hello");
    await speaking;
    if (begun) fx.rights.change(SILENT);
    expect((await ended).outcome).toBe("failed");
    await fx.turns[Symbol.asyncDispose]();
    expect(fx.seen.filter((line) => line.startsWith("assistant"))).toEqual([]);
  });

  test("is stopped when rights cannot be checked", async () => {
    await using fx = await world(waits);
    const speaking = fx.next("turn.delta");
    const ended = fx.next("turn.ended");
    await fx.ask("hello");
    await speaking;
    const { now } = fx.rights;
    fx.rights.now = () => Promise.reject(new Error("the disk is gone"));
    fx.rights.change(GONE);
    fx.rights.now = now;
    expect((await ended).outcome).toBe("failed");
  });
});

describe("a turn whose person keeps access", () => {
  test("but was demoted while the message waited is leased with the role of now", async () => {
    await using fx = await world(says("hello"));
    fx.rights.current = { kind: "held", role: "guest" };
    const reply = fx.replied();
    await fx.ask("hello");
    await reply;
    expect(fx.pool.prompted[0]?.request.caller).toMatchObject({ role: "guest", scope: "dm" });
  });

  test("goes on when somebody's rights change", async () => {
    const goOn = deferred<void>();
    const agent: FakeAgent = async function* () {
      yield { type: "text", delta: "…" };
      await goOn.promise;
      yield { type: "done", text: "here", usage: NO_USAGE, model: "fake/one" };
    };
    await using fx = await world(agent);
    const speaking = fx.next("turn.delta");
    const reply = fx.replied();
    await fx.ask("hello");
    await speaking;
    fx.rights.change({ kind: "held", role: "owner" });
    goOn.resolve();
    expect((await reply).item.text).toBe("here");
  });
});

test("a message is not steered into a running turn when its sender lost access, and gets a turn that refuses it", async () => {
  const goOn = deferred<void>();
  const heard: string[] = [];
  const agent: FakeAgent = async function* ({ input, hear }) {
    yield { type: "text", delta: "…" };
    void hear().then(({ text }) => heard.push(text));
    await goOn.promise;
    yield { type: "done", text: `re: ${input.text}`, usage: NO_USAGE, model: "fake/one" };
  };
  await using fx = await world(agent, { mode: "steer" });
  const speaking = fx.next("turn.delta");
  await fx.ask("first");
  await speaking;
  const asked = deferred<void>();
  fx.rights.now = async () => {
    asked.resolve();
    return GONE; // asked for the second message: nobody was told of a change
  };
  await fx.ask("second");
  await asked.promise;
  await fx.clock.advance(0);
  expect(heard).toEqual([]);
  const both = Promise.all([fx.next("turn.ended"), fx.replied()]);
  goOn.resolve();
  await both;
  expect(fx.pool.prompted).toHaveLength(1);
});

test("a turn asks for the rights of its caller twice: before it begins, and before its answer is stored", async () => {
  await using fx = await world(says("hello yourself"));
  const { now } = fx.rights;
  let asked = 0;
  fx.rights.now = (caller) => (asked++, now(caller));
  const ended = fx.next("turn.ended");
  await fx.ask("hello");
  expect((await ended).outcome).toBe("done");
  expect(asked).toBe(2);
});

function openRights(rights: ReturnType<typeof fakeRights>) {
  const message = { sender: { principal: "operator" }, address: HERE, scope: "dm" };
  const batch = { turnId: "t1", role: "owner", entries: [{ message }] } as unknown as Batch;
  const leaving = new AbortController().signal;
  return openTurnRights({ clock: systemClock, log: recordingLog(), rights, leaving }, batch);
}

test("rights that change between the question and the beginning of a turn are asked for again", async () => {
  const rights = fakeRights();
  using open = await openRights(rights);
  rights.change(GONE);
  expect(await open.lost()).toEqual(GONE);
});

test("rights that change while they are asked for are asked for again before a turn begins", async () => {
  const rights = fakeRights();
  const { now } = rights;
  const [answered, held] = [deferred<void>(), deferred<void>()];
  rights.now = async (caller) => {
    const answer = await now(caller);
    if (answer.kind === "lost") return answer;
    answered.resolve();
    await held.promise; // the answer is on its way, and already old
    return answer;
  };
  const opening = openRights(rights);
  await answered.promise;
  rights.change(GONE);
  held.resolve();
  using open = await opening;
  expect(await open.lost()).toEqual(GONE);
});

describe("a turn whose rights cannot be read for a while, as when the disk has trouble,", () => {
  /** Fails at these calls of `now`, counted from 1. */
  function failingAt(...calls: readonly number[]) {
    const rights = fakeRights();
    const { now } = rights;
    let asked = 0;
    rights.now = (caller) => (calls.includes(++asked) ? Promise.reject(new Error("disk full")) : now(caller));
    return rights;
  }

  test.each([
    ["before it begins", [1, 2]],
    ["before its answer is stored", [2, 3]],
  ] as const)("%s is answered when they can be read", async (_when, calls) => {
    const rights = failingAt(...calls);
    await using fx = await flow(says("hello yourself"), { parts: async () => ({ rights }) });
    const ended = fx.next("turn.ended");
    await fx.ask("hello");
    const waits = () => fx.log.lines.filter(({ words }) => words === "rights of a turn could not be read yet").length;
    for (let failures = 1; failures <= calls.length; failures++) {
      await waitFor("the failed look at its rights", () => waits() === failures);
      await fx.clock.advance(1_000);
    }
    expect((await ended).outcome).toBe("done");
    expect([fx.pool.prompted.length, rights.listeners()]).toEqual([1, 0]);
  });

  test.each([
    ["before it begins", 1, 0],
    ["before its answer is stored", 2, 1],
  ] as const)("%s is left to the next start when the gateway stops first", async (_when, call, prompts) => {
    const rights = failingAt(...Array.from({ length: 50 }, (_, at) => call + at));
    await using fx = await flow(says("hello yourself"), { graceMs: 1_000, parts: async () => ({ rights }) });
    await fx.ask("hello");
    await waitFor("the failed look at its rights", () =>
      fx.log.lines.some(({ words }) => words === "rights of a turn could not be read yet"),
    );
    const stopped = fx.turns[Symbol.asyncDispose]();
    await fx.clock.advance(1_001);
    await waitForEnd("the stop", Promise.resolve(stopped));
    expect((await fx.store.inbox.unfinished()).length).toBe(1);
    expect([fx.pool.prompted.length, rights.listeners()]).toEqual([prompts, 0]);
  });
});

describe("an attempt whose person lost access meanwhile", () => {
  const spent = { inputTokens: 5, outputTokens: 7, costUsd: 0.5 };
  const used = { inputTokens: 1, outputTokens: 2, costUsd: 0.25 };
  const ofAttempt = { outcome: "done", reply: [], usage: used, model: "fake/one" } as const;
  const answers = async (result: AttemptResult, losses: readonly (typeof GONE | typeof SILENT | null)[]) => {
    const left = [...losses];
    const rights = { batch: { sessionFile: { settledBytes: 3 } }, lost: async () => left.shift() ?? null };
    let tried = 0;
    const attempt = async () => (tried++, result);
    const ended = await attemptWithRights(rights as never, () => spent, attempt);
    return { ended, tried, asked: losses.length - left.length };
  };
  const end = { kind: "end", end: ofAttempt, settledBytes: 9 } as const;

  test("ends with what it has cost and without its words, and its file stays as long as it had become", async () => {
    const { ended } = await answers(end, [null, GONE]);
    expect(ended).toMatchObject({
      kind: "end",
      settledBytes: 9,
      end: { outcome: "failed", usage: used, model: "fake/one", error: { code: "access_revoked" } },
    });
    expect(ended.kind === "end" ? ended.end.reply : []).toHaveLength(1);
    const quiet = await answers(end, [null, SILENT]);
    expect(quiet.ended.kind === "end" ? quiet.ended.end.reply : null).toEqual([]);
  });

  test("is not made at all when access was lost before, and costs what was spent before", async () => {
    const { ended, tried } = await answers(end, [GONE]);
    expect([tried, ended]).toMatchObject([
      0,
      { kind: "end", settledBytes: 3, end: { outcome: "failed", usage: spent } },
    ]);
  });

  test("is not tried again, and costs what was spent so far", async () => {
    const { ended } = await answers({ kind: "again", because: "it died" }, [null, GONE]);
    expect(ended).toMatchObject({ kind: "end", settledBytes: 3, end: { outcome: "failed", usage: spent } });
  });

  test("is left for the next start when the gateway stops, and nobody asks about rights any more", async () => {
    const { ended, asked } = await answers({ kind: "leave" }, [null, GONE]);
    expect([ended, asked]).toEqual([{ kind: "leave" }, 1]);
  });

  test.each([end, { kind: "again", because: "it died" }] as const)(
    "is what it is for those who kept it: %j",
    async (result) => {
      const { ended } = await answers(result, [null, null]);
      expect(ended).toBe(result);
    },
  );
});
