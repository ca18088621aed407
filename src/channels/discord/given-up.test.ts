/** Every call to Discord is waited for, and ends when whoever wanted it gives up: each piece of work, with each of its calls hanging in turn. */
import { expect, test } from "bun:test";
import type { API } from "@discordjs/core";
import { DiscordAPIError } from "@discordjs/rest";
import type { OutboxRow } from "../../contracts/delivery.ts";
import type { TurnId } from "../../contracts/ids.ts";
import type { PendingApproval } from "../../contracts/tools/approval.ts";
import { hangEachCall, type PlayCall } from "../../testing/channels/hanging-calls.ts";
import { recordingLog } from "../../testing/recording-log.ts";
import { createTasks } from "../kit/index.ts";
import { createDispatcher } from "./dispatch.ts";
import { approvalPlatform } from "./interactions/approvals.ts";
import { registerMenu } from "./interactions/menu.ts";
import { createQuestionMessages } from "./interactions/question-messages.ts";
import { discordActions } from "./outbound/actions.ts";
import { discordPreviews } from "./outbound/previews.ts";
import { discordParts } from "./outbound/send.ts";

const CHAT = "900000000000000005";
const ID = "900000000000000007";
const ME = "900000000000000001";
const NEVER = new AbortController().signal;
const to = { channel: "discord", account: "default", chat: CHAT };
const target = { to, messageId: ID, sessionKey: "s" as never };
const GONE = 10_008;
const TOO_LARGE = 40_005;

/** Answers with a message of ours, unless a call is to be refused with one of these codes, one after the other. */
function discordApi(
  play: PlayCall,
  refused: Readonly<Record<string, readonly number[]>> = {},
  shownBefore: string | null = null,
): API {
  const counts = new Map<string, number>();
  const answer = (name: string) => () => {
    const count = counts.get(name) ?? 0;
    counts.set(name, count + 1);
    const code = refused[name]?.[count];
    if (code !== undefined) throw new DiscordAPIError({ code, message: "no" }, code, 400, "POST", "", {});
    return { id: ID, content: shownBefore ?? "hi", author: { id: ME } };
  };
  const group = new Proxy({} as Record<string, unknown>, {
    get:
      (_target, name) =>
      (...given: { readonly signal: AbortSignal }[]) =>
        play(String(name), given.at(-1)?.signal ?? NEVER, answer(String(name))),
  });
  return new Proxy({} as API, { get: () => group });
}

const file = { mediaId: "m", name: "a.b", mimeType: "image/png", bytes: 1 } as never;
const partOf = (more: object = {}) =>
  ({ id: "turn_1:0", part: 0, to, message: { kind: "reply", text: "hi", ...more } }) as unknown as OutboxRow;
const shown = { message: ID, shown: "old" };
const data = { name: "a.b", data: new Uint8Array(1), contentType: "image/png" };

const sendPiece = (api: API, signal: AbortSignal, preview: typeof shown | null = null, files: readonly object[] = []) =>
  discordParts({ log: recordingLog(), api, files: { read: async () => null }, maxFileBytes: 10 }).send(
    {
      part: partOf(files.length > 0 ? { attachments: [file] } : {}),
      piece: { content: "hi", files },
      at: 0,
      preview,
    } as never,
    signal,
  );
const approval = { id: "ask_12345", tool: "t", shown: "{}", origin: to } as unknown as PendingApproval;
const LONG = "x ".repeat(2_000);
const ask = (api: API, text: string, signal: AbortSignal) =>
  createQuestionMessages({ log: recordingLog(), api }, NEVER).show(
    { id: "question-1", to, text, labels: ["yes"] } as never,
    signal,
  );
/** Shown at once; the channel closes while the question is being ended. */
async function closeQuestion(play: PlayCall, life: AbortSignal) {
  const playing: PlayCall = async (name, signal, answer) =>
    name === "createMessage" ? answer() : play(name, signal, answer);
  const board = createQuestionMessages({ log: recordingLog(), api: discordApi(playing) }, life);
  const question = await board.show({ id: "question-1", to, text: "Really?", labels: ["yes"] } as never, NEVER);
  await question.close({ answered: true, words: "Answered." });
}
async function interact(play: PlayCall, signal: AbortSignal) {
  const tasks = createTasks(() => undefined);
  const handle = (_asked: unknown, until: AbortSignal) => play("handle", until, () => ({ kind: "noted" }) as const);
  const deps = {
    api: discordApi(play),
    interactions: { handle },
    tasks,
    door: {},
    places: { learn: () => undefined },
    intake: {},
    me: () => ME,
  };
  createDispatcher(deps as never, signal)({ t: "INTERACTION_CREATE", d: { id: "1", token: "t" } } as never);
  await tasks.settled();
}
const menu = (play: PlayCall, noted: string[], signal: AbortSignal) =>
  registerMenu(
    {
      api: discordApi(play),
      log: recordingLog(),
      commands: () => [],
      facts: {
        get: async () => null,
        put: (key: string) => play(`note ${key}`, null, () => void noted.push(key)),
      } as never,
    },
    "77",
    signal,
  );
const previews = (play: PlayCall) => discordPreviews(discordApi(play));
const actions = (play: PlayCall) => discordActions({ api: discordApi(play), me: () => ME });

type Work = (play: PlayCall, signal: AbortSignal) => Promise<unknown>;

const WORK: readonly (readonly [string, Work, readonly string[]])[] = [
  ["an edit", (play, until) => actions(play).edit(target, "x", until), ["editMessage"]],
  ["a deletion", (play, until) => actions(play).delete(target, until), ["getMessage", "deleteMessage"]],
  [
    "a reaction of two",
    (play, until) => actions(play).react(target, { emoji: ["👍", "👎"], remove: false }, until),
    ["addMessageReaction", "addMessageReaction"],
  ],
  [
    "the end of a reaction",
    (play, until) => actions(play).react(target, { emoji: ["👍"], remove: true }, until),
    ["deleteOwnMessageReaction"],
  ],
  ["a pin", (play, until) => actions(play).pin(target, false, until), ["pinMessage"]],
  ["the end of a pin", (play, until) => actions(play).pin(target, true, until), ["unpinMessage"]],
  [
    "a preview",
    (play, until) => previews(play).send("t" as TurnId, { to, replyTo: null }, "hi", until),
    ["createMessage"],
  ],
  [
    "a preview that grows",
    (play, until) => previews(play).edit({ where: CHAT, message: ID }, "hi", until),
    ["editMessage"],
  ],
  [
    "the end of a preview",
    (play, until) => previews(play).remove({ where: CHAT, message: ID }, until),
    ["deleteMessage"],
  ],
  [
    "the search for a preview",
    (play, until) => previews(play).repeat?.find("t" as TurnId, CHAT, until) ?? Promise.resolve(),
    ["createMessage"],
  ],
  ["typing", (play, until) => previews(play).type(to, until), ["showTyping"]],
  ["a text", (play, until) => sendPiece(discordApi(play), until), ["createMessage"]],
  ["a text in its preview", (play, until) => sendPiece(discordApi(play), until, shown), ["editMessage"]],
  [
    "a text whose preview is gone",
    (play, until) => sendPiece(discordApi(play, { editMessage: [GONE] }), until, shown),
    ["editMessage", "createMessage"],
  ],
  [
    "a text under the nonce of a message that is gone",
    (play, until) => sendPiece(discordApi(play, { createMessage: [GONE] }), until),
    ["createMessage", "createMessage"],
  ],
  [
    "a text under the nonce of its preview",
    (play, until) => sendPiece(discordApi(play, {}, "half"), until),
    ["createMessage", "editMessage"],
  ],
  [
    "a text under the nonce of its preview, which is gone meanwhile",
    (play, until) => sendPiece(discordApi(play, { editMessage: [GONE] }, "half"), until),
    ["createMessage", "editMessage", "createMessage"],
  ],
  [
    "a text with files that are too large",
    (play, until) => sendPiece(discordApi(play, { createMessage: [TOO_LARGE] }), until, null, [data]),
    ["createMessage", "createMessage"],
  ],
  [
    "a question of several messages",
    (play, until) => ask(discordApi(play), LONG, until),
    ["createMessage", "createMessage", "createMessage"],
  ],
  ["the end of a question", closeQuestion, ["editMessage"]],
  ["an approval", (play, until) => approvalPlatform(discordApi(play)).post(approval, until), ["createMessage"]],
  [
    "the end of an approval",
    (play, until) => approvalPlatform(discordApi(play)).removeButtons(to, ID, until),
    ["editMessage"],
  ],
  [
    "a sentence about an approval",
    (play, until) => approvalPlatform(discordApi(play)).reply(to, ID, "It is over.", until),
    ["createMessage"],
  ],
  ["the answer to an interaction", interact, ["handle", "post"]],
  ["the menu", (play, until) => menu(play, [], until), ["bulkOverwriteGlobalCommands", "note menu"]],
];

test.each(WORK)("%s on Discord ends when it is given up, at each of its calls", async (_what, work, calls) => {
  expect(await hangEachCall(work)).toEqual({ calls, wrong: [] });
});

test("the menu of Discord is noted as registered after Discord has taken it, and not when the call was given up", async () => {
  const noted: string[] = [];
  expect(await hangEachCall((play, until) => menu(play, noted, until))).toMatchObject({ wrong: [] });
  expect(noted).toEqual(["menu", "menu"]); // of the two times that the call was not given up
});
