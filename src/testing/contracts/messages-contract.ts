/** What a store promises about messages by their ids: found under our own and the platform's, marked, read back; and about reactions of people. */
import { expect, test } from "bun:test";
import type { ChatAddress } from "../../contracts/chat.ts";
import type { Principal, TurnId } from "../../contracts/ids.ts";
import type { ReactionChange } from "../../contracts/store/messages.ts";
import { end, OPERATOR, row, sessionKey, type StoreWorld, turn } from "./store/store-world.ts";

const CHAT: ChatAddress = { channel: "telegram", account: "main", chat: "7" };
const HERE = { sessionKey: sessionKey("a"), to: CHAT };
const ANN = { principal: "telegram:user:1" as Principal, name: "Ann" };
const BOB = { principal: "telegram:user:2" as Principal, name: "Bob" };

/** A message of a person (`in1`, 11 and 12 on the platform) and an answer to it (`t1:0`, 21 and 22 there). */
async function answered({ store }: StoreWorld): Promise<void> {
  await store.inbox.accept(row("in1", "a", { address: CHAT, messageIds: ["11", "12"] }));
  await store.turns.begin(turn("t1", "a", ["in1"]));
  await store.turns.finish(end("t1", { to: CHAT }));
  const sent = { state: "sent", because: null, providerId: "21", providerIds: ["21", "22"] } as const;
  await store.outbox.settle("t1:0", sent, 3_000);
}

export function messagePromises(open: () => Promise<StoreWorld>): void {
  test("the newest message and reply of each account of a channel are known", async () => {
    await using world = await open();
    await answered(world);
    await world.store.inbox.accept(row("in3", "a", { address: CHAT }));
    await world.store.turns.begin(turn("t3", "a", ["in3"]));
    await world.store.turns.finish(end("t3", { to: CHAT })); // its reply still waits
    const other = { ...CHAT, account: "second" };
    await world.store.inbox.accept(row("in2", "b", { address: other, receivedAt: 5_000, sender: ANN }));
    const { messages } = world.store;
    const first = { lastReceived: { at: 1_000, from: "Olga" }, lastSent: 3_000 };
    expect(await messages.traffic("telegram", "main")).toEqual(first);
    expect(await messages.traffic("telegram", "second")).toEqual({
      lastReceived: { at: 5_000, from: "Ann" },
      lastSent: null,
    });
    expect(await messages.traffic("irc", "main")).toEqual({ lastReceived: null, lastSent: null });
  });

  test("a message is found under our id and under every id that its platform gave it, over a restart", async () => {
    await using world = await open();
    await answered(world);
    const { messages } = await world.reopen();
    for (const id of ["in1", "11", "12"])
      expect(await messages.find(HERE, id)).toMatchObject({ id: "in1", ours: false, platformIds: ["11", "12"] });
    for (const id of ["t1:0", "21", "22"])
      expect(await messages.find(HERE, id)).toMatchObject({ id: "t1:0", ours: true, platformIds: ["21", "22"] });
    expect([await messages.idOf(CHAT, "22"), await messages.idOf({ ...CHAT, chat: "8" }, "22")]).toEqual([
      "t1:0",
      null,
    ]);
  });

  test("a message is not found from another session, in another chat by its number, or when it was deleted", async () => {
    await using world = await open();
    await answered(world);
    const { messages, outbox } = world.store;
    expect(await messages.find({ ...HERE, sessionKey: sessionKey("b") }, "t1:0")).toBeNull();
    expect(await messages.find({ ...HERE, to: { ...CHAT, chat: "8" } }, "21")).toBeNull();
    expect(await messages.find(HERE, "nothing")).toBeNull();
    await outbox.rewrite(sessionKey("a"), "t1:0", null, 4_000);
    expect([await messages.find(HERE, "t1:0"), await messages.item("t1:0")]).toEqual([null, null]);
  });

  test("the ids of a message on its platform are told by its own id; one that has none, or is not there, has an empty list", async () => {
    await using world = await open();
    await answered(world);
    await world.store.inbox.accept(row("in2", "a", { address: CHAT }));
    const { messages } = await world.reopen();
    expect([await messages.platformIds("in1"), await messages.platformIds("t1:0")]).toEqual([
      ["11", "12"],
      ["21", "22"],
    ]);
    expect([await messages.platformIds("in2"), await messages.platformIds("nothing")]).toEqual([[], []]);
  });

  test("a message of ours waits for its delivery until that has ended", async () => {
    await using world = await open();
    const { store } = world;
    await store.inbox.accept(row("in1", "a", { address: CHAT }));
    await store.turns.begin(turn("t1", "a", ["in1"]));
    await store.turns.finish(end("t1", { to: CHAT }));
    expect(await store.messages.find(HERE, "t1:0")).toMatchObject({ pending: true, platformIds: [] });
    await store.outbox.settle("t1:0", { state: "sent", because: null, providerId: "9" }, 3_000);
    expect(await store.messages.find(HERE, "t1:0")).toMatchObject({ pending: false, platformIds: ["9"] });
  });

  test.each(["in1", "t1:0"])("reactions of the assistant and pins are kept with the message %s", async (id) => {
    await using world = await open();
    await answered(world);
    await world.store.messages.mark(id, { reactions: ["👍", "🎉"] }, 4_000);
    expect(await world.store.messages.mark(id, { pinned: true }, 4_000)).toMatchObject({ id, pinned: true });
    const store = await world.reopen();
    const shown = (await store.sessions.transcript(sessionKey("a"), { limit: 9 })).items.find((one) => one.id === id);
    expect(shown).toMatchObject({ ownReactions: ["👍", "🎉"], pinned: true });
    await store.messages.mark(id, { reactions: [], pinned: false }, 5_000);
    const bare = await store.messages.item(id);
    expect([bare?.ownReactions, bare?.pinned]).toEqual([undefined, undefined]);
    expect(await store.messages.mark("nothing", { pinned: true }, 1)).toBeNull();
  });

  test("the history goes on behind the border of a stored page, also when that page holds nothing of it", async () => {
    await using world = await open();
    await answered(world);
    const ids = Array.from({ length: 200 }, (_, n) => `in${n + 2}`); // as many as a stored page has
    await Promise.all(ids.map((id) => world.store.inbox.accept(row(id, "a", { address: CHAT }))));
    await world.store.turns.begin(turn("t2", "a", ids));
    const read = await world.store.messages.history(sessionKey("a"), { limit: 2, before: "in2" });
    expect(read?.map(({ id }) => id)).toEqual(["in1", "t1:0"]);
  });

  test("the history is read oldest first and page by page, with the sender of what was said in a group", async () => {
    await using world = await open();
    const { store } = world;
    await store.inbox.accept(row("in1", "a", { scope: "group", sender: ANN, text: "one" }));
    await store.turns.begin(turn("t1", "a", ["in1"]));
    await store.turns.finish(end("t1"));
    await store.inbox.accept(row("in2", "a", { text: "three" }));
    const read = async (page: { limit: number; before?: string }) =>
      (await store.messages.history(sessionKey("a"), page))?.map(({ text }) => text) ?? null;
    expect(await read({ limit: 9 })).toEqual(["one", "answer of t1", "three"]);
    expect(await read({ limit: 1 })).toEqual(["three"]);
    expect(await read({ limit: 1, before: "in2" })).toEqual(["answer of t1"]);
    expect(await read({ limit: 9, before: "nothing" })).toBeNull();
    const [first] = (await store.messages.history(sessionKey("a"), { limit: 9 })) ?? [];
    expect(first).toMatchObject({ from: "person", sender: { ...ANN, role: "owner" } });
  });
}

export function reactionPromises(open: () => Promise<StoreWorld>): void {
  const set = (emoji: readonly string[], by = ANN): ReactionChange => ({ by, how: "set", emoji });

  test("a reaction of a person is shown, told to one turn, and told again only to the same one", async () => {
    await using world = await open();
    await answered(world);
    const { store } = world;
    expect(await store.outbox.react("t1:9", set(["👍"]), 1)).toBeNull();
    expect(await store.outbox.react("in1", set(["👍"]), 1)).toBeNull();
    expect(await store.outbox.react("t1:0", set(["👍"]), 1)).toMatchObject({ id: "t1:0", reaction: "👍" });
    const told = [{ emoji: "👍", by: ANN, messageId: "t1:0", text: "answer of t1" }];
    expect(await store.outbox.tell(sessionKey("b"), "t2" as TurnId)).toEqual([]);
    expect(await store.outbox.tell(sessionKey("a"), "t3" as TurnId)).toEqual(told);
    const again = await world.reopen();
    expect(await again.outbox.tell(sessionKey("a"), "t3" as TurnId)).toEqual(told);
    expect(await again.outbox.tell(sessionKey("a"), "t4" as TurnId)).toEqual([]);
    await again.outbox.react("t1:0", set(["👍"]), 2); // the same once more is nothing new
    expect(await again.outbox.tell(sessionKey("a"), "t4" as TurnId)).toEqual([]);
    const { items } = await again.sessions.transcript(sessionKey("a"), { limit: 5 });
    expect(items.at(-1)).toMatchObject({ id: "t1:0", reaction: "👍" });
    await again.outbox.react("t1:0", set([]), 3);
    expect(await again.outbox.tell(sessionKey("a"), "t3" as TurnId)).toEqual([]);
  });

  test("several people react to one message, each with several emoji that come and go", async () => {
    await using world = await open();
    await answered(world);
    const { outbox } = world.store;
    await outbox.react("t1:0", { by: ANN, how: "add", emoji: ["👍"] }, 1);
    await outbox.react("t1:0", { by: ANN, how: "add", emoji: ["🎉"] }, 2);
    await outbox.react("t1:0", set(["🔥"], BOB), 3);
    await outbox.react("t1:0", { by: ANN, how: "remove", emoji: ["👍"] }, 4);
    const told = await outbox.tell(sessionKey("a"), "t3" as TurnId);
    expect(told.map(({ emoji, by }) => [by.name, emoji])).toEqual([
      ["Bob", "🔥"],
      ["Ann", "🎉"],
    ]);
    expect((await outbox.part("t1:0"))?.reaction?.split(" ").toSorted()).toEqual(["🎉", "🔥"].toSorted());
    await outbox.react("t1:0", { by: { principal: OPERATOR, name: "You" }, how: "set", emoji: ["two words"] }, 5);
    expect((await outbox.tell(sessionKey("a"), "t4" as TurnId)).map(({ emoji }) => emoji)).toEqual(["two_words"]);
  });
}
