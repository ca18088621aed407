/** What an extension asks in a whole gateway with real pi: answered by a button, by words, by a program, and by nobody who may not. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { OpenQuestion } from "../src/contracts/channels/question.ts";
import { systemClock } from "../src/kit/clock.ts";
import { pressed as pressedOnDiscord } from "../src/testing/discord/discord-world.ts";
import { type FakeDiscord, startFakeDiscord } from "../src/testing/discord/fake-discord.ts";
import { BOT, BOT_TOKEN, PEOPLE, PLACES } from "../src/testing/discord/fake-people.ts";
import { type FakeProvider, type FakeReply, says, startFakeProvider } from "../src/testing/fake-provider.ts";
import { type TempHome, tempHome } from "../src/testing/temp-home.ts";
import type { BotRoom } from "../src/testing/telegram/bot-room.ts";
import { type FakeBotApi, startFakeBotApi } from "../src/testing/telegram/fake-bot-api.ts";
import { FRIEND, GROUP_ID, pressed, said, STRANGER } from "../src/testing/telegram/people.ts";
import { type GatewayProcess, startGatewayProcess } from "../src/testing/whole/gateway-process.ts";
import { ASKING_EXTENSION, ASKING_TOOLS } from "./asking-extension.ts";
import { asked, endpoint, eventually, post, SHARED_POOL, textOf, WHOLE_TEST_MS } from "./whole-fixture.ts";

setDefaultTimeout(WHOLE_TEST_MS);

const TOKEN = "78:telegram-token-of-a-test";
const HEARTBEAT_MS = 5_000;
let home: TempHome;
let provider: FakeProvider;
let api: FakeBotApi;
let room: BotRoom;
let discord: FakeDiscord;
let gateway: GatewayProcess;
let config: Record<string, unknown>;

const NOTE: FakeReply = { kind: "tools", calls: [{ name: "save_note", input: { title: "N", content: "noted" } }] };

/** `ask_…` makes the model call the extension's tool of that name; then it says what the tool gave it. */
function startModel(): Promise<FakeProvider> {
  return startFakeProvider((request) => {
    const last = request.messages.at(-1);
    if (last?.role === "tool") return says(`got ${textOf(last.content)}`);
    const [wentOn] = /went on: \w+/.exec(asked(request)) ?? [];
    if (wentOn !== undefined) return says(wentOn);
    if (asked(request) === "note it") return NOTE;
    const [, name] = /^(ask_\w+)/.exec(asked(request)) ?? [];
    return name === undefined ? says("hello") : { kind: "tools", calls: [{ name, input: {} }] };
  });
}

beforeAll(async () => {
  home = await tempHome();
  const extension = join(home.path, "asking.ts");
  await writeFile(extension, ASKING_EXTENSION);
  provider = await startModel();
  api = await startFakeBotApi();
  room = api.bot(TOKEN);
  discord = await startFakeDiscord({ now: () => systemClock.now(), heartbeatMs: HEARTBEAT_MS });
  const base = endpoint(provider);
  config = {
    ...base,
    agent: { ...base.agent, extensions: [extension], tools: [...ASKING_TOOLS, "save_note"], pool: SHARED_POOL },
    tools: { approvals: { never: ASKING_TOOLS, ask: ["save_note"] }, origins: { cron: { allow: ASKING_TOOLS } } },
    roles: { owners: [`telegram:user:${FRIEND.id}`, `discord:user:${PEOPLE.friend.id}`] },
    channels: {
      telegram: { botToken: TOKEN, apiRoot: api.apiRoot, groups: { [GROUP_ID]: {} } },
      discord: { token: BOT_TOKEN, apiRoot: discord.apiRoot },
    },
  };
  gateway = await startGatewayProcess({ config });
  await eventually(
    "the bot is connected",
    () => discord.gateway.connections(),
    (count) => count === 1,
  );
});
afterAll(async () => {
  await gateway?.[Symbol.asyncDispose]();
  for (const one of [discord, api, provider, home]) await one?.[Symbol.asyncDispose]();
});

const open = async (): Promise<readonly OpenQuestion[]> => {
  const { items } = (await (await gateway.fetch("/api/questions")).json()) as { items: OpenQuestion[] };
  return items;
};
const openIn = (place: string) =>
  eventually(
    "an open approval in this chat",
    async () => (await open()).filter(({ sessionKey }) => sessionKey.includes(place)),
    (items) => items.length === 1,
  );

const inChat = (id = FRIEND.id) => room.messages.filter(({ chat, deleted }) => chat === String(id) && !deleted);
/** The newest call that waits for an owner there. */
const approvalIn = (id: number, after = 0) =>
  eventually(
    "the approval buttons in the chat",
    () => inChat(id).findLast((one) => one.id > after && one.buttons.some(({ text }) => text === "Allow once")),
    (one) => one !== undefined,
  );
const texts = () => inChat().map(({ text }) => text);
const shown = (text: string) =>
  eventually(
    `"${text}" in the chat`,
    () => inChat().findLast((one) => one.text === text),
    (one) => one !== undefined,
  );
const tell = (text: string, more = {}) =>
  api.push(TOKEN, said({ by: FRIEND, text, messageId: room.nextMessageId(), more }));
const press = (by: typeof FRIEND, messageId: number, data: string, callbackId: string) =>
  api.push(TOKEN, pressed({ by, messageId }, data, callbackId));
const letGo = (update: number) =>
  eventually(
    `update ${update} is confirmed`,
    () => api.waiting(TOKEN),
    (ids) => !ids.includes(update),
  );

describe("on Telegram", () => {
  test("a choice is made by a button, once, and not by a stranger", async () => {
    tell("ask_choice");
    const question = await shown("Which one?");
    const [, coffee] = question?.buttons ?? [];
    expect(question?.buttons.map(({ text }) => text)).toEqual(["tea", "coffee"]);
    await letGo(press(STRANGER, question?.id ?? 0, coffee?.data ?? "", "by-stranger"));
    expect(room.answers).toEqual([]);
    expect(await openIn("telegram")).toHaveLength(1);
    press(FRIEND, question?.id ?? 0, coffee?.data ?? "", "by-friend");
    await shown('got "coffee"');
    await shown("Which one?\n\nAnswered: coffee");
    expect(question?.buttons).toEqual([]);
    press(FRIEND, question?.id ?? 0, coffee?.data ?? "", "late");
    await eventually(
      "two answers to the button",
      () => room.answers,
      (answers) => answers.length === 2,
    );
    expect(room.answers).toEqual([
      { id: "by-friend", text: "coffee" },
      { id: "late", text: "This question is over." },
    ]);
  });

  test("words are the next message, which is then no message to the agent", async () => {
    const before = provider.requests.length;
    tell("ask_words");
    await shown("Your name?\n(first and last)");
    await openIn("telegram");
    tell("Ann Lee");
    await shown('got "Ann Lee"');
    expect(
      provider.requests
        .slice(before)
        .map(asked)
        .filter((words) => words === "Ann Lee"),
    ).toEqual([]);
    expect(provider.requests.length).toBe(before + 2);
  });

  test("a question goes with its turn when that is stopped, at once, and nobody's process with it", async () => {
    tell("ask_yes");
    const question = await shown("Sure?\nIt is final.");
    const stop = { text: "/stop", entities: [{ type: "bot_command", offset: 0, length: 5 }] };
    const pids = gateway.stderr().match(/agent did not stop when asked/g);
    tell("/stop", stop);
    await shown("Sure?\nIt is final.\n\nThis question is over. The turn that asked has ended.");
    expect(question?.buttons).toEqual([]);
    await eventually("the turn is stopped", texts, (seen) => seen.some((text) => text.includes("Stopped")));
    expect([gateway.stderr().match(/agent did not stop when asked/g), await open()]).toEqual([pids, []]);
  });

  test("a note is a message, and what decorates a terminal is nothing", async () => {
    tell("ask_note");
    await shown('got "told"');
    const seen = texts();
    expect(seen.slice(seen.indexOf("Saved."))).toEqual(["Saved.", 'got "told"']);
  });
});

const ours = () => discord.state.messages(PLACES.dm).filter(({ author }) => author.id === BOT.id);
const shownOnDiscord = (content: string) =>
  eventually(
    `a message that begins with "${content}"`,
    () => ours().findLast((one) => one.content.startsWith(content)),
    (one) => one !== undefined,
  );
/** The first button under a message is pressed. */
const pressOnDiscord = (by: "friend" | "stranger", under: string, custom: string): void => {
  const { event, payload } = pressedOnDiscord(discord, { channel: PLACES.dm, by, custom, under });
  discord.gateway.dispatch(event, payload);
};
const firstButton = (components: unknown): string => JSON.stringify(components).match(/ask:0:[\w-]+/)?.[0] ?? "";

test("a call that waits for an owner is shown on Telegram, and runs when they press, not when a stranger does", async () => {
  tell("note it");
  const call = await approvalIn(FRIEND.id);
  const [once] = call?.buttons ?? [];
  expect(call?.text).toContain("save_note");
  await letGo(press(STRANGER, call?.id ?? 0, once?.data ?? "", "not-theirs"));
  const { items } = (await (await gateway.fetch("/api/approvals")).json()) as { items: unknown[] };
  expect(items).toHaveLength(1);
  press(FRIEND, call?.id ?? 0, once?.data ?? "", "the-owner");
  await eventually("the tool call has run", texts, (seen) => seen.at(-1)?.includes('"saved":true') === true);
});

describe("on Discord", () => {
  test("a yes is given by a component, and not by a stranger", async () => {
    discord.say({ channel: PLACES.dm, author: PEOPLE.friend, content: "ask_yes" });
    const question = await shownOnDiscord("Sure?\nIt is final.");
    const yes = firstButton(question?.components);
    pressOnDiscord("stranger", question?.id ?? "", yes);
    discord.say({ channel: PLACES.dm, author: PEOPLE.friend, content: "a message in between" });
    await openIn("discord");
    pressOnDiscord("friend", question?.id ?? "", yes);
    await shownOnDiscord("got true");
    await shownOnDiscord("Sure?\nIt is final.\n\nAnswered: Yes");
    await shownOnDiscord("hello"); // the message in between was one, and has its own turn
    expect(question?.components).toEqual([]);
  });

  test("words are a reply or, in a direct chat, the next message", async () => {
    discord.say({ channel: PLACES.dm, author: PEOPLE.friend, content: "ask_words" });
    await shownOnDiscord("Your name?");
    await openIn("discord");
    discord.say({ channel: PLACES.dm, author: PEOPLE.friend, content: "Ben" });
    await shownOnDiscord('got "Ben"');
  });
});

describe("for programs", () => {
  const answer = (id: string, given: unknown) =>
    gateway.fetch(`/api/questions/${id}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ answer: given }),
    });

  test("a question is seen and answered over the API, with one of its answers", async () => {
    const said = post(gateway, { text: "ask_choice", session: "asks" });
    const [question] = await openIn(":asks");
    expect(question?.question).toEqual({ kind: "select", title: "Which one?", options: ["tea", "coffee"] });
    expect((await answer(question?.id ?? "", "milk")).status).toBe(422);
    expect((await answer(question?.id ?? "", "tea")).status).toBe(200);
    expect(((await (await said).json()) as { content: string }).content).toBe('got "tea"');
    expect((await answer(question?.id ?? "", "tea")).status).toBe(404);
  });

  test("pi's own time limit is kept, and its question is over then", async () => {
    const said = await post(gateway, { text: "ask_briefly", session: "brief" });
    expect(((await said.json()) as { content: string }).content).toBe("got nothing");
    expect(await open()).toEqual([]);
  });

  test("a turn that nobody watches asks nobody, and its record says why", async () => {
    const job = { id: "asker", schedule: { kind: "every", expr: "365d" }, task: "ask_choice", delivery: "silent" };
    const headers = { "content-type": "application/json" };
    const added = await gateway.fetch("/api/cron/jobs", { method: "POST", headers, body: JSON.stringify(job) });
    expect(added.status).toBeLessThan(300);
    await gateway.fetch("/api/cron/jobs/asker/run", { method: "POST", headers, body: "{}" });
    const folder = join(gateway.home, "logs", "transcripts");
    const record = () =>
      (existsSync(folder) ? readdirSync(folder) : [])
        .filter((name) => name.includes("cron"))
        .map((name) => readFileSync(join(folder, name), "utf8"))
        .join("\n");
    await eventually("the transcript says that nobody answered", record, (text) => text.includes("> got nothing"));
    expect(record()).toContain(
      "- asked `Which one?`: Nobody is there to be asked: this turn was begun by a scheduled job.",
    );
    expect(await open()).toEqual([]);
  });
});

describe("a gateway that is killed while it asks", () => {
  const pressInGroup = (messageId: number, data: string, callbackId: string) =>
    api.push(TOKEN, pressed({ by: FRIEND, messageId, inGroup: { bot: room.username } }, data, callbackId));
  const noted = (callbackId: string) =>
    eventually(
      "the answer to the button",
      () => room.answers.find(({ id }) => id === callbackId)?.text,
      (text) => text !== undefined,
    );

  test("leaves buttons that say that it is over; a tool is not run twice, and what asks before the answer asks again", async () => {
    tell("ask_choice");
    const choice = await shown("Which one?");
    const [, coffee] = choice?.buttons ?? [];
    discord.say({ channel: PLACES.dm, author: PEOPLE.friend, content: "first_ask me" });
    const before = await shownOnDiscord("Go on?");
    const goOn = firstButton(before?.components);
    api.push(
      TOKEN,
      said({ by: FRIEND, text: "note it", messageId: room.nextMessageId(), inGroup: { bot: room.username } }),
    );
    const call = await approvalIn(GROUP_ID);
    const allowOnce = call?.buttons[0]?.data ?? "";
    await gateway.kill();
    gateway = await startGatewayProcess({ config, home: gateway.home });

    await eventually(
      "the notice about the interrupted tool",
      texts,
      (seen) => seen.at(-1)?.startsWith("The assistant was interrupted after it had used a tool") === true,
    );
    const again = await eventually(
      "the question after the restart",
      () => ours().findLast(({ id, content }) => id !== before?.id && content.startsWith("Go on?")),
      (one) => one !== undefined,
    );
    await openIn("discord");
    press(FRIEND, choice?.id ?? 0, coffee?.data ?? "", "after-the-kill");
    expect(await noted("after-the-kill")).toBe("This question is over.");
    await eventually(
      "the buttons of the old question are gone",
      () => choice?.buttons.length,
      (count) => count === 0,
    );
    const sameCall = await approvalIn(GROUP_ID, call?.id);
    pressInGroup(call?.id ?? 0, allowOnce, "an-old-call");
    await noted("an-old-call");
    expect(room.answers.find(({ id }) => id === "an-old-call")?.text).toBe("This question is no longer open.");
    pressInGroup(sameCall?.id ?? 0, sameCall?.buttons[0]?.data ?? "", "the-new-call");
    pressOnDiscord("friend", before?.id ?? "", goOn);
    await eventually(
      "the old question says that it is over",
      () => ours().find(({ id }) => id === before?.id),
      (one) => one?.content === "This question is over." && firstButton(one.components) === "",
    );
    expect((await open()).map(({ question }) => question.title)).toEqual(["Go on?"]); // the old presses have answered nothing
    pressOnDiscord("friend", again?.id ?? "", firstButton(again?.components));
    await shownOnDiscord("went on: yes");
    await eventually(
      "the tool call has run in the group",
      () => inChat(GROUP_ID).at(-1)?.text,
      (text) => text?.includes('"saved":true') === true,
    );
  });
});
