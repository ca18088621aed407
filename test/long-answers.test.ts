/** Long answers on a platform that splits them: the shipped outbox sends with the shipped Telegram channel to a fake Bot API. */
import { expect, setDefaultTimeout, test } from "bun:test";
import type { Channel } from "../src/contracts/channel.ts";
import type { InboxId, TurnId } from "../src/contracts/ids.ts";
import { startOutbox } from "../src/delivery/index.ts";
import { createEvents } from "../src/observe/index.ts";
import { entry } from "../src/testing/messages.ts";
import { recordingLog } from "../src/testing/recording-log.ts";
import { createSeqIds } from "../src/testing/seq-ids.ts";
import { FRIEND } from "../src/testing/telegram/people.ts";
import { type TelegramWorld, telegramWorld, textsIn } from "../src/testing/telegram/telegram-world.ts";
import { QUIET_OUTBOX } from "../src/testing/worlds/quiet-outbox.ts";

setDefaultTimeout(120_000); // real connections on a busy machine

const WORDS = Array.from({ length: 3_200 }, (_, at) => `w${at}`);
const TICK_MS = 250;

/** Stores one answer of these words and lets time pass until the outbox has nothing left to do. */
async function deliver({ bench, channel, here }: TelegramWorld): Promise<void> {
  const { store, clock } = bench;
  const log = recordingLog();
  const said = entry(here.chat, "tell me everything");
  const message = { ...said.message, address: here };
  const [id, turnId] = ["msg_1" as InboxId, "turn_1" as TurnId];
  const { sessionKey, agentId } = said;
  await store.inbox.accept({ ...said, message, id });
  const { attempt } = await store.turns.begin({ turnId, sessionKey, agentId, inboxIds: [id], at: clock.now() });
  await store.turns.finish({
    turnId,
    attempt,
    outcome: "done",
    to: here,
    model: "m",
    settledBytes: 0,
    at: clock.now(),
    reply: [{ part: 0, message: { kind: "reply", text: WORDS.join(" ") } }],
    usage: { inputTokens: 0, outputTokens: 0, costUsd: 0 },
  });
  const deps = { clock, log, ids: createSeqIds(), events: createEvents({ log }), store: store.outbox };
  let underway = 0;
  const counting: Channel = {
    ...channel,
    send(part, signal) {
      underway++;
      return channel.send(part, signal).finally(() => underway--);
    },
  };
  await using outbox = startOutbox({ ...deps, ...QUIET_OUTBOX, channels: new Map([["telegram", counting]]) });
  let quiet = false;
  void outbox.drained(new AbortController().signal).then(() => (quiet = true));
  while (!quiet) {
    if (underway === 0) await clock.advance(TICK_MS); // a request takes real time, and must not time out meanwhile
    await new Promise((resolve) => setImmediate(resolve));
  }
}

const missing = (texts: readonly string[]): string[] => {
  const seen = new Set(texts.join(" ").split(/\s+/));
  return WORDS.filter((word) => !seen.has(word));
};
const arrived = ({ api }: TelegramWorld): void =>
  api.misbehave("sendMessage", { kind: "late", until: Promise.resolve() });
const losesResponse = ({ api }: TelegramWorld): void => api.misbehave("sendMessage", { kind: "cut_after" });

test("an answer of five messages arrives whole on Telegram when the responses to the second and the third are lost", async () => {
  await using world = await telegramWorld();
  arrived(world);
  losesResponse(world);
  arrived(world);
  losesResponse(world);
  await deliver(world);
  const texts = textsIn(world.room, FRIEND.id);
  expect(missing(texts)).toEqual([]);
  expect([texts.length, new Set(texts).size]).toEqual([7, 5]); // two of them twice
});

test("an answer whose third message is lost twice still has its end on Telegram, and the chat is told of the gap", async () => {
  await using world = await telegramWorld();
  arrived(world);
  arrived(world);
  world.api.misbehave("sendMessage", { kind: "cut_before" });
  world.api.misbehave("sendMessage", { kind: "cut_before" });
  await deliver(world);
  const texts = textsIn(world.room, FRIEND.id);
  const [first, ...more] = missing(texts);
  expect([more.length > 0, missing(texts).includes("w3199"), first === "w0"]).toEqual([true, false, false]);
  expect(texts.filter((text) => /may be missing/.test(text))).toEqual([texts.at(-1) ?? ""]);
});
