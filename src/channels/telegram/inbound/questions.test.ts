/** Buttons: who may press them, what a press does, and that a copied, repeated or foreign press does nothing. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import type { InboxId, Principal, SessionKey, TurnId } from "../../../contracts/ids.ts";
import type { PendingApproval } from "../../../contracts/tools/approval.ts";
import { eventually } from "../../../testing/contracts/channel-contract.ts";
import { FRIEND, OTHER, type Person, pressed, said } from "../../../testing/telegram/people.ts";
import { telegramWorld, type TelegramWorld, TOKEN } from "../../../testing/telegram/telegram-world.ts";

setDefaultTimeout(30_000); // real connections on a busy machine

const NEVER = new AbortController().signal;
const sessionKey = "agent:default:telegram:dm:11" as SessionKey;
const turnId = "turn_q" as TurnId;
const friend = `telegram:user:${FRIEND.id}` as Principal;

const question = (input: unknown = { path: "a.txt" }): PendingApproval => ({
  ...{ id: "approval_1", tool: "write_file", input, sessionKey, turnId, principal: friend, askedAt: 1, expiresAt: 2 },
  ...{ callId: "call_1", because: "it writes files" },
});

/** A turn of this chat waits for an owner. */
async function asking(world: TelegramWorld, asked = question()): Promise<void> {
  const { bench } = world;
  world.happens(said({ by: FRIEND, text: "please", messageId: 5 }));
  await eventually("it is taken in", () => world.api.waiting(TOKEN).length === 0);
  bench.questions.push(asked);
  bench.deps.events.emit("turn.started", {
    ...{ sessionKey, turnId, inboxIds: ["in_1" as InboxId], attempt: 1, waitedMs: 0 },
  });
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
    expect(buttonsOf(world).map(({ text }) => text)).toEqual(["Allow once", "Allow in this conversation", "Deny"]);
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
    [
      "an owner with a made-up button",
      "owner",
      () => ({ data: "q:AAAAAAAAAAAAAAAA:0" }),
      "This question is no longer open.",
    ],
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

  test("with choices is answered by a button of the person it is for", async () => {
    await using world = await telegramWorld();
    world.bench.role = "member";
    const answer = world.channel.ask(
      to,
      friend,
      { kind: "select", title: "Which one?", options: ["tea", "coffee"] },
      NEVER,
    );
    await eventually("it is shown", () => buttonsOf(world).length === 2);
    const data = dataOf(world, "coffee");
    expect(await press(world, OTHER, data)).toBe("This question is for somebody else.");
    expect(await press(world, FRIEND, data)).toBe("coffee");
    expect(await answer).toEqual({ kind: "chosen", option: "coffee" });
    expect(await press(world, FRIEND, data)).toBe("This question is no longer open.");
  });

  test("that wants a yes is answered by yes or no", async () => {
    await using world = await telegramWorld();
    const answer = world.channel.ask(to, friend, { kind: "confirm", title: "Sure?", text: "It is final." }, NEVER);
    await eventually("it is shown", () => buttonsOf(world).length === 2);
    expect(world.room.messages[0]?.text).toBe("Sure?\nIt is final.");
    await press(world, FRIEND, dataOf(world, "No"));
    expect(await answer).toEqual({ kind: "confirmed", yes: false });
  });

  test("that wants words takes the answer to it, which is no message to the agent", async () => {
    await using world = await telegramWorld();
    const answer = world.channel.ask(to, friend, { kind: "input", title: "Your name?" }, NEVER);
    await eventually("it is shown", () => world.room.messages.length === 1);
    const asked = world.room.messages[0];
    await eventually("the call has its answer", () => world.api.connections() <= 1); // the poll is left
    const reply = {
      reply_to_message: { message_id: asked?.id, text: asked?.text, from: { id: world.room.id, is_bot: true } },
    };
    world.happens(said({ by: FRIEND, text: "Ann", messageId: 9, more: reply }));
    expect(await answer).toEqual({ kind: "said", text: "Ann" });
    await eventually("it is let go", () => world.api.waiting(TOKEN).length === 0);
    expect(world.bench.stored).toEqual([]);
  });

  test("that nobody answers in time has no answer, and its buttons go", async () => {
    await using world = await telegramWorld();
    const limit = new AbortController();
    const answer = world.channel.ask(to, friend, { kind: "confirm", title: "Sure?" }, limit.signal);
    await eventually("it is shown", () => buttonsOf(world).length === 2);
    limit.abort(new Error("too late"));
    expect(await answer).toEqual({ kind: "none" });
    expect(buttonsOf(world)).toEqual([]);
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
