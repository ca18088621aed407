import { describe, expect, test } from "bun:test";
import { ERRORS, GatewayError } from "../contracts/errors.ts";
import type { Store } from "../contracts/store.ts";
import { deferred } from "../kit/deferred.ts";
import { dies, type FakeAgent, NO_USAGE, SETTLED_BYTES, says, waits } from "../testing/fake-pool.ts";
import { flow, type FlowOptions, SESSION } from "../testing/worlds/flow-world.ts";
import { waitFor } from "../testing/wait-for.ts";
import type { ReplySteps } from "./index.ts";

describe("a turn", () => {
  test("streams what the agent says, shows its tools, and ends with the stored reply", async () => {
    const agent: FakeAgent = async function* () {
      yield { type: "text", delta: "Let me " };
      yield { type: "text", delta: "look." };
      yield { type: "tool_start", callId: "c", tool: "session_status", input: {} };
      yield { type: "tool_end", callId: "c", tool: "session_status", isError: false, output: "fine" };
      yield { type: "done", text: "All is fine.", usage: NO_USAGE, model: "fake/one" };
    };
    await using fx = await flow(agent);
    const reply = fx.replied();
    await fx.ask("how are you?");
    await reply;
    expect(fx.seen).toEqual([
      "user how are you?",
      "started 1",
      "delta Let me ",
      "delta look.",
      "tool session_status running",
      "tool session_status success",
      "ended done",
      "assistant All is fine.",
    ]);
    expect(fx.live.snapshot(SESSION)).toBeNull();
    await fx.turns[Symbol.asyncDispose]();
    expect(fx.pool.open()).toBe(0);
  });

  test("that waits for its provider says so with the time, and says when to try again when it gives up", async () => {
    const usual = { text: "", usage: NO_USAGE, model: "acme/m" };
    await using fx = await flow(async function* () {
      const until = fx.clock.now() + 40_000;
      yield { type: "retrying", because: "429" };
      yield { type: "waiting", waitMs: 39_200, until, model: "acme/m" };
      const code = "provider_limited";
      yield { type: "failed", code, detail: "429 Slow down", again: false, tryAt: until + 86_400_000, ...usual };
    });
    const reply = fx.replied();
    await fx.ask("how are you?");
    await reply;
    const words = fx.seen.join("\n");
    expect(words).toMatch(/waiting acme asks to wait 40 s; trying again at \d\d:\d\d \(\S+\)\./);
    expect(words).toMatch(
      /status 429: "Slow down".* It asks to wait until \d{4}-\d\d-\d\d \d\d:\d\d \(\S+\): try again then\./,
    );
  });

  test("leaves behind where its time went, in the attempt that ended it", async () => {
    let tries = 0;
    const agent: FakeAgent = (prompted, signal) =>
      ++tries < 2 ? dies(prompted, signal) : says("Here I am.")(prompted, signal);
    await using fx = await flow(agent);
    const measured = fx.next("turn.measured");
    const reply = fx.replied();
    await fx.ask("hello?");
    await reply;
    const { turnId, attempt, spans } = await measured;
    expect([attempt, spans.map(({ name }) => name)]).toEqual([2, ["queued", "lease", "first_token", "generate"]]);
    const stored = await fx.store.turns.get(turnId);
    expect(stored?.spans.slice(0, 4)).toEqual([...spans]);
  });

  test("is tried again from the settled part of its session file when the process dies, and answers once", async () => {
    let tries = 0;
    const agent: FakeAgent = (prompted, signal) =>
      ++tries < 3 ? dies(prompted, signal) : says("Here I am.")(prompted, signal);
    await using fx = await flow(agent);
    const reply = fx.replied();
    await fx.ask("hello");
    await reply;
    expect(fx.seen.filter((line) => line.startsWith("assistant"))).toEqual(["assistant Here I am."]);
    expect(fx.pool.prompted.map(({ request }) => request.settledBytes)).toEqual([0, 0, 0]);
  });

  test("ends with a plain notice when the process dies every time", async () => {
    await using fx = await flow(dies);
    const notice = fx.next("message", ({ item }) => item.kind === "notice");
    await fx.ask("hello");
    expect((await notice).item.text).toBe(ERRORS.agent_exited.say);
    expect(fx.pool.prompted).toHaveLength(3);
  });

  test("stops when asked, keeps what was said, and says that it stopped", async () => {
    await using fx = await flow(waits);
    const speaking = fx.next("turn.delta");
    const notice = fx.next("message", ({ item }) => item.kind === "notice");
    await fx.ask("tell me a story");
    await speaking;
    expect(fx.live.snapshot(SESSION)?.text).toBe("Well");
    expect(await fx.live.abort(SESSION)).toBe(true);
    await notice;
    expect(fx.seen.slice(-3)).toEqual(["ended aborted", "assistant Well", "assistant Stopped."]);
  });

  test("ends by its deadline with a notice that says so", async () => {
    await using fx = await flow(waits, { timeoutMs: 5_000 });
    const speaking = fx.next("turn.delta");
    const notice = fx.next("message", ({ item }) => item.kind === "notice");
    await fx.ask("tell me a story");
    await speaking;
    await fx.clock.advance(5_000);
    expect((await notice).item.text).toBe(ERRORS.agent_timeout.say);
  });

  test("that gets no process in time ends with a notice that says so, and asks no agent", async () => {
    const full = () => Promise.reject(new GatewayError("pool_exhausted", "no process was free within 100 ms"));
    await using fx = await flow(says("never said"), {
      parts: async ({ pool }) => ({ pool: { ...pool, lease: full } }),
    });
    const notice = fx.next("message", ({ item }) => item.kind === "notice");
    await fx.ask("hello");
    expect((await notice).item.text).toBe("All assistants are busy. Try again in a moment.");
    expect([fx.pool.prompted, fx.seen.at(-2)]).toEqual([[], "ended failed"]);
  });

  test("waits for the one before it in the same session; answers come in order", async () => {
    await using fx = await flow((prompted, signal) => says(`re: ${prompted.input.text}`)(prompted, signal));
    const last = fx.next("message", ({ item }) => item.text === "re: three");
    for (const text of ["one", "two", "three"]) await fx.ask(text);
    await last;
    const answers = fx.seen.filter((line) => line.startsWith("assistant"));
    expect(answers).toEqual(["assistant re: one", "assistant re: two", "assistant re: three"]);
  });

  test("is over for everybody who watches, and answered, before its process is tidied up, and then gives it back", async () => {
    await using fx = await flow(says("Hello."));
    const inUse: string[] = [];
    fx.events.on("turn.ended", () => inUse.push(`ended ${fx.pool.open()}`));
    fx.events.on("message", ({ item }) => item.role === "assistant" && inUse.push(`answered ${fx.pool.open()}`));
    fx.events.on("turn.recorded", () => inUse.push("written down"));
    const reply = fx.replied();
    await fx.ask("hi");
    await reply;
    expect(inUse).toEqual(["ended 1", "answered 1"]);
    await fx.turns[Symbol.asyncDispose]();
    expect(fx.pool.open()).toBe(0);
  });

  test("keeps its reply until a full disk has room again", async () => {
    let refusals = 2;
    const flaky = (real: Store): Store => ({
      ...real,
      turns: {
        ...real.turns,
        finish: (end) => (refusals-- > 0 ? Promise.reject(new Error("disk full")) : real.turns.finish(end)),
      },
    });
    await using fx = await flow(says("kept"), { store: flaky });
    const reply = fx.replied();
    const refused = () => fx.log.lines.filter(({ words }) => words === "turn could not be stored yet").length;
    await fx.ask("hello");
    for (let tries = 1; tries <= 2; tries++) {
      await waitFor(`refusal ${tries}`, () => refused() >= tries);
      expect(fx.pool.open()).toBe(0); // others may have the process meanwhile
      await fx.clock.advance(1_000);
    }
    expect((await reply).item.text).toBe("kept");
  });

  test("passes plugins once before its reply is stored, however often the store is tried", async () => {
    let refusals = 1;
    const flaky = (real: Store): Store => ({
      ...real,
      turns: {
        ...real.turns,
        finish: (end) => (refusals-- > 0 ? Promise.reject(new Error("disk full")) : real.turns.finish(end)),
      },
    });
    let asked = 0;
    const rewrite = (): { text: string } => ({ text: `rewritten ${++asked}` });
    const deciding = () => [{ plugin: "writer", handler: rewrite }] as never;
    await using fx = await flow(says("raw"), { store: flaky, parts: async () => ({ hooks: { deciding } }) });
    const reply = fx.replied();
    await fx.ask("hello");
    await waitFor("a refusal", () => fx.log.lines.some(({ words }) => words === "turn could not be stored yet"));
    await fx.clock.advance(1_000);
    expect((await reply).item.text).toBe("rewritten 1");
    expect(asked).toBe(1);
  });

  test("remembers how much of the session file is settled and goes back to exactly that when it is tried again", async () => {
    let prompts = 0;
    await using fx = await flow((prompted, signal) => (++prompts === 2 ? dies : says("ok"))(prompted, signal));
    for (const text of ["first", "second"]) {
      const reply = fx.replied();
      await fx.ask(text);
      await reply;
    }
    expect(fx.pool.prompted.map(({ request }) => request.settledBytes)).toEqual([0, SETTLED_BYTES, SETTLED_BYTES]);
    expect(fx.pool.prompted.map(({ request }) => request.priority)).toEqual([10, 10, 10]); // as the queue had them
  });
});

describe("messages that arrive during a turn", () => {
  /** Holds the first turn open until the test lets it go on; echoes every prompt. */
  function heldEcho() {
    const gate = Promise.withResolvers<void>();
    const agent: FakeAgent = async function* ({ input }, signal) {
      yield { type: "text", delta: "…" };
      const stopped = new Promise<"stopped">((resolve) => signal.addEventListener("abort", () => resolve("stopped")));
      const how = input.text === "first" ? await Promise.race([gate.promise, stopped]) : "done";
      if (how === "stopped") yield { type: "aborted", text: "…", usage: NO_USAGE, model: "fake/one" };
      else yield { type: "done", text: `re: ${input.text}`, usage: NO_USAGE, model: "fake/one" };
    };
    return { agent, goOn: () => gate.resolve() };
  }

  test("are collected into one turn after it, and a repeat of the same words is told to the model once", async () => {
    const { agent, goOn } = heldEcho();
    await using fx = await flow(agent, { mode: "collect" });
    const speaking = fx.next("turn.delta");
    await fx.ask("first");
    await speaking;
    for (const text of ["second", "second", "third"]) await fx.ask(text);
    const first = fx.replied();
    goOn();
    await first;
    const all = fx.replied();
    await waitFor("the wait for more messages", () => fx.clock.pending() > 0);
    await fx.clock.advance(100);
    expect((await all).item.text).toBe("re: second\n\nthird");
    expect(fx.pool.prompted).toHaveLength(2);
    expect(await fx.store.inbox.unfinished()).toEqual([]);
  });

  test("stop the running turn in a session that interrupts; it says why, and the newest is answered", async () => {
    const { agent } = heldEcho();
    await using fx = await flow(agent, { mode: "interrupt" });
    const speaking = fx.next("turn.delta");
    await fx.ask("first");
    await speaking;
    const answer = fx.next("message", ({ item }) => item.text === "re: second");
    await fx.ask("second");
    await answer;
    const shown = fx.seen.filter((line) => line.startsWith("assistant"));
    expect(shown).toEqual(["assistant …", "assistant Stopped, to answer your next message.", "assistant re: second"]);
  });
});

describe("stopping", () => {
  test("lets a running turn finish within the grace time", async () => {
    const gate = Promise.withResolvers<void>();
    const agent: FakeAgent = async function* () {
      yield { type: "text", delta: "…" };
      await gate.promise;
      yield { type: "done", text: "finished", usage: NO_USAGE, model: "fake/one" };
    };
    await using fx = await flow(agent);
    const speaking = fx.next("turn.delta");
    const reply = fx.replied();
    await fx.ask("hello");
    await speaking;
    const stopped = fx.turns[Symbol.asyncDispose]();
    gate.resolve();
    await stopped;
    expect((await reply).item.text).toBe("finished");
  });

  test("leaves a turn that does not finish in time to the next start, without a reply", async () => {
    await using fx = await flow(waits, { graceMs: 1_000 });
    const speaking = fx.next("turn.delta");
    await fx.ask("hello");
    await speaking;
    const stopped = fx.turns[Symbol.asyncDispose]();
    await fx.clock.advance(1_000);
    await stopped;
    expect(await fx.store.outbox.pending(10)).toEqual([]);
    expect((await fx.store.inbox.unfinished()).map((row) => row.turn?.attempt)).toEqual([1]);
  });
});

/** Tools that send every file they are asked for with the reply. */
function filesOf(sent: string[]): Pick<ReplySteps, "tools" | "poster"> {
  const call = async (asked: { readonly params?: unknown; readonly input?: unknown }) => {
    sent.push(JSON.stringify(asked.params ?? asked.input ?? null));
    return { kind: "failed", code: "tool_failed", message: "not today" };
  };
  const poster = { post: async () => ({ kind: "no_turn" }) };
  return { tools: { call }, poster } as unknown as Pick<ReplySteps, "tools" | "poster">;
}

describe("a line MEDIA:<path> in the words of an agent", () => {
  test("is a file of the reply when the turn is done", async () => {
    const sent: string[] = [];
    await using fx = await flow(says("Look:\nMEDIA:a.png"), { parts: async () => filesOf(sent) });
    const replied = fx.replied();
    await fx.ask("hello");
    expect((await replied).item.text).not.toContain("MEDIA:");
    expect(sent.join()).toContain("a.png");
  });

  test("sends nothing when the turn was stopped", async () => {
    const sent: string[] = [];
    const stopped: FakeAgent = async function* (_prompted, signal) {
      yield { type: "text", delta: "Look:\nMEDIA:a.png\n" };
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
      yield { type: "aborted", text: "Look:\nMEDIA:a.png\n", usage: NO_USAGE, model: "fake/one" };
    };
    await using fx = await flow(stopped, { parts: async () => filesOf(sent) });
    const speaking = fx.next("turn.delta");
    const ended = fx.next("turn.ended");
    await fx.ask("hello");
    await speaking;
    fx.live.abort(SESSION);
    expect([(await ended).outcome, sent]).toEqual(["aborted", []]);
  });
});

test("an answer is kept when the size of its session file cannot be told any more", async () => {
  const broken: FlowOptions["parts"] = async ({ pool }) => ({
    pool: {
      ...pool,
      async lease(...wanted: Parameters<typeof pool.lease>) {
        const lease = await pool.lease(...wanted);
        return { ...lease, settledBytes: () => Promise.reject(new Error("the process is gone")) };
      },
    },
  });
  await using fx = await flow(says("fine"), { parts: broken });
  const replied = fx.replied();
  await fx.ask("hello");
  expect((await replied).item.text).toBe("fine");
});

test("the next message begins its turn when it is stored, while the process of the last turn is still being tidied up", async () => {
  const tidied = [deferred<void>(), deferred<void>()];
  let separate = 0;
  await using fx = await flow(says("hello"), {
    store: (real) => ({
      ...real,
      turns: { ...real.turns, begin: (turn) => (separate++, real.turns.begin(turn)) },
    }),
    // as many turns at once as there are places, and each process is held up when its turn is over
    parts: async ({ pool }) => ({
      pool: {
        ...pool,
        stats: () => ({ ...pool.stats(), max: 1 }),
        async lease(request, signal) {
          const lease = await pool.lease(request, signal);
          const free = tidied.shift();
          return { ...lease, [Symbol.asyncDispose]: () => free?.promise ?? Promise.resolve() };
        },
      },
    }),
  });
  const [first, second] = [...tidied];
  for (const text of ["one", "two"]) {
    const replied = fx.replied();
    await fx.ask(text);
    await replied;
  }
  expect(separate).toBe(0);
  for (const one of [first, second]) one?.resolve();
});

test("of sessions that wait, the one that the process of the last turn has open goes on first", async () => {
  const begun = deferred<void>();
  const agent: FakeAgent = async function* ({ input }) {
    if (input.text === "first") await begun.promise;
    yield { type: "done", text: `to ${input.text}`, usage: NO_USAGE, model: "fake/one" };
  };
  await using fx = await flow(agent, {
    parts: async ({ pool }) => ({
      pool: {
        ...pool,
        stats: () => ({ ...pool.stats(), max: 1 }),
        hasOpen: (key) => key === SESSION && pool.open() === 0,
      },
    }),
  });
  await fx.ask("first");
  await fx.ask("elsewhere", { address: { channel: "webchat", account: "main", chat: "2" } });
  await fx.ask("second");
  const answers: string[] = [];
  fx.events.on("message", ({ item }) => void (item.role === "assistant" && answers.push(item.text)));
  begun.resolve();
  await waitFor("all answers", () => answers.length === 3);
  expect(answers).toEqual(["to first", "to second", "to elsewhere"]);
});
