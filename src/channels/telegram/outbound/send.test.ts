/** What goes out: in pieces that are never repeated without need, as the kind of message that fits, and with the truth about what is known. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { SendError } from "../../../contracts/channel.ts";
import type { MediaRef, OutboundMessage } from "../../../contracts/chat.ts";
import type { OutboxRow } from "../../../contracts/delivery.ts";
import type { MediaId, Principal, SessionKey, TurnId } from "../../../contracts/ids.ts";
import { deferred } from "../../../kit/deferred.ts";
import { eventually } from "../../../testing/contracts/channel-contract.ts";
import { FRIEND } from "../../../testing/telegram/people.ts";
import { type TelegramWorld, telegramWorld, textsIn } from "../../../testing/telegram/telegram-world.ts";

setDefaultTimeout(120_000); // real connections on a busy machine

const NEVER = new AbortController().signal;
const LONG = Array.from({ length: 2_500 }, (_, at) => `w${at}`).join(" ");

const rowOf = (message: Partial<OutboundMessage>, more: Partial<OutboxRow> = {}): OutboxRow => ({
  id: "turn_a:0",
  turnId: "turn_a" as TurnId,
  sessionKey: "agent:default:telegram:dm:11" as SessionKey,
  part: 0,
  to: { channel: "telegram", account: "default", chat: String(FRIEND.id) },
  createdAt: 1,
  outcome: "done",
  message: { kind: "reply", text: "", ...message },
  ...more,
});
const sendFails = async ({ channel }: TelegramWorld, row: OutboxRow): Promise<SendError> => {
  const failed = await channel.send(row, NEVER).catch((error: unknown) => error);
  if (!(failed instanceof SendError)) throw new Error("it did not fail");
  return failed;
};
async function fileOf({ bench }: TelegramWorld, name: string, mimeType: string): Promise<MediaRef> {
  const data = new TextEncoder().encode(`contents of ${name}`);
  const mediaId = bench.deps.ids.next("media") as MediaId;
  return bench.store.media.put({ mediaId, owner: "operator" as Principal, name, mimeType, data, at: 1 });
}
const shown = ({ room }: TelegramWorld) =>
  room.messages
    .filter(({ deleted }) => !deleted)
    .map(({ method, text, file }) => [method, text, ...(file ? [file.name] : [])]);

describe("formatting that Telegram does not take", () => {
  const BAD = { kind: "refused", code: 400, description: "Bad Request: can't parse entities: unexpected end" } as const;
  const where = { to: rowOf({}).to, sessionKey: rowOf({}).sessionKey };
  const plain = ({ room }: TelegramWorld) =>
    room.messages.filter(({ deleted }) => !deleted).map(({ text, entities }) => [text, entities ?? []]);

  test.each([
    "Bad Request: can't parse entities: Can't find end of the entity starting at byte offset 5",
    'Bad Request: can\'t parse MessageEntity: Field "offset" must be of type Number',
    "Bad Request: ENTITY_BOUNDS_INVALID",
    "Bad Request: ENTITIES_TOO_LONG",
  ])("is left out of a reply, which arrives once as plain text: %s", async (description) => {
    await using world = await telegramWorld();
    world.api.misbehave("sendMessage", { ...BAD, description });
    await world.channel.send(rowOf({ text: "**bold** words" }), NEVER);
    expect(plain(world)).toEqual([["bold words", []]]);
  });

  test("is left out of a caption and of a changed message as well", async () => {
    await using world = await telegramWorld();
    const photo = await fileOf(world, "a.png", "image/png");
    world.api.misbehave("sendPhoto", BAD);
    const { providerId = "" } = await world.channel.send(rowOf({ text: "**look**", attachments: [photo] }), NEVER);
    expect(plain(world)).toEqual([["look", []]]);
    await world.channel.send(rowOf({ text: "other" }, { id: "turn_b:0", turnId: "turn_b" as TurnId }), NEVER);
    const last = String(world.room.messages.at(-1)?.id ?? providerId);
    world.api.misbehave("editMessageText", BAD);
    expect(await world.channel.edit?.({ ...where, messageId: last }, "**new**", NEVER)).toEqual({ kind: "done" });
    expect(plain(world).at(-1)).toEqual(["new", []]);
  });

  test("is left out of the caption of an album, whose pictures all arrive once", async () => {
    await using world = await telegramWorld();
    const attachments = [await fileOf(world, "a.png", "image/png"), await fileOf(world, "b.png", "image/png")];
    world.api.misbehave("sendMediaGroup", BAD);
    await world.channel.send(rowOf({ text: "**look**", attachments }), NEVER);
    expect(plain(world)).toEqual([
      ["look", []],
      ["", []],
    ]);
    expect(world.room.messages.map(({ file }) => [file?.name, file?.field])).toEqual([
      ["a.png", "photo"],
      ["b.png", "photo"],
    ]);
  });

  test("does not make a refusal about something else a second call", async () => {
    await using world = await telegramWorld();
    world.api.misbehave("sendMessage", { ...BAD, description: "Bad Request: chat not found" });
    expect((await sendFails(world, rowOf({ text: "**bold**" }))).kind).toBe("permanent");
    expect(world.api.count("sendMessage")).toBe(1);
  });
});

describe("a long reply", () => {
  test("that is interrupted goes on with the next message, also after a restart", async () => {
    await using world = await telegramWorld();
    const row = rowOf({ text: LONG });
    const { api } = world;
    api.misbehave("sendMessage", { kind: "late", until: Promise.resolve() });
    api.misbehave("sendMessage", { kind: "refused", code: 500, description: "Internal Server Error" });
    expect((await sendFails(world, row)).kind).toBe("retry");
    expect(textsIn(world.room, FRIEND.id)).toHaveLength(1);
    await world.close();
    const again = await world.reopen();
    await again.send(row, NEVER);
    expect(textsIn(world.room, FRIEND.id).join(" ").split(/\s+/)).toEqual(LONG.split(" "));
    expect(api.count("sendMessage")).toBe(5); // four messages, one of them twice because the first try said that it failed
  });

  test("repeats only the message whose answer was lost", async () => {
    await using world = await telegramWorld();
    const row = rowOf({ text: LONG });
    world.api.misbehave("sendMessage", { kind: "late", until: Promise.resolve() });
    world.api.misbehave("sendMessage", { kind: "cut_after" });
    expect((await sendFails(world, row)).kind).toBe("lost");
    await world.channel.send(row, NEVER);
    const texts = textsIn(world.room, FRIEND.id);
    expect(texts).toHaveLength(5);
    expect(texts[1]).toBe(texts[2] ?? "");
    expect(new Set(texts).size).toBe(4);
  });
});

describe("a failed send on telegram", () => {
  test.each([
    [{ kind: "limited", retryAfter: 7 }, "limited"],
    [{ kind: "refused", code: 403, description: "Forbidden: bot was blocked by the user" }, "permanent"],
    [{ kind: "refused", code: 400, description: "Bad Request: chat not found" }, "permanent"],
    [{ kind: "refused", code: 500, description: "Internal Server Error" }, "retry"],
    [{ kind: "refused", code: 401, description: "Unauthorized" }, "retry"],
    [{ kind: "page", status: 502 }, "retry"],
    [{ kind: "page", status: 504 }, "lost"],
    [{ kind: "cut_before" }, "lost"],
    [{ kind: "cut_after" }, "lost"],
  ] as const)("%p is %s", async (fault, kind) => {
    await using world = await telegramWorld();
    world.api.misbehave("sendMessage", fault);
    const failed = await sendFails(world, rowOf({ text: "secret words" }));
    expect(failed.kind).toBe(kind);
    expect(`${failed.message} ${JSON.stringify(failed)}`).not.toMatch(/secret words|secret-token/);
  });

  test("after a limit nothing is sent to that chat until it is over, and other chats go on", async () => {
    await using world = await telegramWorld();
    world.api.misbehave("sendMessage", { kind: "limited", retryAfter: 7 });
    expect((await sendFails(world, rowOf({ text: "one" }))).retryAfterMs).toBe(7_000);
    await world.bench.clock.advance(3_000);
    const calls = world.api.count("sendMessage");
    expect((await sendFails(world, rowOf({ text: "one" }))).retryAfterMs).toBe(4_000);
    expect(world.api.count("sendMessage")).toBe(calls);
    const elsewhere = { channel: "telegram", account: "default", chat: "22" };
    await world.channel.send(rowOf({ text: "two" }, { id: "turn_b:0", to: elsewhere }), NEVER);
    await world.bench.clock.advance(4_001);
    await world.channel.send(rowOf({ text: "one" }), NEVER);
    expect(world.room.messages.map(({ text }) => text)).toEqual(["two", "one"]);
  });
});

describe("files", () => {
  test("are shown as what they are, with a short text below", async () => {
    await using world = await telegramWorld();
    const kinds = [
      ["a.png", "image/png", "sendPhoto"],
      ["b.mp4", "video/mp4", "sendVideo"],
      ["c.ogg", "audio/ogg", "sendVoice"],
      ["d.mp3", "audio/mpeg", "sendAudio"],
      ["e.pdf", "application/pdf", "sendDocument"],
    ] as const;
    for (const [name, type] of kinds)
      await world.channel.send(rowOf({ text: "**look**", attachments: [await fileOf(world, name, type)] }), NEVER);
    expect(shown(world)).toEqual(kinds.map(([name, , method]) => [method, "look", name]));
    expect(world.room.messages[0]?.entities).toEqual([{ type: "bold", offset: 0, length: 4 }]);
    expect(new TextDecoder().decode(world.room.messages[0]?.file?.bytes)).toBe("contents of a.png");
  });

  test.each([
    [400, "Bad Request: not enough rights to send photos to the chat"],
    [403, "Forbidden: bot was blocked by the user"],
    [400, "Bad Request: chat not found (photo)"],
  ])("that Telegram refuses because of the chat are not tried again as documents: %d %s", async (code, description) => {
    await using world = await telegramWorld();
    const photo = await fileOf(world, "a.png", "image/png");
    world.api.misbehave("sendPhoto", { kind: "refused", code, description });
    expect((await sendFails(world, rowOf({ text: "x", attachments: [photo] }))).kind).toBe("permanent");
    expect(world.api.count("sendDocument")).toBe(0);
  });

  test("that Telegram refuses as a picture go as documents", async () => {
    await using world = await telegramWorld();
    world.room.refusePhotos = true;
    await world.channel.send(rowOf({ attachments: [await fileOf(world, "wide.png", "image/png")] }), NEVER);
    expect(shown(world)).toEqual([["sendDocument", "", "wide.png"]]);
  });

  test("that are pictures are one album with the text below it, and the ids of all of them are known", async () => {
    await using world = await telegramWorld();
    const attachments = [];
    for (const name of ["a.png", "b.png", "c.png"]) attachments.push(await fileOf(world, name, "image/png"));
    const receipt = await world.channel.send(rowOf({ text: "**three**", attachments, replyTo: "77" }), NEVER);
    expect(shown(world)).toEqual([
      ["sendMediaGroup", "three", "a.png"],
      ["sendMediaGroup", "", "b.png"],
      ["sendMediaGroup", "", "c.png"],
    ]);
    expect(world.room.messages[0]).toMatchObject({ replyTo: 77, entities: [{ type: "bold", offset: 0, length: 5 }] });
    const ids = world.room.messages.map(({ id }) => String(id));
    expect(receipt).toMatchObject({ providerId: ids[0] as string, providerIds: ids });
    expect(world.api.count("sendMediaGroup")).toBe(1);
  });

  test("that are eleven pictures are an album of ten and a picture; a document between pictures parts them", async () => {
    await using world = await telegramWorld();
    const attachments = [];
    for (let at = 0; at < 11; at++) attachments.push(await fileOf(world, `${at}.png`, "image/png"));
    await world.channel.send(rowOf({ text: "many", attachments }), NEVER);
    expect(shown(world).map(([method]) => method)).toEqual([
      "sendMessage",
      ...Array(10).fill("sendMediaGroup"),
      "sendPhoto",
    ]);
    const [one, two, three] = attachments as [MediaRef, MediaRef, MediaRef];
    const pdf = await fileOf(world, "x.pdf", "application/pdf");
    await world.channel.send(rowOf({ attachments: [one, pdf, two, three] }, { id: "turn_b:0" }), NEVER);
    const later = shown(world).slice(12);
    expect(later.map(([method]) => method)).toEqual(["sendPhoto", "sendDocument", "sendMediaGroup", "sendMediaGroup"]);
  });

  test("of an album that Telegram refuses as pictures go as documents, and one that is gone is named", async () => {
    await using world = await telegramWorld();
    world.room.refusePhotos = true;
    const gone: MediaRef = { mediaId: "nothing" as MediaId, name: "gone.png", mimeType: "image/png", bytes: 3 };
    const attachments = [await fileOf(world, "a.png", "image/png"), gone, await fileOf(world, "b.png", "image/png")];
    await world.channel.send(rowOf({ text: "look", attachments }), NEVER);
    expect(shown(world)).toEqual([
      ["sendMediaGroup", "look\n(The file gone.png is no longer there.)", "a.png"],
      ["sendMediaGroup", "", "b.png"],
    ]);
    expect(world.room.messages.map(({ file }) => file?.field)).toEqual(["document", "document"]);
  });

  test("follow a text that is too long to stand below them", async () => {
    await using world = await telegramWorld();
    const text = "long ".repeat(300).trim();
    const files = [await fileOf(world, "a.pdf", "application/pdf"), await fileOf(world, "b.pdf", "application/pdf")];
    await world.channel.send(rowOf({ text, attachments: files.slice(0, 1) }), NEVER);
    await world.channel.send(rowOf({ text: "two files", attachments: files }, { id: "turn_b:0" }), NEVER);
    expect(shown(world).map(([method, , file]) => [method, file])).toEqual([
      ["sendMessage", undefined],
      ["sendDocument", "a.pdf"],
      ["sendMessage", undefined],
      ["sendDocument", "a.pdf"],
      ["sendDocument", "b.pdf"],
    ]);
  });

  test("that take long to upload are waited for, longer than words are, and not for ever", async () => {
    await using world = await telegramWorld();
    const attachments = [await fileOf(world, "large.pdf", "application/pdf")];
    const sendWhile = async (row: OutboxRow, waitMs: number, answered: Promise<void>) => {
      const before = world.api.count("sendDocument");
      world.api.misbehave("sendDocument", { kind: "late", until: answered });
      const sending = world.channel.send(row, NEVER).catch((error: unknown) => error);
      await world.api.until("the document", () => world.api.count("sendDocument") > before);
      await world.bench.clock.advance(waitMs);
      return sending;
    };
    const answer = deferred<void>();
    const slow = sendWhile(rowOf({ attachments }), 50_000, answer.promise);
    void eventually("the time has passed", () => world.bench.clock.elapsed() >= 50_000).then(() => answer.resolve());
    expect(await slow).toMatchObject({ providerId: expect.any(String) });
    const never = await sendWhile(rowOf({ attachments }, { id: "turn_b:0" }), 56_000, new Promise(() => undefined));
    expect(never).toMatchObject({ kind: "lost" });
  });

  test("that are gone are named", async () => {
    await using world = await telegramWorld();
    const gone: MediaRef = { mediaId: "nothing" as MediaId, name: "gone.pdf", mimeType: "application/pdf", bytes: 3 };
    await world.channel.send(rowOf({ text: "here", attachments: [gone] }), NEVER);
    expect(textsIn(world.room, FRIEND.id)).toEqual(["here\n(The file gone.pdf is no longer there.)"]);
  });
});

test("an answer to a message is shown as one, in its topic, without fetching what it links to", async () => {
  await using world = await telegramWorld();
  const to = { channel: "telegram", account: "default", chat: "-1001", thread: "5" };
  await world.channel.send(rowOf({ text: "https://example.org/?leak", replyTo: "812" }, { to }), NEVER);
  expect(world.room.messages[0]).toMatchObject({ chat: "-1001", thread: 5, replyTo: 812 });
  const call = world.api.calls.find(({ method }) => method === "sendMessage");
  expect(call?.fields["link_preview_options"]).toEqual({ is_disabled: true });
});

test("a reaction, a pin and their removal reach the message", async () => {
  await using world = await telegramWorld();
  const { providerId = "" } = await world.channel.send(rowOf({ text: "here" }), NEVER);
  const { to, sessionKey } = rowOf({});
  const target = { to, sessionKey, messageId: providerId };
  const { channel } = world;
  expect(await channel.react?.(target, { emoji: ["👍", "🎉"], remove: false }, NEVER)).toEqual({
    kind: "done",
    reactions: ["👍"], // a bot has one reaction to a message
  });
  expect(world.room.messages[0]?.reactions).toEqual(["👍"]);
  expect((await channel.react?.(target, { emoji: ["🦄🦄"], remove: false }, NEVER))?.kind).toBe("refused");
  expect(await channel.react?.(target, { emoji: [], remove: true }, NEVER)).toEqual({ kind: "done", reactions: [] });
  expect(await channel.pin?.(target, false, NEVER)).toEqual({ kind: "done" });
  expect([world.room.messages[0]?.reactions, world.room.messages[0]?.pinned]).toEqual([[], true]);
  expect(await channel.pin?.(target, true, NEVER)).toEqual({ kind: "done" });
  expect(world.room.messages[0]?.pinned).toBe(false);
});

test("a message of a person is not deleted, although the bot would be allowed to", async () => {
  await using world = await telegramWorld();
  world.room.theirs.add(500);
  const { to, sessionKey } = rowOf({});
  expect((await world.channel.delete?.({ to, sessionKey, messageId: "500" }, NEVER))?.kind).toBe("refused");
  expect(world.room.theirs.has(500)).toBe(true);
});
