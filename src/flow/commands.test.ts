import { describe, expect, test } from "bun:test";
import { createWebChat } from "../channels/webchat/index.ts";
import { builtinCommands, createCommandRegistry, createLastStats } from "../commands/index.ts";
import type { InboundMessage } from "../contracts/chat.ts";
import type { AgentId, Principal, SessionKey } from "../contracts/ids.ts";
import type { Queue } from "../contracts/queue.ts";
import type { QueueMode } from "../contracts/session-settings.ts";
import type { Store } from "../contracts/store.ts";
import type { Tool } from "../contracts/tools/tool.ts";
import { startOutbox } from "../delivery/index.ts";
import { systemClock } from "../kit/clock.ts";
import { systemIds } from "../kit/ids.ts";
import { createEvents } from "../observe/index.ts";
import { createQueue } from "../queue/index.ts";
import { createRouter } from "../routing/index.ts";
import { testCommandDeps } from "../testing/command-fixture.ts";
import { createFakePool, type FakeAgent, NO_USAGE, says, waits } from "../testing/fake-pool.ts";
import { inbound } from "../testing/messages.ts";
import { realStore } from "../testing/real-store.ts";
import { recordingLog } from "../testing/recording-log.ts";
import { routingConfig } from "../testing/routing-config.ts";
import { says as told, tool, toolWorld } from "../testing/tools/tool-world.ts";
import { quietTurns } from "../testing/worlds/quiet-turns.ts";
import { quietReceiver } from "../testing/worlds/quiet-receiver.ts";
import { createLiveTurns, startTurns } from "./index.ts";
import { waitFor } from "../testing/wait-for.ts";
import { QUIET_OUTBOX } from "../testing/worlds/quiet-outbox.ts";

const SESSION = "agent:default:webchat:dm:1" as SessionKey;
const never = new AbortController().signal;
const echo: FakeAgent = (prompted, signal) => says(`re: ${prompted.input.text}`)(prompted, signal);

/** One life of a gateway on a store; `work` begins it, so that a test can look at what only waits. */
async function life(
  store: Store,
  agent: FakeAgent,
  options: { mode?: QueueMode; agents?: number; tools?: readonly Tool[] } = {},
) {
  const clock = systemClock;
  const log = recordingLog();
  const events = createEvents({ log });
  const stats = createLastStats();
  const gate = toolWorld(options.tools ?? [], { clock, ids: systemIds, events, store: store.toolCalls }).gate;
  const commands = createCommandRegistry(
    builtinCommands(
      testCommandDeps(store, {
        tools: gate,
        events,
        stats,
        log,
        queued: { session: (...lane) => queue.session(...lane), choose: (...mode) => queue.choose(...mode) },
        configured: () => ({ model: null, thinking: null }),
      }),
    ),
  );
  const settings = {
    maxPerSession: 50,
    maxTotal: 50,
    maxOverflow: 10,
    ttlMs: Infinity,
    collectMs: 1,
    channels: {},
    mode: options.mode ?? "collect",
  };
  const queue: Queue = createQueue({ clock, ids: systemIds, log, store, workKind: commands.workKind }, () => settings);
  const roles = { owners: [], members: ["webchat:user:eve", "webchat:user:nobody"] };
  const router = createRouter(() => ({ ...routingConfig(), roles }));
  const receiver = quietReceiver({ log, events, queue, router });
  const live = createLiveTurns({ clock, events, queue });
  const pool = createFakePool(agent, options.agents ?? 2);
  const channels = new Map([["webchat", createWebChat({ events, clock, store }, "webchat")]]);
  const outbox = startOutbox({ clock, ids: systemIds, log, events, store: store.outbox, channels, ...QUIET_OUTBOX });
  await queue.recover();
  const shown: string[] = [];
  events.on("message", ({ item }) => void (item.role === "assistant" && shown.push(item.text)));
  const running: AsyncDisposable[] = [];
  return {
    pool,
    shown,
    queue,
    work() {
      const parts = { clock, log, events, queue, pool, outbox, live, media: store.media };
      running.push(
        startTurns(quietTurns({ ...parts, commands, lastStats: stats }), () => ({ timeoutMs: 60_000, graceMs: 0 })),
      );
    },
    ask: (text: string, chat = "1", more: Partial<InboundMessage> = {}) =>
      receiver.receive(
        inbound(text, {
          ...more,
          address: { channel: "webchat", account: "default", chat },
          agentId: "default" as AgentId,
          receivedAt: clock.now(),
        }),
        never,
      ),
    /** Resolves when this is among what was shown. */
    async answered(text: string) {
      await waitFor(
        `"${text}" in the chat`,
        () => shown,
        (seen) => seen.some((words) => words.includes(text)),
      );
    },
    speaking: () => new Promise<void>((resolve) => void events.on("turn.delta", () => resolve())),
    async [Symbol.asyncDispose]() {
      for (const turns of running) await turns[Symbol.asyncDispose]();
      await outbox[Symbol.asyncDispose]();
    },
  };
}

describe("a command", () => {
  test("is answered without an agent, in the order of the messages around it, and stands in the transcript", async () => {
    await using world = await realStore(systemClock);
    await using fx = await life(world.store, echo);
    for (const text of ["one", "two", "/queue", "three", "four"]) await fx.ask(text);
    fx.work();
    await fx.answered("re: three");
    expect(fx.shown).toEqual([
      "re: one\n\ntwo",
      expect.stringContaining("2 messages waiting here."),
      "re: three\n\nfour",
    ]);
    expect(fx.pool.prompted.map(({ input }) => input.text)).toEqual(["one\n\ntwo", "three\n\nfour"]);
    const { items } = await world.store.sessions.transcript(SESSION, { limit: 50 });
    const [asked, answer] = items.filter(({ text }) => text === "/queue" || text.includes("waiting here"));
    expect([asked?.role, answer?.role, answer?.kind]).toEqual(["user", "assistant", "reply"]);
    expect(answer?.turnId).toBe(asked?.turnId ?? null);
  });

  test("does not wait until an agent is free", async () => {
    await using world = await realStore(systemClock);
    await using fx = await life(world.store, waits, { agents: 1 });
    fx.work();
    const speaking = fx.speaking();
    await fx.ask("a long story", "busy");
    await speaking;
    await fx.ask("/help", "other");
    await fx.answered("What you can tell the gateway");
    expect(fx.pool.prompted).toHaveLength(1);
  });

  test("does not interrupt an answer in a session where messages do", async () => {
    await using world = await realStore(systemClock);
    const gate = Promise.withResolvers<void>();
    const held: FakeAgent = async function* (_prompted, signal) {
      yield { type: "text", delta: "…" };
      await gate.promise;
      const type = signal.aborted ? "aborted" : "done";
      yield { type, text: signal.aborted ? "half a story" : "the whole story", usage: NO_USAGE, model: "fake/one" };
    };
    await using fx = await life(world.store, held, { mode: "interrupt" });
    fx.work();
    const speaking = fx.speaking();
    await fx.ask("a story");
    await speaking;
    await fx.ask("/queue");
    gate.resolve();
    await fx.answered("Nothing waits here.");
    expect(fx.shown[0]).toBe("the whole story");
  });

  test("that is written with two slashes is for the model, with one", async () => {
    await using world = await realStore(systemClock);
    await using fx = await life(world.store, echo);
    fx.work();
    await fx.ask("//help me");
    await fx.answered("re: /help me");
  });

  test("that does not exist is answered by the gateway, and one in a group without a mention by nobody", async () => {
    await using world = await realStore(systemClock);
    await using fx = await life(world.store, echo);
    fx.work();
    for (const text of ["/start", "/stauts", "/usr/bin/x is broken"]) await fx.ask(text);
    await fx.ask("/status", "2", { scope: "group", mentioned: false });
    await fx.ask("hello", "2", { scope: "group", mentioned: true });
    await fx.answered("re: /usr/bin/x is broken");
    await fx.answered("re: hello");
    const answers = ["Hello. Write a message", "Did you mean `/status`?", "re: /usr/bin/x is broken", "re: hello"];
    expect(answers.filter((words) => fx.shown.some((text) => text.includes(words)))).toEqual(answers);
    expect(fx.shown).toHaveLength(answers.length);
    expect(fx.pool.prompted.map(({ input }) => input.text).toSorted()).toEqual(["/usr/bin/x is broken", "hello"]);
    expect(await world.store.inbox.unfinished()).toEqual([]);
  });

  test("that was accepted before a crash is answered once after it, also when its turn had begun", async () => {
    await using world = await realStore(systemClock);
    {
      await using first = await life(world.store, echo);
      await first.ask("/help", "waiting");
      await first.ask("/new", "begun");
      await first.ask("hello", "begun");
      await first.queue.takeCommand(never);
      await first.queue.takeCommand(never);
    }
    await using second = await life(await world.reopen(), echo);
    second.work();
    await second.answered("re: hello");
    await second.answered("What you can tell the gateway");
    const about = (words: string) => second.shown.filter((text) => text.includes(words)).length;
    expect([about("A new conversation begins here."), about("What you can tell"), about("re: hello")]).toEqual([
      1, 1, 1,
    ]);
    expect(await world.store.inbox.unfinished()).toEqual([]);
  });
});

describe("/new", () => {
  test("gives the next turn another session file, and the one before it keeps its own", async () => {
    await using world = await realStore(systemClock);
    await using fx = await life(world.store, echo);
    for (const text of ["one", "/new", "two"]) await fx.ask(text);
    fx.work();
    await fx.answered("re: two");
    const [before, after] = fx.pool.prompted.map(({ request }) => request);
    expect(after?.sessionFile).not.toBe(before?.sessionFile);
    expect(after?.settledBytes).toBe(0);
  });
});

describe("/stop", () => {
  test("ends the running answer at once and is answered next, before what waits", async () => {
    await using world = await realStore(systemClock);
    const agent: FakeAgent = (prompted, signal) => (prompted.input.text === "story" ? waits : echo)(prompted, signal);
    await using fx = await life(world.store, agent);
    fx.work();
    const speaking = fx.speaking();
    await fx.ask("story");
    await speaking;
    await fx.ask("later");
    await fx.ask("/stop");
    await fx.answered("re: later");
    expect(fx.shown).toEqual(["Well", "Stopped.", "Stopped.", "re: later"]);
  });

  test("says that nothing was running when that is so, each time it is sent", async () => {
    await using world = await realStore(systemClock);
    await using fx = await life(world.store, echo);
    await fx.ask("/stop");
    await fx.ask("/stop");
    await fx.ask("hello");
    fx.work();
    await fx.answered("re: hello");
    expect(fx.shown).toEqual(["Nothing was running.", "Nothing was running.", "re: hello"]);
  });

  test("holds over a crash: the stopped turn is not begun again", async () => {
    await using world = await realStore(systemClock);
    {
      await using first = await life(world.store, waits);
      await first.ask("story");
      await first.queue.take(never);
      await first.ask("later");
      await first.ask("/stop");
    }
    await using second = await life(await world.reopen(), echo);
    second.work();
    await second.answered("re: later");
    expect(second.shown).toEqual(["Stopped before the assistant began.", "Stopped.", "re: later"]);
    expect(second.pool.prompted.map(({ input }) => input.text)).toEqual(["later"]);
  });
});

describe("/tools history", () => {
  test("shows a person their own calls and nobody else's, in a direct chat only", async () => {
    await using world = await realStore(systemClock);
    const echoTool = { ...tool(async () => told("done")), name: "mark" };
    await using fx = await life(world.store, echo, { tools: [echoTool] });
    fx.work();
    const eve = { principal: "webchat:user:eve" as Principal, name: "Eve" };
    await fx.ask('/tool mark {"text": "of mine"}', "1");
    await fx.ask('/tool mark {"text": "of Eve"}', "2", { sender: eve });
    await waitFor("both calls have ended", () => fx.shown.filter((text) => text === "done").length === 2);
    await fx.ask("/tools history", "1");
    await fx.answered("of mine");
    expect(fx.shown.at(-1)).toMatch(
      /^- \d{4}-\d\d-\d\d \d\d:\d\d UTC `mark`: success, \d+ ms, with \{"text":"of mine"\}$/,
    );
    await fx.ask("/tools history 5", "3", { sender: { principal: "webchat:user:nobody" as Principal, name: "N" } });
    await fx.answered("No tool call of yours is on record.");
    await fx.ask("/tools history", "4", { scope: "group", mentioned: true });
    await fx.answered("in a direct chat only");
    await fx.ask("/tools hsitory", "1");
    await fx.answered("`/tools history` shows your last tool calls");
    expect(fx.shown.some((text) => text.includes("of Eve"))).toBe(false);
    await fx.ask("/tools", "1");
    await fx.answered("- `mark`: ");
  });
});

describe("/tool", () => {
  test("whose tool was running at a crash is not run again unless the tool may, and the chat is told", async () => {
    for (const [idempotent, effects, answer] of [
      [false, 1, "must not run twice"],
      [true, 2, "run 2"],
    ] as const) {
      await using world = await realStore(systemClock);
      let runs = 0;
      const running = Promise.withResolvers<void>();
      const mark = tool(async () => {
        if (++runs > 1) return told(`run ${runs}`);
        running.resolve();
        return new Promise(() => undefined);
      });
      const tools = [{ ...mark, name: "mark", flags: { idempotent }, timeoutMs: 60_000 }];
      await using first = await life(world.store, echo, { tools });
      first.work();
      await first.ask('/tool mark {"text":"x"}');
      await running.promise;
      await using second = await life(await world.reopen(), echo, { tools }); // the first is gone in the middle of it
      second.work();
      await second.answered(answer);
      expect([runs, second.pool.prompted.length]).toEqual([effects, 0]);
    }
  });
});
