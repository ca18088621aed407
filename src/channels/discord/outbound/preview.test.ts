/** An answer while it is being written: one message, a few edits, and the reply ends up in it, whatever happens in between. */
import { afterEach, describe, expect, test } from "bun:test";
import type { ToolStatus } from "../../../contracts/chat.ts";
import type { InboxId, SessionKey, TurnId } from "../../../contracts/ids.ts";
import { systemClock } from "../../../kit/clock.ts";
import { eventually } from "../../../testing/contracts/channel-contract.ts";
import { type DiscordWorld, discordWorld } from "../../../testing/discord/discord-world.ts";
import { BOT, PEOPLE, PLACES } from "../../../testing/discord/fake-people.ts";
import { noteTool, noTools } from "../../kit/index.ts";
import { previewText } from "./preview-text.ts";
import { waitFor } from "../../../testing/wait-for.ts";

const NEVER = new AbortController().signal;
const SLOW_MS = 60_000;
const SETTLE_MS = 20;
const STEP_MS = 100;
let world: DiscordWorld;
afterEach(async () => {
  const bodies = world.fake.rest.calls.map(({ json }) => json as { content?: string } | null);
  for (const body of bodies.filter((one) => one?.content !== undefined))
    expect(body).toMatchObject({ allowed_mentions: { parse: [] } }); // nothing of a preview, or of the reply it becomes, pings
  await world[Symbol.asyncDispose]();
});

const ours = () => world.fake.state.messages(PLACES.dm).filter(({ author }) => author.id === BOT.id);
const edits = () => world.fake.rest.calls.filter(({ method }) => method === "PATCH");
const creates = () =>
  world.fake.rest.calls.filter(({ method, path }) => method === "POST" && path.endsWith("/messages"));
const nonceIn = (json: unknown) => (json as { readonly nonce?: string } | null)?.nonce;
const fact = (turnId: TurnId) => world.bench.deps.facts.get("discord", "default", `preview:${turnId}`);
/** What a previous process has left is known. */
const looked = () => new Promise((resolve) => setImmediate(resolve));
/** Lets fake time pass, and real time for the calls that follow. */
async function pass(ms: number): Promise<void> {
  await world.bench.clock.advance(ms);
  await systemClock.sleep(SETTLE_MS, NEVER);
}

/** Lets time pass until it is so. */
const inTime = (what: string, happened: () => boolean) =>
  eventually(what, () => {
    void world.bench.clock.advance(STEP_MS);
    return happened();
  });

/** The gateway knows which message it is: one that ends before it has heard that cannot take it away. */
async function known(turnId: TurnId): Promise<void> {
  await waitFor(
    "the id of the preview",
    () => fact(turnId),
    (seen) => seen !== null && !seen.includes('"message":null'),
  );
}

async function forgotten(turnId: TurnId): Promise<void> {
  await waitFor(
    "no note about the preview",
    () => fact(turnId),
    (seen) => seen === null,
  );
}

/** Frida asks something, and the bench answers with this text as the reply of this turn. */
async function asked(texts: readonly string[]) {
  world.fake.say({ channel: PLACES.dm, author: PEOPLE.friend, content: "question" });
  await eventually("it is stored", () => world.bench.stored.length > 0);
  const [part] = await world.bench.reply(world.here, texts);
  if (!part) throw new Error("nothing to send");
  const { turnId, sessionKey } = part;
  const { events } = world.bench.deps;
  const ids = { turnId, sessionKey };
  return {
    part,
    start: (inboxId: string) =>
      events.emit("turn.started", { ...ids, inboxIds: [inboxId as InboxId], attempt: 1, waitedMs: 0 }),
    say: (text: string) => events.emit("turn.delta", { ...ids, text }),
    tool: (callId: string, progress?: string, status: ToolStatus = "running") =>
      events.emit("turn.tool", {
        ...ids,
        callId,
        tool: "walk",
        status,
        ...(progress === undefined ? {} : { progress }),
      }),
    end: () =>
      events.emit("turn.ended", {
        ...ids,
        inboxIds: [],
        outcome: "done",
        ms: 1,
        usage: { inputTokens: 0, outputTokens: 0, costUsd: 0 },
      }),
  };
}
/** The bench numbers what it takes in from one. */
const FIRST = "in_1";

describe("a preview", () => {
  test(
    "shows typing, then one message that grows, and becomes the reply",
    async () => {
      world = await discordWorld({ streamMode: "partial" });
      const turn = await asked(["The whole answer."]);
      turn.start(FIRST);
      await eventually("typing is shown", () => world.fake.rest.calls.some(({ path }) => path.endsWith("/typing")));
      turn.say("The whole");
      await inTime("the first words are shown", () => ours().length === 1);
      expect(ours()[0]?.content).toBe("The whole …");
      turn.say(" ans");
      turn.say("wer");
      await inTime("the newest words are shown", () => ours()[0]?.content === "The whole answer …");
      expect(edits().length).toBe(1);
      await world.channel.send(turn.part, NEVER);
      turn.end();
      await pass(120_000);
      expect(ours().map(({ content }) => content)).toEqual(["The whole answer."]);
    },
    SLOW_MS,
  );

  test(
    "about progress has one line for each call, whether it waited for an approval or told its progress, and the reply has none",
    async () => {
      world = await discordWorld({ streamMode: "progress" });
      const turn = await asked(["There."]);
      turn.start(FIRST);
      turn.tool("c1");
      turn.tool("c1", "half way");
      turn.tool("c1", "nearly there");
      turn.tool("c2");
      turn.tool("c2", undefined, "pending");
      turn.tool("c2");
      await inTime("the tools are shown", () => ours().length === 1);
      expect(ours()[0]?.content).toBe("Working …\n• walk: `nearly there`\n• walk");
      turn.tool("c1", undefined, "success");
      await inTime("the end of the call is shown", () => ours()[0]?.content === "Working …\n• walk\n• walk");
      await world.channel.send(turn.part, NEVER);
      expect(ours().map(({ content }) => content)).toEqual(["There."]);
    },
    SLOW_MS,
  );

  test(
    "whose reply is refused for good is a preview again, and is taken away",
    async () => {
      world = await discordWorld({ streamMode: "partial" });
      const turn = await asked(["The whole answer."]);
      turn.start(FIRST);
      turn.say("The whole");
      await inTime("the first words are shown", () => ours().length === 1);
      await known(turn.part.turnId);
      world.fake.rest.misbehave("gone");
      await expect(world.channel.send(turn.part, NEVER)).rejects.toMatchObject({ kind: "permanent" });
      expect(await fact(turn.part.turnId)).not.toContain('"taken":true');
      world.fake.rest.misbehave(null);
      turn.end();
      await world.reopen();
      await inTime("the preview is taken away", () => ours().length === 0);
    },
    SLOW_MS,
  );

  test(
    "is edited at most once a second, however fast words come",
    async () => {
      world = await discordWorld({ streamMode: "partial" });
      const turn = await asked(["x"]);
      turn.start(FIRST);
      for (let step = 0; step < 50; step++) {
        turn.say(`w${step} `);
        await pass(100);
      }
      expect(edits().length).toBeGreaterThan(1);
      expect(edits().length).toBeLessThanOrEqual(5);
    },
    SLOW_MS,
  );

  test(
    "is found again after a crash, and the reply still ends up in it",
    async () => {
      world = await discordWorld({ streamMode: "partial" });
      const turn = await asked(["The answer."]);
      turn.start(FIRST);
      turn.say("The an");
      await inTime("something is shown", () => ours().length === 1);
      await known(turn.part.turnId);
      await world.bench.clock.advance(600_000); // Discord has forgotten the nonce
      await world.reopen();
      await world.channel.send(turn.part, NEVER);
      expect(ours().map(({ content }) => content)).toEqual(["The answer."]);
    },
    SLOW_MS,
  );

  test(
    "whose id was lost is found by its nonce",
    async () => {
      world = await discordWorld({ streamMode: "partial" });
      const turn = await asked(["The answer."]);
      turn.start(FIRST);
      turn.say("The an");
      world.fake.rest.misbehave("late");
      await inTime("Discord has it", () => ours().length === 1);
      world.fake.rest.misbehave(null);
      await world.channel.send(turn.part, NEVER); // the answer to the preview never comes
      world.fake.rest.letGo();
      expect(ours().map(({ content }) => content)).toEqual(["The answer."]);
    },
    SLOW_MS,
  );

  test(
    "whose id was lost in a crash is found by its nonce, and is in doubt once Discord has forgotten that",
    async () => {
      for (const [laterMs, inDoubt] of [
        [60_000, false],
        [600_000, true],
      ] as const) {
        world = await discordWorld({ streamMode: "partial" });
        const turn = await asked(["The answer."]);
        turn.start(FIRST);
        turn.say("The an");
        world.fake.rest.misbehave("late");
        await inTime("Discord has it", () => ours().length === 1);
        world.fake.rest.misbehave(null);
        world.bench.owed.add(PLACES.dm); // its reply waits
        await world.reopen();
        world.fake.rest.letGo();
        await world.bench.clock.advance(laterMs);
        const { doubt } = await world.channel.send(turn.part, NEVER);
        expect([doubt !== undefined, ours().length]).toEqual([inDoubt, inDoubt ? 2 : 1]);
        expect(ours().at(-1)?.content).toBe("The answer.");
        if (!inDoubt) await world[Symbol.asyncDispose]();
      }
    },
    SLOW_MS,
  );

  test(
    "waits until what was said before it has been delivered",
    async () => {
      world = await discordWorld({ streamMode: "partial" });
      world.bench.owed.add(PLACES.dm);
      const turn = await asked(["The answer."]);
      turn.start(FIRST);
      turn.say("The an");
      for (let step = 0; step < 5; step++) await pass(1_000);
      expect(ours()).toEqual([]);
      world.bench.owed.clear();
      await inTime("it is shown", () => ours().length === 1);
    },
    SLOW_MS,
  );

  test(
    "makes way for what is said before the answer, so that the order is right",
    async () => {
      world = await discordWorld({ streamMode: "partial" });
      const turn = await asked(["Found it."]);
      turn.start(FIRST);
      turn.say("Let me look");
      await inTime("something is shown", () => ours().length === 1);
      world.bench.owed.add(PLACES.dm);
      const post = {
        ...turn.part,
        id: `${turn.part.turnId}:x1`,
        part: -1,
        message: { kind: "reply", text: "A chart" },
      };
      await world.channel.send(post as typeof turn.part, NEVER);
      world.bench.owed.clear();
      expect(ours().map(({ content }) => content)).toEqual(["A chart"]);
      turn.say("Found");
      for (let step = 0; step < 5; step++) await pass(1_000);
      await world.channel.send(turn.part, NEVER);
      turn.end();
      await pass(120_000);
      expect(ours().map(({ content }) => content)).toEqual(["A chart", "Found it."]);
    },
    SLOW_MS,
  );

  test(
    "that makes way while its turn ends does not begin the typing again",
    async () => {
      world = await discordWorld({ streamMode: "partial" });
      const turn = await asked(["never sent"]);
      turn.start(FIRST);
      turn.say("Let me look");
      await inTime("something is shown", () => ours().length === 1);
      await known(turn.part.turnId);
      const post = {
        ...turn.part,
        id: `${turn.part.turnId}:x1`,
        part: -1,
        message: { kind: "reply", text: "A chart" },
      };
      world.fake.rest.onWritten(({ method }) => method === "DELETE" && turn.end());
      await world.channel.send(post as typeof turn.part, NEVER);
      const typed = () => world.fake.rest.calls.filter(({ path }) => path.endsWith("/typing")).length;
      const before = typed();
      for (let step = 0; step < 4; step++) await pass(10_000);
      expect([typed(), ours().map(({ content }) => content)]).toEqual([before, ["A chart"]]);
    },
    SLOW_MS,
  );

  test(
    "that somebody deleted is replaced by the reply",
    async () => {
      world = await discordWorld({ streamMode: "partial" });
      const turn = await asked(["The answer."]);
      turn.start(FIRST);
      turn.say("The an");
      await inTime("something is shown", () => ours().length === 1);
      world.fake.state.remove(PLACES.dm, ours()[0]?.id ?? "");
      await world.channel.send(turn.part, NEVER);
      expect(ours().map(({ content }) => content)).toEqual(["The answer."]);
    },
    SLOW_MS,
  );

  test(
    "that no reply follows is taken away",
    async () => {
      world = await discordWorld({ streamMode: "partial" });
      const turn = await asked(["never sent"]);
      turn.start(FIRST);
      turn.say("Hm");
      await inTime("something is shown", () => ours().length === 1);
      await known(turn.part.turnId);
      turn.end();
      for (let minute = 0; minute < 10 && ours().length > 0; minute++) await pass(60_000);
      await eventually("it is gone", () => ours().length === 0);
    },
    SLOW_MS,
  );

  test(
    "whose turn ends without a reply before Discord has answered is taken away once it has",
    async () => {
      world = await discordWorld({ streamMode: "partial" });
      const turn = await asked(["never sent"]);
      turn.start(FIRST);
      turn.say("Hm");
      world.fake.rest.misbehave("late");
      await inTime("Discord has it", () => ours().length === 1);
      world.fake.rest.misbehave(null);
      turn.end();
      world.fake.rest.letGo();
      await inTime("it is gone", () => ours().length === 0);
      expect(creates()).toHaveLength(1); // nothing was shown to find it
      await forgotten(turn.part.turnId);
    },
    SLOW_MS,
  );

  test(
    "whose answer was cut off is found by its nonce and taken away",
    async () => {
      world = await discordWorld({ streamMode: "partial" });
      const turn = await asked(["never sent"]);
      turn.start(FIRST);
      turn.say("Hm");
      world.fake.rest.misbehave("cut");
      await inTime("Discord has it", () => ours().length === 1);
      turn.end();
      world.fake.rest.misbehave(null);
      await inTime("it is gone", () => ours().length === 0);
      expect(creates().every(({ json }) => nonceIn(json) === nonceIn(creates()[0]?.json))).toBe(true);
    },
    SLOW_MS,
  );

  test.each([
    ["whose message is known", false],
    ["whose message is not known", true],
  ] as const)(
    "of a previous process, %s, is taken away when no reply follows",
    async (_what, cutOff) => {
      world = await discordWorld({ streamMode: "partial" });
      const turn = await asked(["never sent"]);
      turn.start(FIRST);
      turn.say("Hm");
      world.fake.rest.misbehave(cutOff ? "late" : null);
      await inTime("Discord has it", () => ours().length === 1);
      world.fake.rest.misbehave(null);
      if (!cutOff) await known(turn.part.turnId);
      await world.reopen();
      world.fake.rest.letGo();
      expect(ours()).toHaveLength(1);
      await inTime("it is gone", () => ours().length === 0);
      await forgotten(turn.part.turnId);
    },
    SLOW_MS,
  );

  test(
    "of a previous process stays while its turn is tried again, and takes the reply",
    async () => {
      world = await discordWorld({ streamMode: "partial" });
      const turn = await asked(["The answer."]);
      turn.start(FIRST);
      turn.say("The an");
      await inTime("something is shown", () => ours().length === 1);
      await known(turn.part.turnId);
      await world.reopen();
      await looked();
      turn.start(FIRST);
      for (let minute = 0; minute < 5; minute++) await pass(60_000);
      expect(ours()).toHaveLength(1);
      turn.end();
      await world.channel.send(turn.part, NEVER);
      for (let minute = 0; minute < 5; minute++) await pass(60_000);
      expect(ours().map(({ content }) => content)).toEqual(["The answer."]);
    },
    SLOW_MS,
  );

  test.each([
    ["in the same life", false],
    ["after a restart", true],
  ])(
    "that took a reply is never taken away, although nobody heard that it did, %s",
    async (_when, restarted) => {
      for (const unknown of [false, true]) {
        world = await discordWorld({ streamMode: "partial" });
        const turn = await asked(["The answer."]);
        turn.start(FIRST);
        turn.say("The an");
        world.fake.rest.misbehave(unknown ? "late" : null);
        await inTime("something is shown", () => ours().length === 1);
        if (!unknown) await known(turn.part.turnId);
        world.fake.rest.misbehave("cut");
        if (!restarted) turn.end();
        const failed = await world.channel.send(turn.part, NEVER).catch((error: unknown) => error);
        expect(failed).toMatchObject({ kind: "lost" });
        world.fake.rest.misbehave(null);
        world.fake.rest.letGo();
        if (restarted) await world.reopen();
        for (let step = 0; step < 5; step++) await pass(30_000);
        expect(ours()).toHaveLength(1);
        await world[Symbol.asyncDispose]();
      }
      world = await discordWorld();
    },
    SLOW_MS,
  );

  test(
    "is not shown where it is switched off, or for turns of other chats",
    async () => {
      world = await discordWorld({ streamMode: "off" });
      const turn = await asked(["x"]);
      turn.start(FIRST);
      turn.say("words");
      const other = { turnId: "elsewhere" as TurnId, sessionKey: "agent:default:webchat:dm:1" as SessionKey };
      const { events } = world.bench.deps;
      events.emit("turn.started", { ...other, inboxIds: ["in_99" as InboxId], attempt: 1, waitedMs: 0 });
      events.emit("turn.delta", { ...other, text: "words" });
      await pass(10_000);
      expect(ours()).toEqual([]);
    },
    SLOW_MS,
  );
});

describe("the text of a preview", () => {
  const tools = (tool: string, progress?: string) => {
    const shown = noTools();
    noteTool(shown, { callId: "c1", tool, status: "running", ...(progress === undefined ? {} : { progress }) });
    return shown;
  };
  test.each([
    ["partial", "Let me see", "half way", "Let me see …\n\n• go\\_far: `half way`"],
    ["partial", "", "half way", "• go\\_far: `half way`"],
    ["block", "", "half way", "• go\\_far: `half way`"],
    ["off", "", "half way", ""],
    ["partial", "", "a `@everyone` **x** https://a.example", "• go\\_far: `a '@everyone' **x** https://a.example`"],
    ["partial", "", "x".repeat(200), `• go\\_far: \`${"x".repeat(79)}…\``],
  ] as const)("in mode %s after %j has what a running tool says, %j, as %j", (mode, text, progress, shown) => {
    expect(previewText({ text, tools: tools("go_far", progress), waiting: "" }, mode)).toBe(shown);
  });
  test("in whole paragraphs waits for their end", () => {
    expect(previewText({ text: "one\n\ntw", tools: noTools(), waiting: "" }, "block")).toBe("one …");
    expect(previewText({ text: "one", tools: noTools(), waiting: "" }, "block")).toBe("");
  });
  test("about progress names the tools", () => {
    expect(previewText({ text: "secret", tools: tools("web_search"), waiting: "" }, "progress")).toBe(
      "Working …\n• web\\_search",
    );
  });
  test("says what the turn waits for, in every mode that shows anything", () => {
    const waiting = "acme asks to wait 40 s; trying again at 14:03 (UTC).";
    const shown = (mode: Parameters<typeof previewText>[1]) =>
      previewText({ text: "", tools: tools("bash"), waiting }, mode);
    expect([shown("partial"), shown("block"), shown("progress"), shown("off")]).toEqual([
      ...[`${waiting} …`, `${waiting} …`, `${waiting} …`],
      "",
    ]);
  });
  test("closes a block that is still being written, and always fits", () => {
    expect(previewText({ text: "```ts\nconst a", tools: noTools(), waiting: "" }, "partial")).toBe(
      "```ts\nconst a\n```",
    );
    expect(previewText({ text: "**bold wor", tools: noTools(), waiting: "" }, "partial")).toBe("**bold wor** …");
    expect(previewText({ text: "see [the do", tools: noTools(), waiting: "" }, "partial")).toBe("see …");
    for (const shown of [noTools(), tools("walk", "half way")])
      expect(previewText({ text: "word ".repeat(2_000), tools: shown, waiting: "" }, "partial").length).toBeLessThan(
        2_001,
      );
  });
});
