/**
 * Hidden characters in approvals and questions, on every surface that shows one: whoever decides reads exactly what will run. The web console is
 * looked at in a real browser too (page-approvals.test.ts).
 */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { startApprovals as startIrcApprovals } from "../examples/irc-channel/approvals.ts";
import { remember, startApprovalMessages } from "../src/channels/kit/index.ts";
import type { Caller } from "../src/contracts/agent.ts";
import type { Channel } from "../src/contracts/channel.ts";
import type { AskedQuestion, ChatQuestion, OpenQuestion } from "../src/contracts/channels/question.ts";
import type { AgentId, Principal, SessionKey, TurnId } from "../src/contracts/ids.ts";
import type { PendingApproval } from "../src/contracts/tools/approval.ts";
import { NO_RULES } from "../src/testing/tools/quiet-deps.ts";
import { createQuestions } from "../src/flow/questions/questions.ts";
import { readBack, writeOut, writeOutJson } from "../src/kit/marks/written-out.ts";
import { createEvents } from "../src/observe/index.ts";
import { cliFixture, fakeGateway } from "../src/testing/cli-fixture.ts";
import { eventually } from "../src/testing/contracts/channel-contract.ts";
import { discordWorld } from "../src/testing/discord/discord-world.ts";
import { BOT, PEOPLE, PLACES } from "../src/testing/discord/fake-people.ts";
import { createFakeClock } from "../src/testing/fake-clock.ts";
import { recordingLog } from "../src/testing/recording-log.ts";
import { createSeqIds } from "../src/testing/seq-ids.ts";
import { FRIEND, said } from "../src/testing/telegram/people.ts";
import { telegramWorld, TOKEN } from "../src/testing/telegram/telegram-world.ts";
import { createApprovals } from "../src/tools/index.ts";

setDefaultTimeout(120_000);

const NEVER = new AbortController().signal;
/** One of each kind: direction, no width, foreign space, line end, tag, control, filler, lone selector, blank, byte order mark. */
const KINDS = [
  ...["202e", "2066", "061c", "200b", "200d", "2060", "00ad", "00a0", "202f", "3000"],
  ...["2028", "2029", "0085", "0007", "001b", "007f", "3164", "115f", "ffa0", "fe0f", "2800", "feff", "e000", "180e"],
];
const HIDDEN = KINDS.map((kind) => String.fromCharCode(Number.parseInt(kind, 16)));
const TAG = "\u{e0041}";
const SLY = `rm ${[...HIDDEN, TAG].map((char, at) => `a${at}${char}`).join(" ")} 日本 👩‍👩‍👧 é`;
const RAW = new RegExp(`[${HIDDEN.join("")}]|${TAG}`, "u");

/** Nothing of it is left raw, all of it can be read, and what is seen anyway stays as it is. */
function expectWrittenOut(shown: string): void {
  const withoutEmoji = shown.replaceAll("👩‍👩‍👧", "");
  expect(withoutEmoji).not.toMatch(RAW);
  for (const kind of [...KINDS, "db40\\udc41"]) expect(withoutEmoji.toLowerCase()).toContain(`\\u${kind}`);
  expect(shown).toContain("日本 👩‍👩‍👧 é");
}

// ── approvals ───────────────────────────────────────────────────────────────────────────────────────────────────────────────────────

const CALLER: Caller = {
  turnId: "turn_q" as TurnId,
  agentId: "default" as AgentId,
  role: "owner",
  principal: "operator" as Principal,
  sessionKey: "agent:default:telegram:dm:11" as SessionKey,
  origin: { channel: "telegram", account: "default", chat: "11" },
};

/** As the gateway asks it: the real approvals over a store that remembers nothing. */
async function pendingFor(caller: Caller): Promise<PendingApproval> {
  const log = recordingLog();
  const store = { grantedBy: async () => null, put: async () => undefined, end: async () => true } as never;
  const clock = createFakeClock();
  const approvals = createApprovals(
    {
      clock,
      log,
      events: createEvents({ log }),
      ids: createSeqIds(),
      store,
      rules: NO_RULES,
      mayDecide: async () => true,
    },
    () => ({
      waitMs: 1_000,
    }),
  );
  const question = { tool: "bash", callId: "c1", because: `it${"\u202e"} asks`, shown: { command: SLY }, hash: "h" };
  void approvals.ask({ ...question, caller }, NEVER);
  await clock.advance(0);
  const [pending] = approvals.pending();
  if (!pending) throw new Error("the approval is not pending");
  return pending;
}

describe("an approval with hidden characters is written out", () => {
  test("in what programs and the web console get to show, which still reads back as the exact input", async () => {
    const { shown, input, because } = await pendingFor(CALLER);
    expectWrittenOut(shown);
    expect(JSON.parse(shown)).toEqual({ command: SLY });
    expect(input).toEqual({ command: SLY });
    expect(because).toBe("it\\u202e asks");
  });

  test("on Telegram", async () => {
    await using world = await telegramWorld();
    world.happens(said({ by: FRIEND, text: "please", messageId: 5 }));
    await eventually("it is taken in", () => world.api.waiting(TOKEN).length === 0);
    const pending = await pendingFor(CALLER);
    world.bench.questions.push(pending);
    world.bench.deps.events.emit("approval", { ...pending, decision: null });
    await eventually("it is shown", () => world.room.messages.some(({ buttons }) => buttons.length > 0));
    expectWrittenOut(world.platform.shown().join("\n"));
  });

  test("on Discord", async () => {
    await using world = await discordWorld();
    world.fake.say({ channel: PLACES.dm, author: PEOPLE.friend, content: "do it" });
    await eventually("it is stored", () => world.bench.stored.length === 1);
    const origin = { channel: "discord", account: "default", chat: PLACES.dm };
    const pending = await pendingFor({ ...CALLER, origin });
    world.bench.questions.push(pending);
    world.bench.deps.events.emit("approval", { ...pending, decision: null });
    const shown = () => world.fake.state.messages(PLACES.dm).filter(({ author }) => author.id === BOT.id);
    await eventually("it is shown", () => shown().length === 1);
    expectWrittenOut(shown()[0]?.content ?? "");
  });

  test("on IRC, and nothing that is too long to be read can be allowed there", async () => {
    const told: string[] = [];
    const log = recordingLog();
    const clock = createFakeClock();
    const events = createEvents({ log });
    const decided: string[] = [];
    const pending: PendingApproval[] = [];
    const decide = async (id: string) => (decided.push(id), "done");
    const deps = { clock, log, events, approvals: { pending: () => pending, decide } as never };
    using approvals = startIrcApprovals(
      {
        kit: { remember, startApprovals: (platform, signal) => startApprovalMessages(deps, platform, signal) },
        connected: () => true,
        tell: async (_chat, text) => void told.push(text),
      },
      NEVER,
    );
    approvals.open();
    const origin = { channel: "irc", account: "main", chat: "ann" };
    const whole = await pendingFor({ ...CALLER, origin });
    const ask = async (id: string, shown: string): Promise<void> => {
      pending.push({ ...whole, id, shown });
      events.emit("approval", { ...whole, id, shown, decision: null });
      await clock.advance(0);
    };
    await ask("a1", whole.shown.slice(0, 200));
    await ask("a2", whole.shown.slice(200));
    expectWrittenOut(told.join("\n").replaceAll(/\nAn owner answers.*\nMay .*\nIt would run with /g, ""));
    await ask("a3", "x".repeat(5_000));
    expect(told.at(-1)).not.toContain("!yes");
    const by = { address: origin, scope: "dm", sender: { principal: "irc:user:x" as Principal, name: "" } } as const;
    expect(await approvals.answered("!yes 3", { ...by, mentioned: true }, "owner")).toBe(false);
    expect(decided).toEqual([]);
  });

  test("in a terminal", async () => {
    const pending = await pendingFor(CALLER);
    await using fx = await cliFixture();
    await using _gateway = await fakeGateway(fx.home, () => Response.json({ items: [pending] }));
    expect(await fx.run("approvals", "list")).toBe(0);
    expectWrittenOut(fx.out());
  });
});

// ── questions of running turns ──────────────────────────────────────────────────────────────────────────────────────────────────────

interface World {
  readonly open: OpenQuestion;
  readonly shown: readonly AskedQuestion[];
  readonly posts: readonly string[];
  readonly told: readonly OpenQuestion[];
  readonly answer: Promise<unknown>;
  press(at: number): void;
  say(value: string): void;
}

async function askedWith(question: ChatQuestion, { plain = false } = {}): Promise<World> {
  const log = recordingLog();
  const clock = createFakeClock();
  const events = createEvents({ log });
  const [shown, posts, told]: [AskedQuestion[], string[], OpenQuestion[]] = [[], [], []];
  events.on("question", (news) => void told.push(news));
  const board: Channel["questions"] = {
    maxButtons: 20,
    maxLabelChars: 5_000,
    async show(asked) {
      shown.push(asked);
      return { messageId: "m1", close: async () => undefined };
    },
  };
  const channel = (plain ? {} : { questions: board }) as Channel;
  const poster = {
    post: async ({ message }: { message: { text: string } }) => (posts.push(message.text), { kind: "posted", id: "p" }),
  } as never;
  const deps = { clock, log, events, ids: createSeqIds(), poster, channels: { get: () => channel } };
  const questions = createQuestions(deps, () => ({ waitMs: 1_000 }));
  const answer = questions.ask(question, CALLER, NEVER);
  await clock.advance(0);
  const [open] = questions.pending();
  if (!open) throw new Error("the question is not open");
  const by = { principal: CALLER.principal, role: "owner" } as const;
  const press = (at: number) => void questions.answer(open.id, { kind: "press", at }, { ...by, at: CALLER.origin });
  const say = (value: string) => void questions.answer(open.id, { kind: "value", value }, by);
  return { open, shown, posts, told, answer, press, say };
}

const QUESTIONS: readonly (readonly [string, ChatQuestion])[] = [
  ["the title of a confirmation", { kind: "confirm", title: SLY }],
  ["the text of a confirmation", { kind: "confirm", title: "Sure?", text: SLY }],
  ["an option", { kind: "select", title: "Which?", options: ["a", SLY] }],
  ["a placeholder", { kind: "input", title: "Name?", placeholder: SLY }],
  ["a text to change", { kind: "input", title: "Text?", prefill: SLY, many: true }],
];

describe("a question with hidden characters is written out", () => {
  test.each(QUESTIONS)(
    "in %s: for programs, the web console, channels with buttons and channels without",
    async (_what, question) => {
      const world = await askedWith(question);
      const plain = await askedWith(question, { plain: true });
      const { text, labels } = world.shown[0] ?? { text: "", labels: [] };
      for (const shown of [
        Object.values(world.open.question).flat().join("\n"),
        Object.values(world.told[0]?.question ?? {})
          .flat()
          .join("\n"),
        [text, ...labels].join("\n"),
        plain.posts.join("\n"),
      ])
        expectWrittenOut(shown);
      await using fx = await cliFixture();
      await using _gateway = await fakeGateway(fx.home, () => Response.json({ items: [world.open] }));
      expect(await fx.run("questions", "list")).toBe(0);
      expectWrittenOut(fx.out());
    },
  );

  test("and whoever asked gets its own option back, pressed or named", async () => {
    const question: ChatQuestion = { kind: "select", title: "Which?", options: ["\\u202e", "\u202e", SLY] };
    for (const at of [0, 1, 2]) {
      const world = await askedWith(question);
      world.press(at);
      expect(await world.answer).toEqual({ kind: "chosen", option: question.options[at] });
    }
    const named = await askedWith(question);
    named.say(writeOut(SLY));
    expect(await named.answer).toEqual({ kind: "chosen", option: SLY });
  });

  test("and a text that comes back changed has its own characters again", async () => {
    const world = await askedWith({ kind: "input", title: "Text?", prefill: SLY });
    world.say(`${writeOut(SLY)} and more`);
    expect(await world.answer).toEqual({ kind: "said", text: `${SLY} and more` });
  });

  test("on Telegram and Discord as it was handed to them", async () => {
    const { text } = (await askedWith({ kind: "confirm", title: SLY })).shown[0] ?? { text: "" };
    const about = { id: "question-1", of: CALLER.principal, sessionKey: CALLER.sessionKey, text, labels: ["Yes"] };
    await using telegram = await telegramWorld();
    await telegram.channel.questions?.show({ ...about, to: telegram.here }, NEVER);
    expectWrittenOut(telegram.platform.shown().join("\n"));
    await using discord = await discordWorld();
    await discord.channel.questions?.show({ ...about, to: discord.here }, NEVER);
    const markdown = discord.platform.shown().join("\n");
    expectWrittenOut(markdown.replaceAll("\\\\", "\\")); // Discord's markdown shows two backslashes as one
  });
});

test("text that was written out reads back as it was, and ordinary words stay as they are", () => {
  expect(readBack(writeOut(SLY))).toBe(SLY);
  expect(readBack("C:\\users \\u0041 \\u00e9")).toBe("C:\\users \\u0041 \\u00e9");
  expect(writeOut("Grüße, 日本, שלום, 1️⃣ 👍🏽\n\tx")).toBe("Grüße, 日本, שלום, 1️⃣ 👍🏽\n\tx");
  expect(writeOutJson(undefined)).toBe("nothing");
  expect(writeOut("x".repeat(200_000))).toHaveLength(200_000);
});
