/** A message and a reaction of Discord, field by field: what becomes of each, and what is left out. */
import { expect, test } from "bun:test";
import { createPlaces } from "./threads.ts";
import { reactionOf } from "./reactions.ts";
import { type SaidMessage, translate, type Translated } from "./translate.ts";

const ME = "900000000000000001";
const FRIDA = { id: "900000000000000002", username: "frida", global_name: "Frida" };
const OTTO = { id: "900000000000000003", username: "otto", global_name: null };
const ADDRESS = { channel: "discord", account: "default", chat: "1" };
const said = (more: object): SaidMessage =>
  ({ id: "5", channel_id: "1", content: "x", type: 0, mentions: [], attachments: [], author: FRIDA, ...more }) as never;
const translated = (more: object, guild: string | null = null): Translated | null =>
  translate(said(more), { me: ME, address: ADDRESS, guild });
const messageOf = (more: object, guild: string | null = null) => translated(more, guild)?.message;
const forwardOf = (message: object) => ({
  content: "",
  message_reference: { type: 1, message_id: "4" },
  message_snapshots: [{ message }],
});

test.each([
  ["a bot", { author: { ...OTTO, bot: true } }],
  ["Discord itself", { author: { ...OTTO, system: true } }],
  ["a webhook", { webhook_id: "7" }],
  ["a member who has just come", { type: 7 }],
])("discord messages: one of %s is not said by a person", (_who, more) => {
  expect(translated(more)).toBeNull();
});

test.each([
  ["its display name", FRIDA, "Frida"],
  ["its user name without one", OTTO, "otto"],
])("discord messages: an author is called by %s", (_which, author, name) => {
  expect(messageOf({ author })?.sender).toEqual({ principal: `discord:user:${author.id}`, name } as never);
});

test("discord messages: files of what is forwarded come with it, behind its own, and are no reply", () => {
  const forward = { ...forwardOf({ content: " old ", attachments: [{ id: "b" }] }), attachments: [{ id: "a" }] };
  expect(translated(forward)?.attachments.map(({ id }) => id)).toEqual(["a", "b"]);
  expect(messageOf(forward)?.quoted).toEqual([{ how: "forward", author: { id: null, name: "" }, text: "old" }]);
  expect(translated(forwardOf({}))?.attachments).toEqual([]);
});

test("discord messages: a change of words, of forwarded words or of files is a change, and of a reply none", () => {
  const versions = [
    {},
    { content: "y" },
    { attachments: [{ id: "a" }] },
    { attachments: [{ id: "b" }] },
    forwardOf({ content: "x" }),
    forwardOf({ content: "y" }),
  ];
  const prints = versions.map((more) => messageOf(more)?.fingerprint);
  expect(new Set(prints).size).toBe(versions.length);
  const reply = { type: 19, message_reference: { type: 0, message_id: "4" }, referenced_message: null };
  expect(messageOf(reply)?.fingerprint).toBe(messageOf({})?.fingerprint);
});

test("discord messages: one is spoken where Discord says so, whatever else is attached", () => {
  const attachments = [{ id: "a" }];
  expect(
    [undefined, 0, 1 << 12, 1 << 13, (1 << 13) | 1].map((flags) => translated({ attachments, flags })?.voice),
  ).toEqual([false, false, false, true, true]);
});

test.each([
  [299, 299],
  [300, 300],
  [301, 301], // three hundred, and the sign that there is more
])("discord messages: of %d characters that are replied to, %d are shown", (length, shown) => {
  const referenced_message = { author: OTTO, content: "z".repeat(length) };
  const [quoted] =
    messageOf({ type: 19, message_reference: { type: 0, message_id: "4" }, referenced_message })?.quoted ?? [];
  expect([quoted?.text.length, quoted?.text.endsWith("…")]).toEqual([shown, length > 300]);
  expect(quoted).toMatchObject({ author: { id: `discord:user:${OTTO.id}`, name: "otto" } });
});

test("discord messages: our own words that are replied to are ours by name", () => {
  const referenced_message = { author: { ...OTTO, id: ME }, content: "shall I?" };
  const reply = messageOf({ type: 19, message_reference: { type: 0, message_id: "4" }, referenced_message }, "77");
  expect([reply?.quoted[0]?.author, reply?.mentioned, reply?.answering]).toEqual([
    { id: `discord:user:${ME}`, name: "you, the assistant" },
    true,
    { to: "4", text: "x" },
  ]);
});

test.each([
  [`<@${ME}>, hello`, "hello"],
  [`<@!${ME}> : <@${ME}> hello`, "@me hello"],
  [`<@${ME}><@!${ME}>  hello `, "hello"],
  [`hello <@${ME}>`, "hello @me"],
  [`<@${OTTO.id}> and <@900000000000000099>`, "@otto and <@900000000000000099>"],
])("discord messages: %p reads as %p", (content, text) => {
  const mentions = [{ id: ME, username: "me", global_name: null }, OTTO];
  expect(messageOf({ content, mentions })?.text).toBe(text);
});

test.each([
  ["in a direct chat always", {}, null, true],
  ["in a server not without our name", {}, "77", false],
  ["in a server with our name", { mentions: [{ ...OTTO, id: ME }] }, "77", true],
  ["in a server with the name of somebody else not", { mentions: [OTTO] }, "77", false],
])("discord messages: we are meant %s", (_where, more, guild, mentioned) => {
  const message = messageOf(more, guild);
  expect([message?.mentioned, message?.scope, message?.place]).toEqual([
    mentioned,
    guild === null ? "dm" : "group",
    guild ?? undefined,
  ]);
});

test("discord reactions: each field of one that is added and of one that is removed", () => {
  const told = { user_id: FRIDA.id, channel_id: "1", message_id: "2", guild_id: "77", emoji: { id: null, name: "👍" } };
  const here = { me: ME, places: createPlaces() };
  const expected = {
    address: ADDRESS,
    scope: "group",
    place: "77",
    sender: { principal: `discord:user:${FRIDA.id}`, name: "" },
    messageId: "2",
    emoji: ["👍"],
  };
  for (const how of ["add", "remove"] as const)
    expect(reactionOf(told as never, how, here) as unknown).toEqual({ ...expected, how });
  const direct = reactionOf({ ...told, guild_id: undefined } as never, "add", here);
  expect([direct?.scope, direct && "place" in direct]).toEqual(["dm", false]);
});
