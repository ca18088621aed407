/** The end of a channel comes after everything that it has begun to write down: what a test holds back keeps it from ending. */
import { describe, expect, spyOn, test } from "bun:test";
import { REST } from "@discordjs/rest";
import type { InboxId, Principal, SessionKey, TurnId } from "../contracts/ids.ts";
import { type ChannelWorld, eventually, passing } from "../testing/contracts/channel-contract.ts";
import { discordWorld, pressed } from "../testing/discord/discord-world.ts";
import { telegramWorld } from "../testing/telegram/telegram-world.ts";
import { waitForEnd } from "../testing/wait-for.ts";

const WORLDS: readonly (readonly [string, () => Promise<ChannelWorld>])[] = [
  ["telegram", () => telegramWorld()],
  ["discord", () => discordWorld({ streamMode: "partial" })],
];
const sessionKey = "agent:default:any:dm:1" as SessionKey;
const turnId = "turn_9" as TurnId;
const NEVER = new AbortController().signal;

/** Begins to close, and sees that it does not end before it is let go. */
async function closesAfter(world: Pick<ChannelWorld, "bench" | "close">, letGo: () => void): Promise<void> {
  let isOver = false;
  const closing = world.close().then(() => (isOver = true));
  for (let turn = 0; turn < 200; turn++) {
    await world.bench.clock.advance(0);
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(isOver).toBe(false);
  letGo();
  await eventually("the channel has ended", () => isOver);
  await closing;
}

const hello = { id: "1", kind: "message", by: "friend", where: "dm", text: "hello" } as const;

describe.each(WORLDS)("the channel %s ends", (_name, open) => {
  test("after how far it has read is written down", async () => {
    await using world = await open();
    world.bench.holdFacts();
    await world.platform.bring(hello);
    await passing(world.bench, "it is being noted", () => world.bench.stored.length === 1 && world.bench.writing() > 0);
    await closesAfter(world, () => world.bench.letFactsGo());
  });

  test("after a message that is being stored", async () => {
    await using world = await open();
    world.bench.hold();
    await world.platform.bring(hello);
    await eventually("the message is at the door", () => world.bench.waiting() === 1);
    await closesAfter(world, () => world.bench.letGo());
  });

  test("after a preview that is about to be shown is written down", async () => {
    await using world = await open();
    const { bench } = world;
    await world.platform.bring(hello);
    await eventually("the message is confirmed", () => world.platform.confirmed("1"));
    bench.holdFacts("preview:");
    const inboxIds = ["in_1" as InboxId];
    bench.deps.events.emit("turn.started", { sessionKey, turnId, inboxIds, attempt: 1, waitedMs: 0 });
    bench.deps.events.emit("turn.delta", { sessionKey, turnId, text: "Some words of an answer." });
    await passing(bench, "the preview is being noted", () => bench.writing() > 0);
    await closesAfter(world, () => bench.letFactsGo());
  });
});

test("the channel discord ends with the timers of the library", async () => {
  await using world = await discordWorld();
  using ended = spyOn(REST.prototype, "clearHandlerSweeper");
  await world.close();
  expect(ended).toHaveBeenCalledTimes(1);
});

test("the channel discord ends after its menu is written down", async () => {
  await using world = await discordWorld();
  const { bench } = world;
  await bench.deps.facts.forget("discord", "default", "menu");
  bench.holdFacts("menu");
  await world.reopen();
  await eventually("the menu is being noted", () => bench.writing() > 0);
  await closesAfter(world, () => bench.letFactsGo());
});

test("the channel discord gives up its menu, the end of a question and the answer to a press when it ends", async () => {
  await using world = await discordWorld();
  const { bench, fake } = world;
  const asked = { id: "question-1", to: world.here, of: "p" as Principal, sessionKey, text: "Well?", labels: ["yes"] };
  const shown = await world.channel.questions?.show(asked, NEVER);
  await bench.deps.facts.forget("discord", "default", "menu");
  fake.rest.misbehave("late");
  const ending = shown?.close({ answered: true, words: "Yes." });
  const before = fake.rest.calls.length;
  await world.reopen();
  await eventually("the menu is on its way", () => fake.rest.calls.length > before);
  const { event, payload } = pressed(fake, { channel: world.here.chat, by: "friend", custom: "ask:0:question-1" });
  fake.gateway.dispatch(event, payload);
  await eventually("a press is being answered", () => fake.rest.calls.some(({ path }) => path.endsWith("/callback")));
  await waitForEnd("the end of the channel", world.close());
  await waitForEnd("the end of the question", Promise.resolve(ending));
});

test("the channel telegram ends after an album that is being stored", async () => {
  await using world = await telegramWorld();
  const { bench } = world;
  const chat = { id: 11, type: "private" };
  const photo = [{ file_id: "voice-1", width: 1, height: 1 }];
  const from = { id: 11, is_bot: false, first_name: "Friend" };
  const picture = (id: number) => ({
    message: { message_id: id, date: 1, from, chat, media_group_id: "album", photo },
  });
  for (const id of [901, 902]) world.happens(picture(id));
  bench.hold();
  await passing(bench, "the album is at the door", () => bench.waiting() === 1);
  await closesAfter(world, () => bench.letGo());
});
