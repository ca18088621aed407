/** A group becomes a supergroup and gets another number: for the gateway it stays the chat it was, whichever way it hears of it. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import type { OutboxRow } from "../../contracts/delivery.ts";
import type { InboxId, SessionKey, TurnId } from "../../contracts/ids.ts";
import { eventually } from "../../testing/contracts/channel-contract.ts";
import { recordingLog } from "../../testing/recording-log.ts";
import { FRIEND, GROUP_ID, NEW_GROUP_ID, said } from "../../testing/telegram/people.ts";
import { type TelegramWorld, telegramWorld, textsIn, TOKEN } from "../../testing/telegram/telegram-world.ts";
import { openMovedChats } from "./api/moved-chats.ts";

setDefaultTimeout(120_000); // real connections on a busy machine

const NEVER = new AbortController().signal;
const sessionKey = `agent:default:telegram:group:${GROUP_ID}` as SessionKey;
const turnId = "turn_moved" as TurnId;
const to = { channel: "telegram", account: "default", chat: String(GROUP_ID) };
const rowOf = (text: string): OutboxRow => ({
  id: `${turnId}:0`,
  turnId,
  sessionKey,
  part: 0,
  createdAt: 1,
  outcome: "done",
  to,
  message: { kind: "reply", text },
});

const move = ({ room }: TelegramWorld): void => void room.moved.set(String(GROUP_ID), String(NEW_GROUP_ID));
const speak = (world: TelegramWorld, text: string, id: number): number =>
  world.happens(
    said({ by: FRIEND, text, messageId: world.room.nextMessageId(), inGroup: { bot: world.room.username, id } }),
  );
const announced = (from: number, more: object): object => ({
  message: { message_id: 3, date: 1, chat: { id: from, type: "group" }, from: { ...FRIEND, is_bot: false }, ...more },
});

describe("a group that has another number now", () => {
  test("gets a reply that waited for the old one, and those after it at once", async () => {
    await using world = await telegramWorld();
    move(world);
    const receipt = await world.channel.send(rowOf("the answer"), NEVER);
    expect(textsIn(world.room, NEW_GROUP_ID)).toEqual(["the answer"]);
    expect(receipt.providerId).toBe(String(world.room.messages.at(-1)?.id));
    await world.channel.send({ ...rowOf("another"), id: "other:0", turnId: "other" as TurnId }, NEVER);
    expect(textsIn(world.room, NEW_GROUP_ID)).toEqual(["the answer", "another"]);
    expect(world.api.calls.filter(({ fields }) => String(fields.chat_id) === String(GROUP_ID))).toHaveLength(1);
  });

  test.each([
    ["the old group", announced(GROUP_ID, { migrate_to_chat_id: NEW_GROUP_ID })],
    ["the new group", announced(NEW_GROUP_ID, { migrate_from_chat_id: GROUP_ID })],
  ])("is the same conversation when %s says so, also after a restart", async (_where, update) => {
    await using world = await telegramWorld();
    world.happens(update as never);
    speak(world, "still here", NEW_GROUP_ID);
    await eventually("it is stored", () => world.bench.stored.length === 1);
    await world.close();
    await world.reopen();
    speak(world, "and after", NEW_GROUP_ID);
    await eventually("it is stored", () => world.bench.stored.length === 2);
    expect(world.bench.stored.map(({ address, text }) => [address.chat, text])).toEqual([
      [String(GROUP_ID), "still here"],
      [String(GROUP_ID), "and after"],
    ]);
    expect(world.bench.arrivals.map(({ address }) => address.chat)).toEqual([String(GROUP_ID), String(GROUP_ID)]);
    await eventually("both are confirmed", () => world.api.waiting(TOKEN).length === 0);
  });

  test("shows the whole answer there when it moves while one is being shown", async () => {
    await using world = await telegramWorld();
    const { bench } = world;
    speak(world, "hello", GROUP_ID);
    await eventually("it is stored and confirmed", () => bench.stored.length === 1 && !world.api.waiting(TOKEN).length);
    bench.deps.events.emit("turn.started", {
      sessionKey,
      turnId,
      inboxIds: ["in_1" as InboxId],
      attempt: 1,
      waitedMs: 0,
    });
    bench.deps.events.emit("turn.delta", { sessionKey, turnId, text: "half" });
    await eventually("the first words are shown", () => {
      void bench.clock.advance(100);
      return textsIn(world.room, GROUP_ID).length === 1;
    });
    move(world);
    await world.channel.send(rowOf("the whole answer"), NEVER);
    expect(textsIn(world.room, NEW_GROUP_ID)).toEqual(["the whole answer"]);
  });

  test("leaves alone what has the number of an older message there", async () => {
    await using world = await telegramWorld();
    move(world);
    const result = await world.channel.edit?.({ to, sessionKey, messageId: "17" }, "other words", NEVER);
    expect(result?.kind).toBe("refused");
    expect(world.api.count("editMessageText")).toBe(1); // not tried on a stranger's number 17
  });
});

test("chats that never moved keep their number, and a number is learned once", async () => {
  const kept: string[] = [];
  const log = recordingLog();
  const facts = { get: async () => null, put: async (_key: string, value: string) => void kept.push(value) };
  const moved = await openMovedChats({ facts: { ...facts, forget: async () => undefined, list: async () => [] }, log });
  expect([moved.now("-5"), moved.first("-5")]).toEqual(["-5", "-5"]);
  await moved.learn("-5", "-105");
  await moved.learn("-5", "-105");
  await moved.learn("-105", "-105");
  expect([moved.now("-5"), moved.first("-105"), kept.length]).toEqual(["-105", "-5", 1]);
});

test("a group that moves twice stays the chat it was before the first move, also after a restart", async () => {
  const stored = new Map<string, string>();
  const facts = {
    get: async (key: string) => stored.get(key) ?? null,
    put: async (key: string, value: string) => void stored.set(key, value),
    forget: async () => undefined,
    list: async () => [],
  };
  const moved = await openMovedChats({ facts, log: recordingLog() });
  await moved.learn("-5", "-105");
  await moved.learn("-105", "-1005");
  for (const chats of [moved, await openMovedChats({ facts, log: recordingLog() })])
    expect([chats.now("-5"), chats.first("-1005")]).toEqual(["-1005", "-5"]);
});
