/** An account that closes while a call to Telegram hangs: whatever the call was for, it is given up, and the account ends. */
import { expect, test } from "bun:test";
import type { TelegramConfig } from "../../config/index.ts";
import type { Principal, SessionKey } from "../../contracts/ids.ts";
import type { PendingApproval } from "../../contracts/tools/approval.ts";
import { deferred } from "../../kit/deferred.ts";
import { channelBench } from "../../testing/channels/channel-bench.ts";
import { passing } from "../../testing/contracts/channel-contract.ts";
import { type FakeBotApi, startFakeBotApi } from "../../testing/telegram/fake-bot-api.ts";
import { FRIEND, pressed, said, STRANGER } from "../../testing/telegram/people.ts";
import { settings, type TelegramWorld, telegramWorld } from "../../testing/telegram/telegram-world.ts";
import { waitFor, waitForEnd } from "../../testing/wait-for.ts";
import { createTelegram } from "./index.ts";

const NEVER = new AbortController().signal;
const FOR_LONG = 1_000;
/** Longer than an account waits for the next piece of an album. */
const ALBUM_MS = 5_000;
const SOON = { withinMs: 2_000 };

/** Calls of these methods hang until the test is over. */
function hanging(api: FakeBotApi, ...methods: readonly string[]): Disposable {
  const over = deferred<void>();
  for (const method of methods) api.misbehave(method, { kind: "late", until: over.promise }, FOR_LONG);
  return { [Symbol.dispose]: () => over.resolve() };
}

const hello = (messageId = 7) => said({ by: FRIEND, text: "hello", messageId });
const approval = (world: TelegramWorld) =>
  ({ id: "ask_12345", tool: "t", shown: "{}", origin: world.here }) as unknown as PendingApproval;
const question = (world: TelegramWorld) =>
  ({
    id: "question-1",
    to: world.here,
    of: "p" as Principal,
    sessionKey: "s" as SessionKey,
    text: "Well?",
    labels: ["yes"],
  }) as const;

/** Work that ends in a call of this method. */
type Work = readonly [string, string, Partial<TelegramConfig>, (world: TelegramWorld) => unknown];

const WORK: readonly Work[] = [
  ["the reaction to a message", "setMessageReaction", { ackReaction: "👀" }, (world) => world.happens(hello())],
  [
    "a sentence for a stranger",
    "sendMessage",
    {},
    (world) => {
      world.bench.strangers.set(`telegram:user:${STRANGER.id}` as Principal, "Ask for a code.");
      world.happens(said({ by: STRANGER, text: "hello", messageId: 7 }));
    },
  ],
  [
    "the menu of an owner",
    "setMyCommands",
    {},
    (world) => {
      world.bench.role = "owner";
      world.happens(hello());
    },
  ],
  [
    "an approval",
    "sendMessage",
    {},
    (world) => {
      world.bench.questions.push(approval(world));
      world.bench.deps.events.emit("approval", { ...approval(world), decision: null });
    },
  ],
  [
    "a press of a button",
    "answerCallbackQuery",
    {},
    (world) => world.happens(pressed({ by: FRIEND, messageId: 7 }, "q:x:0", "press-1")),
  ],
];

test.each(WORK)("an account that closes gives up %s (%s)", async (_what, method, more, begin) => {
  await using world = await telegramWorld(more);
  await world.api.until("its menu is set", () => world.api.count("setMyCommands") > 0);
  const before = world.api.count(method);
  using _hanging = hanging(world.api, method);
  begin(world);
  await world.api.until("the call", () => world.api.count(method) > before);
  await waitForEnd("the end of the account", world.close(), SOON);
});

const piece = (messageId: number) =>
  said({
    by: FRIEND,
    messageId,
    more: { media_group_id: "album", photo: [{ file_id: "voice-1", width: 1, height: 1 }] },
  });

test("an account that closes while an album may still grow takes nothing in after that, and the next one takes it in whole", async () => {
  await using world = await telegramWorld();
  const { bench } = world;
  const ids = [7, 8].map((messageId) => world.happens(piece(messageId)));
  const noted = async () => (await bench.deps.facts.get("telegram", "default", "albums")) ?? "";
  await waitFor("both pieces are noted", noted, (text) => ids.every((id) => text.includes(String(id))), SOON);
  await world.close();
  await bench.clock.advance(ALBUM_MS);
  expect([bench.stored.length, bench.clock.pending()]).toEqual([0, 0]);
  await world.reopen();
  await passing(bench, "the album is stored", () => bench.stored.length === 1);
});

test("an account that closes gives up the files of an album", async () => {
  await using world = await telegramWorld();
  using _hanging = hanging(world.api, "getFile");
  for (const messageId of [7, 8]) world.happens(piece(messageId));
  await passing(world.bench, "a file is asked for", () => world.api.count("getFile") > 0);
  await waitForEnd("the end of the account", world.close(), SOON);
});

test("an account that closes gives up the end of a question", async () => {
  await using world = await telegramWorld();
  const shown = await world.channel.questions?.show(question(world), NEVER);
  using _hanging = hanging(world.api, "editMessageText", "editMessageReplyMarkup");
  const ending = shown?.close({ answered: true, words: "Yes." });
  await world.api.until("the call", () => world.api.calls.some(({ method }) => method.startsWith("editMessage")));
  await world.close();
  await waitForEnd("the end of the question", Promise.resolve(ending), SOON);
});

test("an account that closes gives up what it sends, and so does whoever gives up the send", async () => {
  await using world = await telegramWorld();
  using _hanging = hanging(world.api, "sendMessage");
  const [first, second] = await world.bench.reply(world.here, ["one", "two"]);
  if (!first || !second) throw new Error("no parts");
  const caller = new AbortController();
  const outcomes = [world.channel.send(first, caller.signal), world.channel.send(second, NEVER)].map((sent) =>
    sent.then(
      () => "sent",
      () => "given up",
    ),
  );
  await world.api.until("the call", () => world.api.count("sendMessage") === 2);
  caller.abort(new Error("no longer wanted"));
  expect(await waitForEnd("the first send", outcomes[0] as Promise<string>, SOON)).toBe("given up");
  await world.close();
  expect(await waitForEnd("the second send", outcomes[1] as Promise<string>, SOON)).toBe("given up");
});

test.each([
  ["getMe", {}],
  ["deleteWebhook", {}],
  ["setMyCommands", {}],
  ["setWebhook", { mode: "webhook", webhookUrl: "https://bot.example.org" }],
] as const)("an account that closes while it opens gives up %s", async (method, more) => {
  await using bench = await channelBench();
  await using api = await startFakeBotApi(bench.clock);
  using _hanging = hanging(api, method);
  const [account] = await createTelegram(settings({ ...more, apiRoot: api.apiRoot })).open(bench.deps, NEVER);
  await api.until("the call", () => api.count(method) > 0);
  await waitForEnd("the end of the account", Promise.resolve(account?.[Symbol.asyncDispose]()), SOON);
  expect(bench.log.lines.map(({ words }) => words)).not.toContain("telegram connection in trouble"); // it was told to close
});

test("an account with a webhook that closes gives up the look whether Telegram is there", async () => {
  await using world = await telegramWorld({ mode: "webhook", webhookUrl: "https://bot.example.org" });
  await world.api.until("the webhook is set", () => world.api.count("setWebhook") > 0);
  using _hanging = hanging(world.api, "getMe");
  const before = world.api.count("getMe");
  await passing(world.bench, "the next look", () => world.api.count("getMe") > before);
  await waitForEnd("the end of the account", world.close(), SOON);
});

test("an account that closes waits no longer for stored albums that cannot be read", async () => {
  await using bench = await channelBench();
  await using api = await startFakeBotApi(bench.clock);
  const facts: typeof bench.deps.facts = {
    ...bench.deps.facts,
    get: (...key) => (key.includes("albums") ? Promise.reject(new Error("disk full")) : bench.deps.facts.get(...key)),
  };
  const [account] = await createTelegram(settings({ apiRoot: api.apiRoot })).open({ ...bench.deps, facts }, NEVER);
  const told = () => bench.log.lines.some(({ words }) => words === "stored albums could not be read yet");
  await waitFor("the first try", told, Boolean, SOON);
  await waitForEnd("the end of the account", Promise.resolve(account?.[Symbol.asyncDispose]()), SOON);
});
