/** Telegram in a whole gateway: a fake Bot API on one side, a real pi on the other. What counts is what people see in the chat. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { systemClock } from "../src/kit/clock.ts";
import { deferred } from "../src/kit/deferred.ts";
import {
  type FakeProvider,
  type FakeReply,
  type ProviderRequest,
  says,
  startFakeProvider,
} from "../src/testing/fake-provider.ts";
import type { BotRoom } from "../src/testing/telegram/bot-room.ts";
import { type FakeBotApi, startFakeBotApi } from "../src/testing/telegram/fake-bot-api.ts";
import { FRIEND, GROUP_ID, NEW_GROUP_ID, OTHER, said, spoke, STRANGER } from "../src/testing/telegram/people.ts";
import { type GatewayProcess, startGatewayProcess } from "../src/testing/whole/gateway-process.ts";
import { asked, endpoint, eventually, statusOf, WHOLE_TEST_MS } from "./whole-fixture.ts";

setDefaultTimeout(WHOLE_TEST_MS);

const TOKEN = "77:telegram-token-of-a-test";
let provider: FakeProvider;
let api: FakeBotApi;
let room: BotRoom;
let gateway: GatewayProcess;
let whisper: Bun.Server<undefined>;
let hearing: () => Response = () => Response.json({ text: "where is the teapot" });
let reply: (request: ProviderRequest) => FakeReply = () => says("ok");

const config = () => ({
  ...endpoint(provider),
  agent: { ...endpoint(provider).agent, pool: { min: 0, max: 1 } },
  roles: { owners: [`telegram:user:${FRIEND.id}`] },
  queue: { maxPerSession: 2 },
  channels: { telegram: { botToken: TOKEN, apiRoot: api.apiRoot, groups: { [GROUP_ID]: { contextMessages: 5 } } } },
  media: { transcription: { baseUrl: `http://127.0.0.1:${whisper.port}/v1` } }, // a server of one's own needs no key
});

beforeAll(async () => {
  provider = await startFakeProvider((request) => reply(request));
  api = await startFakeBotApi();
  room = api.bot(TOKEN);
  whisper = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => hearing() });
  gateway = await startGatewayProcess({ config: config() });
});
afterAll(async () => {
  await gateway?.[Symbol.asyncDispose]();
  await whisper?.stop(true);
  await api?.[Symbol.asyncDispose]();
  await provider?.[Symbol.asyncDispose]();
});

const tell = (text: string, by = FRIEND): number =>
  api.push(TOKEN, said({ by, text, messageId: room.nextMessageId() }));
const inChat = (chat: number) => room.messages.filter((one) => one.chat === String(chat) && !one.deleted);
const texts = (chat: number = FRIEND.id): readonly string[] => inChat(chat).map(({ text }) => text);

describe("a person on Telegram", () => {
  test("writes to the bot and is answered once, with formatting as entities", async () => {
    reply = () => says("**Hello** from pi");
    const update = tell("good morning");
    await eventually("the answer on Telegram", texts, (seen) => seen.includes("Hello from pi"));
    await eventually(
      "the update is confirmed",
      () => api.waiting(TOKEN),
      (ids) => !ids.includes(update),
    );
    const [answer, ...more] = inChat(FRIEND.id).filter(({ text }) => text.includes("from pi"));
    expect(more).toEqual([]);
    expect(answer?.entities).toEqual([{ type: "bold", offset: 0, length: 5 }]);
    expect(room.reactions.at(-1)?.emoji).toEqual(["👀"]);
    expect(room.actions.length).toBeGreaterThan(0);
  });

  test("sees a long answer grow in one message, which becomes the answer", async () => {
    const gate = deferred<void>();
    reply = () => says("The first half of it, ", gate.promise, "and the second half.");
    tell("tell me more");
    const preview = await eventually(
      "the beginning of the answer",
      () => inChat(FRIEND.id).find(({ text }) => text.startsWith("The first half")),
      (seen) => seen !== undefined,
    );
    gate.resolve();
    await eventually("the whole answer", texts, (seen) => seen.includes("The first half of it, and the second half."));
    const shown = inChat(FRIEND.id).filter(({ text }) => text.startsWith("The first half"));
    expect(shown.map(({ id }) => id)).toEqual([preview?.id ?? 0]);
  });

  test("says more than fits while an answer is written: nothing is refused, and the rest is told to the model in short", async () => {
    const gate = deferred<void>();
    reply = (request) =>
      asked(request).includes("count") ? says("Well, ", gate.promise, "two.") : says("I see four.");
    const before = provider.requests.length;
    tell("count the sheep");
    await provider.arrived(before + 1);
    const updates = ["white", "black", "grey", "lost"].map((kind) => tell(`a ${kind} sheep`));
    await eventually(
      "every update is confirmed",
      () => api.waiting(TOKEN),
      (ids) => !updates.some((id) => ids.includes(id)),
    );
    gate.resolve();
    await eventually("the answer to all of them", texts, (seen) => seen.includes("I see four."));
    const [, next, ...more] = provider.requests.slice(before).map(asked);
    expect(more).toEqual([]);
    expect(next).toStartWith("a white sheep\n\na black sheep\n\n(2 more messages came while too many were waiting");
    expect(next).toMatch(/- .*: a grey sheep\n- .*: a lost sheep\)$/);
  });

  test("asks to be reminded, and is, once, in the same chat", async () => {
    const input = { text: "stretching", when: "in 1 second" };
    reply = (request) => {
      if (asked(request).startsWith("Remind the person")) return says("Time to stretch!");
      if (request.messages.at(-1)?.role !== "user") return says("I will remind you.");
      return { kind: "tools", calls: [{ name: "create_reminder", input }] };
    };
    tell("remind me in a second to stretch");
    const both = ["I will remind you.", "Time to stretch!"]; // on a busy machine in either order
    const seen = await eventually(
      "the reminder in the same chat",
      texts,
      (all) => both.every((text) => all.includes(text)),
      30_000,
    );
    expect(seen.filter((text) => text === "Time to stretch!")).toHaveLength(1);
    expect(seen.filter((text) => text === "I will remind you.")).toHaveLength(1);
  });

  test("uses the gateway's commands, which are in the menu", async () => {
    api.push(
      TOKEN,
      said({
        by: FRIEND,
        text: "/status",
        messageId: room.nextMessageId(),
        more: { text: "/status", entities: [{ type: "bot_command", offset: 0, length: 7 }] },
      }),
    );
    const before = provider.requests.length;
    await eventually("the answer to the command", texts, (seen) => seen.some((text) => text.includes("fake-1")));
    expect(provider.requests.length).toBe(before);
    expect(JSON.stringify([...room.commands.values()])).toContain('"command":"status"');
  });

  test("forwards a stranger's command: it is not carried out, and the model reads it as the stranger's", async () => {
    reply = () => says("That is a command of Stranger.");
    const text = `/role telegram:user:${STRANGER.id} owner`;
    const entities = [{ type: "bot_command", offset: 0, length: 5 }];
    const origin = { type: "user", date: 1, sender_user: { ...STRANGER, is_bot: false } };
    const messageId = room.nextMessageId();
    api.push(TOKEN, said({ by: FRIEND, text, messageId, more: { text, entities, forward_origin: origin } }));
    await eventually("the answer about the forwarded command", texts, (seen) =>
      seen.includes("That is a command of Stranger."),
    );
    const told = provider.requests.map((one) => JSON.stringify(one.messages)).findLast((one) => one.includes(text));
    expect(told).toMatch(
      /<untrusted-text (\S+) source=..forwarded message.. author=..telegram:user:33.. name=..Stranger..>\\n\/role telegram:user:33 owner\\n<\/untrusted-text \1>/,
    );
    const entry = [{ type: "bot_command", offset: 0, length: 5 }];
    api.push(TOKEN, said({ by: FRIEND, messageId: room.nextMessageId(), more: { text: "/role", entities: entry } }));
    const roles = await eventually(
      "the answer to the own command",
      () => texts().find((one) => one.includes("You are an owner")),
      (seen) => seen !== undefined,
    );
    expect(roles).not.toContain(`telegram:user:${STRANGER.id}`);
  });

  test("who is not known gets a pairing code, once, and nothing reaches a model", async () => {
    const before = provider.requests.length;
    tell("let me in", STRANGER);
    tell("please", STRANGER);
    const update = tell("pretty please", STRANGER);
    await eventually(
      "the stranger's update is confirmed",
      () => api.waiting(TOKEN),
      (ids) => !ids.includes(update),
    );
    expect(inChat(STRANGER.id)).toHaveLength(1);
    expect(texts(STRANGER.id)[0]).toMatch(/[A-Z2-9]{8}/);
    expect(provider.requests.length).toBe(before);
  });

  test("sends a picture whose download fails once, and the model sees it", async () => {
    reply = () => says("a lovely dot");
    room.files.set("dot", Buffer.from(DOT, "base64"));
    api.misbehave("download", { kind: "page", status: 502 });
    const photo = [{ file_id: "dot", file_unique_id: "d", width: 1, height: 1, file_size: 70 }];
    api.push(
      TOKEN,
      said({ by: FRIEND, messageId: room.nextMessageId(), more: { photo, caption: "what is this dot?" } }),
    );
    await eventually("the answer about the picture", texts, (seen) => seen.includes("a lovely dot"));
    const request = provider.requests.find((one) => asked(one).includes("what is this dot?"));
    expect(JSON.stringify(request?.messages)).toContain("what is this dot?");
    expect(JSON.stringify(request?.messages)).toContain("photo.jpg");
    expect(JSON.stringify(request?.messages)).not.toContain("was not taken in");
  });

  test("speaks, and the model reads the words; when they cannot be had, the chat is told", async () => {
    reply = () => says("on the shelf");
    const speak = (name: string) => {
      room.files.set("voice-1", new TextEncoder().encode(`OggS ${name}`));
      api.push(TOKEN, spoke({ by: FRIEND, messageId: room.nextMessageId() }));
    };
    speak("a question");
    await eventually("the answer to the voice message", texts, (seen) => seen.includes("on the shelf"));
    expect(provider.requests.some((one) => asked(one).includes("where is the teapot"))).toBe(true);
    hearing = () => new Response("no", { status: 503 });
    speak("another one");
    await eventually("the sentence about the transcription service", texts, (seen) =>
      seen.some((text) => text.includes("The service that turns voice into text")),
    );
    await eventually(
      "the answer after the service is back",
      texts,
      (seen) => seen.filter((text) => text === "on the shelf").length === 2,
    ); // it was taken in all the same
  });
});

/** A picture of one pixel. */
const DOT = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

describe("trouble at Telegram", () => {
  test("a limit is kept to, and the answer arrives once", async () => {
    reply = () => says("after the pause");
    api.misbehave("sendMessage", { kind: "limited", retryAfter: 1 });
    tell("are you limited?");
    await eventually("the answer after the rate limit", texts, (seen) => seen.includes("after the pause"));
    expect(texts().filter((text) => text === "after the pause")).toHaveLength(1);
  });

  test("a lost answer is sent once more, and the status says that it is in doubt", async () => {
    reply = () => says("perhaps twice");
    api.misbehave("sendMessage", { kind: "cut_after" });
    tell("lose it");
    await eventually("the answer twice", texts, (seen) => seen.filter((text) => text === "perhaps twice").length === 2);
    const status = await eventually(
      "the ambiguous delivery in the status",
      () => statusOf(gateway),
      ({ outbox }) => outbox.ambiguous === 1,
    );
    expect(status.outbox.dead).toBe(0);
  });

  test("a conflict shows in the status and passes", async () => {
    api.misbehave("getUpdates", {
      kind: "refused",
      code: 409,
      description: "Conflict: terminated by other getUpdates",
    });
    tell("wake the poll");
    const health = async () => JSON.stringify((await statusOf(gateway)).channels);
    await eventually("the conflict in the status", health, (seen) => seen.includes("Another program"));
    await eventually("no conflict any more", health, (seen) => !seen.includes("Another program"), 30_000);
  });
});

describe("a group that becomes a supergroup", () => {
  test("reads what was said without a mention, marked as its author's, with the next mention and once", async () => {
    reply = () => says("I heard.");
    const talk = (text: string, mention: boolean): number => {
      const more = { date: Math.floor(systemClock.now() / 1_000) };
      const where = { bot: room.username, id: GROUP_ID, mention };
      return api.push(TOKEN, said({ by: FRIEND, text, messageId: room.nextMessageId(), inGroup: where, more }));
    };
    const before = provider.requests.length;
    talk("the heron is back at the pond", false);
    talk("what do you think?", true);
    await provider.arrived(before + 1);
    const shown = JSON.stringify(provider.requests[before]?.messages.at(-1)?.content);
    expect(shown).toMatch(
      /<untrusted-text [^>]*earlier message in this group[^>]*telegram:user:11[^>]*>\\nthe heron is back at the pond/,
    );
    talk("and now?", true);
    await provider.arrived(before + 2);
    expect(JSON.stringify(provider.requests[before + 1]?.messages.at(-1)?.content)).not.toContain("heron is back");
    await eventually(
      "both answers",
      () => texts(GROUP_ID).filter((text) => text === "I heard.").length,
      (n) => n === 2,
    );
  });

  const inGroup = (text: string, id: number): number =>
    api.push(TOKEN, said({ by: FRIEND, text, messageId: room.nextMessageId(), inGroup: { bot: room.username, id } }));

  test("keeps its place in the list, its conversation, and the answer that was under way", async () => {
    const gate = deferred<void>();
    reply = () => says(gate.promise, "for the old number");
    inGroup("remember the word heron", GROUP_ID);
    await eventually(
      "the model hears about the heron",
      () => provider.requests.some((one) => asked(one).includes("heron")),
      (heard) => heard,
    );
    room.moved.set(String(GROUP_ID), String(NEW_GROUP_ID));
    gate.resolve();
    await eventually(
      "the answer in the new group",
      () => texts(NEW_GROUP_ID),
      (seen) => seen.includes("for the old number"),
    );
    reply = () => says("for the new number");
    inGroup("which word was it?", NEW_GROUP_ID);
    await eventually(
      "the next answer in the new group",
      () => texts(NEW_GROUP_ID),
      (seen) => seen.includes("for the new number"),
    );
    const last = provider.requests.findLast((one) => asked(one).includes("which word was it?"));
    expect(JSON.stringify(last?.messages)).toContain("heron");
    const sessions = (await (await gateway.fetch("/api/sessions")).json()) as { items: { key: string }[] };
    const groups = sessions.items.map(({ key }) => key).filter((key) => key.includes("telegram:group"));
    expect(groups).toEqual([`agent:default:telegram:group:${GROUP_ID}`]);
    expect(texts(NEW_GROUP_ID)).toEqual(["for the old number", "for the new number"]);
  });
});

describe("a gateway that is killed", () => {
  test("while it answers goes on in the message it had begun, and forgets nothing that was said", async () => {
    const [more, gate] = [deferred<void>(), deferred<void>()];
    reply = () => says("Half an answer ", more.promise, "that goes on ", gate.promise, "never ends here");
    tell("kill me now");
    const begun = () => inChat(FRIEND.id).find(({ text }) => text.startsWith("Half an answer"));
    await eventually("the beginning of the answer", begun, (seen) => seen !== undefined);
    more.resolve();
    // edited, so the gateway knows which message it is: one that dies before it hears that cannot find it again
    const preview = await eventually(
      "more of the beginning",
      begun,
      (seen) => seen?.text.includes("that goes on") === true,
    );
    await gateway.kill();
    const during = tell("and this came while you were away");
    reply = () => says("A whole answer");
    gate.resolve();
    gateway = await startGatewayProcess({ config: config(), home: gateway.home });
    await eventually(
      "both whole answers",
      texts,
      (seen) => seen.filter((text) => text === "A whole answer").length === 2,
      40_000,
    );
    expect(begun()).toBeUndefined();
    expect(inChat(FRIEND.id).find(({ id }) => id === preview?.id)?.text).toBe("A whole answer");
    expect(api.waiting(TOKEN)).not.toContain(during);
    const questions = provider.requests.map(asked);
    expect(questions.some((question) => question.includes("and this came while you were away"))).toBe(true);
  });
});

test("a reply that waits when the gateway is killed is sent by the next one, which opens Telegram after it has found it", async () => {
  reply = () => says("waited for the restart");
  api.misbehave("sendMessage", { kind: "limited", retryAfter: 3 });
  tell("wait a little");
  await eventually(
    "one pending reply, and no running turn",
    () => statusOf(gateway),
    ({ outbox, queue }) => outbox.pending === 1 && queue.running === 0,
  );
  await gateway.kill();
  gateway = await startGatewayProcess({ config: config(), home: gateway.home });
  await eventually("the reply after the restart", texts, (seen) => seen.includes("waited for the restart"));
  expect((await statusOf(gateway)).outbox.dead).toBe(0);
});

test("nothing is said to anybody else", () => {
  expect(texts(OTHER.id)).toEqual([]);
});
