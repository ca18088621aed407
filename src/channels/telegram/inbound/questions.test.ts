/** Buttons: who may press them, what a press does, and that a copied, repeated or foreign press does nothing. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import type { AskedQuestion } from "../../../contracts/channels/question.ts";
import type { Principal, SessionKey, TurnId } from "../../../contracts/ids.ts";
import type { PendingApproval } from "../../../contracts/tools/approval.ts";
import { writeOutJson } from "../../../kit/marks/written-out.ts";
import { eventually } from "../../../testing/contracts/channel-contract.ts";
import { changed, FRIEND, OTHER, type Person, pressed, said } from "../../../testing/telegram/people.ts";
import { telegramWorld, type TelegramWorld, TOKEN } from "../../../testing/telegram/telegram-world.ts";

setDefaultTimeout(120_000); // real connections on a busy machine

const NEVER = new AbortController().signal;
const sessionKey = "agent:default:telegram:dm:11" as SessionKey;
const turnId = "turn_q" as TurnId;
const friend = `telegram:user:${FRIEND.id}` as Principal;

const question = (input: unknown = { path: "a.txt" }): PendingApproval => ({
  id: "approval_1",
  tool: "write_file",
  input,
  shown: writeOutJson(input),
  sessionKey,
  turnId,
  principal: friend,
  origin: { channel: "telegram", account: "default", chat: String(FRIEND.id) },
  askedAt: 1,
  expiresAt: 2,
  callId: "call_1",
  because: "it writes files",
});

/** A turn of this chat waits for an owner. */
async function asking(world: TelegramWorld, asked = question()): Promise<void> {
  const { bench } = world;
  bench.questions.push(asked);
  bench.deps.events.emit("approval", { ...asked, decision: null });
  await eventually("the question is shown", () => buttonsOf(world).length > 0);
}
const withButtons = ({ room }: TelegramWorld) => room.messages.find(({ buttons }) => buttons.length > 0);
const buttonsOf = (world: TelegramWorld) => withButtons(world)?.buttons ?? [];
const dataOf = (world: TelegramWorld, label: string): string =>
  buttonsOf(world).find(({ text }) => text === label)?.data ?? "";

let presses = 0;
async function press(
  world: TelegramWorld,
  by: Person,
  data: string,
  more: { messageId?: number; inGroup?: boolean } = {},
) {
  const callbackId = `press-${++presses}`;
  const messageId = more.messageId ?? world.room.messages.at(-1)?.id ?? 0;
  const place = more.inGroup ? { inGroup: { bot: world.room.username } } : {};
  const chat = { id: FRIEND.id, type: "private" };
  const update = pressed({ by, messageId, ...place }, data, callbackId) as {
    callback_query: { message: Record<string, unknown> };
  };
  if (!more.inGroup) update.callback_query.message["chat"] = chat; // the same chat, whoever presses
  world.happens(update);
  await eventually("the press is dealt with", () => world.room.answers.some(({ id }) => id === callbackId));
  return world.room.answers.find(({ id }) => id === callbackId)?.text;
}

describe("a call that waits for an owner", () => {
  test("is shown whole with three buttons, and a press decides it once", async () => {
    await using world = await telegramWorld();
    const input = { text: `begin ${"long ".repeat(1_500)} end` };
    await asking(world, question(input));
    const shown = world.room.messages.map(({ text }) => text).join("\n");
    expect(shown).toContain("begin long");
    expect(shown).toContain("long  end");
    expect(buttonsOf(world).map(({ text }) => text)).toEqual(["Allow once", "Allow in this session", "Deny"]);
    const once = dataOf(world, "Allow once");
    const messageId = withButtons(world)?.id ?? 0;
    expect(await press(world, FRIEND, once, { messageId })).toBe("Allowed once.");
    expect(world.bench.decided).toEqual([`approval_1 once ${friend}`]);
    await eventually("the buttons are gone", () => buttonsOf(world).length === 0);
    expect(await press(world, FRIEND, once, { messageId })).toBe("This question is no longer open.");
    expect(world.bench.decided).toHaveLength(1);
  });

  test.each([
    ["a member", "member", (data: string) => ({ data }), "Only an owner can decide this."],
    ["a guest", "guest", (data: string) => ({ data }), "Only an owner can decide this."],
    ["an owner with a made-up button", "owner", () => ({ data: "q:approval_2:0" }), "This question is no longer open."],
    [
      "an owner with no such answer",
      "owner",
      (data: string) => ({ data: data.replace(/0$/, "7") }),
      "This question is no longer open.",
    ],
    [
      "an owner below another message",
      "owner",
      (data: string) => ({ data, messageId: 1 }),
      "This question is no longer open.",
    ],
    [
      "an owner in another chat",
      "owner",
      (data: string) => ({ data, inGroup: true }),
      "This question is no longer open.",
    ],
  ] as const)("is not decided by %s", async (_who, role, how, told) => {
    await using world = await telegramWorld();
    await asking(world);
    world.bench.role = role;
    const { data, ...more } = how(dataOf(world, "Allow once"));
    expect(await press(world, OTHER, data, more)).toBe(told);
    expect(world.bench.decided).toEqual([]);
    expect(world.bench.arrivals.at(-1)).toMatchObject({
      kind: "action",
      sender: { principal: `telegram:user:${OTHER.id}` },
    });
  });

  test("is not decided, nor answered, when a stranger presses", async () => {
    await using world = await telegramWorld();
    await asking(world);
    world.bench.strangers.set(world.platform.people.stranger, null);
    const calls = world.platform.calls().length;
    const messageId = withButtons(world)?.id ?? 0;
    world.happens(pressed({ by: { id: 33, first_name: "S" }, messageId }, dataOf(world, "Allow once"), "press-s"));
    await eventually("it is let go", () => world.api.waiting(TOKEN).length === 0);
    expect(world.bench.decided).toEqual([]);
    expect(world.platform.calls().length).toBe(calls);
  });

  test("that nobody answered loses its buttons, and the chat reads how long it waited and what to do", async () => {
    await using world = await telegramWorld();
    await asking(world);
    const data = dataOf(world, "Deny");
    const messageId = withButtons(world)?.id ?? 0;
    const { input: _input, shown: _shown, ...known } = question();
    const say = "write_file was not run: nobody answered within 10 minutes. Ask again.";
    world.bench.questions.length = 0;
    world.bench.deps.events.emit("approval", { ...known, decision: "expired", by: null, say });
    await eventually("the chat is told", () => world.room.messages.some(({ text }) => text === say));
    expect(buttonsOf(world)).toEqual([]);
    expect(await press(world, FRIEND, data, { messageId })).toBe("This question is no longer open.");
    world.bench.deps.events.emit("approval", { ...known, decision: "expired", by: null, say });
    await press(world, FRIEND, data, { messageId }); // whatever the second word of it set off is over
    expect(world.room.messages.filter(({ text }) => text === say)).toHaveLength(1);
  });

  test("that was decided elsewhere says so", async () => {
    await using world = await telegramWorld();
    await asking(world);
    const data = dataOf(world, "Deny");
    world.bench.questions.length = 0;
    expect(await press(world, FRIEND, data)).toBe("This question is no longer open.");
  });
});

describe("a question of a running turn", () => {
  const to = { channel: "telegram", account: "default", chat: String(FRIEND.id) };
  const asked = { id: "abcdefgh12345678", to, of: friend, sessionKey, text: "Which one?", labels: ["tea", "coffee"] };
  const show = (world: TelegramWorld, more: Partial<AskedQuestion> = {}) => {
    const { questions } = world.channel;
    if (!questions) throw new Error("this channel shows no questions");
    return questions.show({ ...asked, ...more }, NEVER);
  };

  test("has a button for each choice, which says who pressed it and is small enough for Telegram", async () => {
    await using world = await telegramWorld();
    world.bench.role = "member";
    const labels = Array.from({ length: world.channel.questions?.maxButtons ?? 0 }, (_, at) => `choice ${at}`);
    const shown = await show(world, { labels });
    const data = buttonsOf(world).map((button) => button.data);
    expect(buttonsOf(world).map(({ text }) => text)).toEqual(labels);
    expect(data.every((one) => Buffer.byteLength(one) <= 64 && !one.includes("choice"))).toBe(true);
    expect(await press(world, OTHER, dataOf(world, "choice 3"))).toBe("Thank you.");
    expect(world.bench.pressed).toEqual([`${asked.id} 3 telegram:user:${OTHER.id} member`]);
    await shown.close({ answered: true, words: "Answered: choice 3" });
    expect(world.room.messages.map(({ text, buttons }) => [text, buttons])).toEqual([
      ["Which one?\n\nAnswered: choice 3", []],
    ]);
  });

  test("keeps its buttons when the press does not count, and loses them when it is over", async () => {
    await using world = await telegramWorld();
    await show(world);
    const data = dataOf(world, "tea");
    world.bench.verdict = { kind: "refused", because: "not_yours", say: "This question is for somebody else." };
    expect(await press(world, OTHER, data)).toBe("This question is for somebody else.");
    expect(buttonsOf(world)).toHaveLength(2);
    world.bench.verdict = { kind: "refused", because: "over", say: "This question is over." };
    expect(await press(world, FRIEND, data)).toBe("This question is over.");
    await eventually("the buttons are gone", () => buttonsOf(world).length === 0);
  });

  test("is not answered when a stranger presses", async () => {
    await using world = await telegramWorld();
    await show(world);
    world.bench.strangers.set(world.platform.people.stranger, null);
    const messageId = withButtons(world)?.id ?? 0;
    world.happens(pressed({ by: { id: 33, first_name: "S" }, messageId }, dataOf(world, "tea"), "press-q"));
    await eventually("it is let go", () => world.api.waiting(TOKEN).length === 0);
    expect([world.bench.pressed, world.room.answers]).toEqual([[], []]);
  });

  test("that wants words asks for a reply, and what is said says which message it replies to", async () => {
    await using world = await telegramWorld();
    const shown = await show(world, { labels: [], text: "Your name?" });
    const call = world.api.calls.findLast(({ method }) => method === "sendMessage");
    expect(call?.fields.reply_markup).toEqual({ force_reply: true });
    const reply = {
      reply_to_message: {
        message_id: Number(shown.messageId),
        text: "Your name?",
        from: { id: world.room.id, is_bot: true },
      },
    };
    world.happens(said({ by: FRIEND, text: "Ann", messageId: 9, more: reply }));
    world.happens(said({ by: FRIEND, text: "hello", messageId: 10 }));
    world.happens(changed({ by: FRIEND, text: "hallo", messageId: 10 }));
    await eventually("all are taken in", () => world.bench.stored.length === 3);
    expect(world.bench.stored.map(({ answering }) => answering)).toEqual([
      { to: shown.messageId, text: "Ann" },
      { to: null, text: "hello" },
      undefined, // a change of earlier words
    ]);
  });

  test("that wanted words says that it is over, below it, because such a message cannot be changed", async () => {
    await using world = await telegramWorld();
    const shown = await show(world, { labels: [], text: "Your name?" });
    await shown.close({ answered: true, words: "Answered." });
    await shown.close({ answered: false, words: "This question is over." });
    expect(world.room.messages.map(({ text, replyTo }) => [text, replyTo])).toEqual([
      ["Your name?", undefined],
      ["This question is over.", Number(shown.messageId)],
    ]);
  });

  test("that is long is shown whole, with the buttons below its end", async () => {
    await using world = await telegramWorld();
    const text = Array.from({ length: 1_200 }, (_, at) => `word${at}`).join(" ");
    await show(world, { text });
    const pieces = world.room.messages.map((message) => message.text);
    expect(pieces.length).toBeGreaterThan(1);
    expect(pieces.join(" ").split(/\s+/)).toEqual(text.split(" "));
    expect(world.room.messages.map(({ buttons }) => buttons.length > 0)).toEqual(
      pieces.map((_, at) => at === pieces.length - 1),
    );
  });

  test("that cannot be shown says so to whoever asks, and nothing fails when it cannot be taken away", async () => {
    await using world = await telegramWorld();
    const shown = await show(world);
    world.platform.misbehave("gone");
    await shown.close({ answered: false, words: "This question is over." });
    await expect(show(world)).rejects.toThrow();
  });
});

test("the menu holds the gateway's commands, and an owner's own chat all of them", async () => {
  await using world = await telegramWorld({ ackReaction: "👌" });
  await eventually("there is a menu", () => world.room.commands.size > 0);
  expect(world.room.commands.get("null")).toEqual([{ command: "status", description: "How things are" }]);
  world.happens(said({ by: FRIEND, text: "hi", messageId: 9 }));
  await eventually("the owner has one too", () => world.room.commands.size === 2);
  expect([...world.room.commands.keys()]).toContain(JSON.stringify({ type: "chat", chat_id: FRIEND.id }));
  await eventually("the message is acknowledged", () => world.room.reactions.length === 1);
  expect(world.room.reactions[0]).toEqual({ chat: String(FRIEND.id), message: 9, emoji: ["👌"] });
});
