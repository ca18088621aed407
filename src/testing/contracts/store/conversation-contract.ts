/** What names, settings and earlier conversations of sessions promise, and roles given from a chat. */
import { expect, test } from "bun:test";
import type { InboundMessage } from "../../../contracts/chat.ts";
import type { Principal, SessionKey, TurnId } from "../../../contracts/ids.ts";
import type { Store } from "../../../contracts/store.ts";
import type { ConversationAsker } from "../../../contracts/store/conversations.ts";
import { AGENT, end, OPERATOR, row, sessionKey, type StoreWorld, turn } from "./store-world.ts";

const here: ConversationAsker = { sessionKey: sessionKey("a"), agentId: AGENT, principal: OPERATOR };
const EVE = "telegram:user:9" as Principal;
let count = 0;

/** One message and its whole turn. `bytes` is the size of the session file after it. */
async function talk(
  store: Store,
  session: string,
  text: string,
  { bytes, ...more }: { readonly bytes: number } & Partial<InboundMessage>,
): Promise<string> {
  const id = `${session}-${++count}`;
  await store.inbox.accept(row(`in-${id}`, session, { text, receivedAt: 1_000 + count, ...more }));
  const begun = await store.turns.begin(turn(`t-${id}`, session, [`in-${id}`]));
  await store.turns.finish(end(`t-${id}`, { settledBytes: bytes, at: 3_000 + count }));
  return begun.sessionFile.name;
}

/** What the next turn of a session would be given. */
async function fileOf(store: Store, session: string) {
  const id = `look-${++count}`;
  await store.inbox.accept(row(`in-${id}`, session, { text: "/look", receivedAt: 1_000 + count }));
  const { sessionFile } = await store.turns.begin(turn(`t-${id}`, session, [`in-${id}`]));
  const more = { settledBytes: sessionFile.settledBytes, model: "", at: 3_000 + count };
  await store.turns.finish(end(`t-${id}`, { ...more, usage: { inputTokens: 0, outputTokens: 0, costUsd: 0 } }));
  return sessionFile;
}

const by = (turnId: string) => ({ turnId: turnId as TurnId, at: 9_000 });
const titles = async (store: Store, asker = here) =>
  (await store.conversations.list(asker, 10)).map(({ title }) => title);

export function conversationPromises(open: () => Promise<StoreWorld>): void {
  test("a conversation that was ended is kept with its size, its title and what it cost, and comes back as it was", async () => {
    await using world = await open();
    const first = await talk(world.store, "a", "about cats", { bytes: 400 });
    await talk(world.store, "a", "more about cats", { bytes: 500 });
    await world.store.sessions.reset(sessionKey("a"), 4_000);
    expect((await fileOf(world.store, "a")).settledBytes).toBe(0);
    await talk(world.store, "a", "about dogs", { bytes: 700 });
    const store = await world.reopen();
    const [cats, ...rest] = await store.conversations.list(here, 10);
    expect(rest).toEqual([]);
    expect(cats).toMatchObject({
      file: first,
      title: "about cats",
      turns: 2,
      usage: { inputTokens: 20, outputTokens: 10, costUsd: 0.5 },
    });
    expect(await store.conversations.resume(here, first, by("r1"))).toMatchObject({ kind: "resumed" });
    expect(await fileOf(store, "a")).toEqual({ name: first, settledBytes: 500 });
    expect(await titles(store)).toEqual(["about dogs"]);
  });

  test("resuming to and fro loses nothing", async () => {
    await using world = await open();
    const { store } = world;
    const files = [];
    for (const [at, text] of ["one", "two", "three"].entries()) {
      files.push(await talk(store, "a", text, { bytes: 100 + at }));
      await store.sessions.reset(sessionKey("a"), 4_000);
    }
    for (let round = 0; round < 6; round++) {
      const file = files[round % 3] ?? "";
      await store.conversations.resume(here, file, by(`r${round}`));
      expect(await fileOf(store, "a")).toEqual({ name: file, settledBytes: 100 + (round % 3) });
      expect(await titles(store)).toHaveLength(2);
    }
  });

  test("a command that runs again after a crash has nothing left to do", async () => {
    await using world = await open();
    const { store } = world;
    const first = await talk(store, "a", "one", { bytes: 100 });
    await store.sessions.reset(sessionKey("a"), 4_000, "n1" as TurnId);
    const fresh = await fileOf(store, "a");
    await store.sessions.reset(sessionKey("a"), 4_001, "n1" as TurnId);
    expect(await fileOf(store, "a")).toEqual(fresh);
    const second = await talk(store, "a", "two", { bytes: 200 });
    await store.conversations.resume(here, first, by("r1"));
    expect(await store.conversations.resumedBy(here.sessionKey, "r1" as TurnId)).toMatchObject({ file: first });
    expect(await store.conversations.resumedBy(here.sessionKey, "r2" as TurnId)).toBeNull();
    // its number means another conversation by now
    expect(await store.conversations.resume(here, second, by("r1"))).toMatchObject({ conversation: { file: first } });
    expect((await fileOf(store, "a")).name).toBe(first);
  });

  test("what is being answered while a new conversation begins is settled where it belongs", async () => {
    await using world = await open();
    const { store } = world;
    await store.inbox.accept(row("late", "a", { text: "a long story" }));
    const { sessionFile } = await store.turns.begin(turn("t-late", "a", ["late"]));
    await store.sessions.reset(sessionKey("a"), 4_000);
    expect(await titles(store)).toEqual([]); // nothing to come back to yet
    await store.turns.finish(end("t-late", { settledBytes: 900 }));
    const [story] = await store.conversations.list(here, 10);
    expect(story).toMatchObject({ title: "a long story", turns: 1, usage: { inputTokens: 10 } });
    await store.conversations.resume(here, sessionFile.name, by("r1"));
    expect(await fileOf(store, "a")).toEqual({ name: sessionFile.name, settledBytes: 900 });
  });

  test("a person finds their other chats; taking up the current conversation of one leaves that one a new beginning", async () => {
    await using world = await open();
    const { store } = world;
    const there = await talk(store, "b", "in the other chat", { bytes: 300 });
    await talk(store, "a", "here", { bytes: 100 });
    expect(await titles(store)).toEqual(["in the other chat"]);
    await store.inbox.accept(row("busy", "b", { text: "wait" }));
    await store.turns.begin(turn("t-busy", "b", ["busy"]));
    expect(await store.conversations.resume(here, there, by("r1"))).toEqual({ kind: "busy" });
    await store.turns.finish(end("t-busy", { settledBytes: 350 }));
    expect(await store.conversations.resume(here, there, by("r2"))).toMatchObject({ kind: "resumed" });
    expect(await fileOf(store, "a")).toEqual({ name: there, settledBytes: 350 });
    expect(await fileOf(store, "b")).toMatchObject({ settledBytes: 0 });
    await store.sessions.reset(sessionKey("a"), 5_000);
    expect((await store.conversations.list(here, 10)).find(({ file }) => file === there)).toMatchObject({
      title: "in the other chat",
      turns: 2,
      usage: { inputTokens: 20 },
    });
  });

  test("nobody finds or takes a conversation of somebody else, of a group, of a shared chat, or of another agent", async () => {
    await using world = await open();
    const { store } = world;
    const files = [
      await talk(store, "eve", "of Eve", { bytes: 100, sender: { principal: EVE, name: "Eve" } }),
      await talk(store, "group", "of a group", { bytes: 100, scope: "group" }),
      await talk(store, "shared", "shared", { bytes: 100 }),
    ];
    await talk(store, "shared", "shared", { bytes: 100, sender: { principal: EVE, name: "Eve" } });
    await talk(store, "a", "here", { bytes: 100 });
    const other = await talk(store, "c", "mine", { bytes: 100 });
    const stranger = { ...here, agentId: "pirate" as ConversationAsker["agentId"] };
    expect([await titles(store), await titles(store, stranger)]).toEqual([["mine"], []]);
    for (const file of files) expect(await store.conversations.resume(here, file, by("r"))).toEqual({ kind: "gone" });
    expect(await store.conversations.resume(stranger, other, by("r"))).toEqual({ kind: "gone" });
    expect(await store.conversations.resume({ ...here, principal: null }, other, by("r"))).toEqual({ kind: "gone" });
  });

  test("a conversation in which no agent was asked anything is not kept", async () => {
    await using world = await open();
    await fileOf(world.store, "a");
    await world.store.sessions.reset(sessionKey("a"), 4_000, "n" as TurnId);
    expect(await titles(world.store)).toEqual([]);
  });
}

export function sessionChangePromises(open: () => Promise<StoreWorld>): void {
  test("a session keeps its model and thinking level over a reset and a restart, and each turn is told", async () => {
    await using world = await open();
    await talk(world.store, "a", "hello", { bytes: 100 });
    const key = sessionKey("a");
    expect(await world.store.sessions.configure(key, { model: "fake/two" })).toBe(true);
    expect(await world.store.sessions.configure(key, { thinking: "high" })).toBe(true);
    await world.store.sessions.reset(key, 4_000);
    const store = await world.reopen();
    expect(await store.sessions.get(key)).toMatchObject({ model: "fake/two", thinking: "high" });
    await store.inbox.accept(row("next", "a"));
    const { settings } = await store.turns.begin(turn("t-next", "a", ["next"]));
    expect(settings).toEqual({ model: "fake/two", thinking: "high" });
    await store.sessions.configure(key, { model: null, thinking: null });
    expect(await store.sessions.get(key)).not.toHaveProperty("model");
    expect(await store.sessions.configure("nobody" as SessionKey, { model: null })).toBe(false);
  });

  test("a title that is a command gives way to the first real words, and those stay", async () => {
    await using world = await open();
    const { store } = world;
    const titleNow = async () => (await store.sessions.get(sessionKey("a")))?.title;
    await store.inbox.accept(row("1", "a", { text: "/status" }));
    await store.inbox.accept(row("2", "a", { text: "/help" }));
    expect(await titleNow()).toBe("/status");
    await store.inbox.accept(row("3", "a", { text: "Plans for Friday" }));
    await store.inbox.accept(row("4", "a", { text: "other words" }));
    expect(await titleNow()).toBe("Plans for Friday");
    expect((await store.sessions.list({ search: "friday" }, { limit: 5 })).items).toHaveLength(1);
    expect((await store.sessions.list({ search: "/status" }, { limit: 5 })).items).toHaveLength(0);
  });

  test("a name stays whatever is said, is found, and can be withdrawn", async () => {
    await using world = await open();
    const { store } = world;
    const key = sessionKey("a");
    await talk(store, "a", "/status", { bytes: 0 });
    await talk(store, "a", "Plans for Friday", { bytes: 100 });
    expect(await store.sessions.rename(key, " The /big\n plan ")).toBe(true);
    await store.inbox.accept(row("5", "a", { text: "other words" }));
    expect((await store.sessions.get(key))?.title).toBe("The /big plan");
    expect((await store.sessions.list({ search: "BIG PLAN" }, { limit: 5 })).items).toHaveLength(1);
    await store.sessions.rename(key, "/slash");
    await store.inbox.accept(row("6", "a", { text: "more words" }));
    expect((await store.sessions.get(key))?.title).toBe("/slash");
    await store.sessions.rename(key, null);
    expect((await store.sessions.get(key))?.title).toBe("Plans for Friday");
    expect(await store.sessions.rename("nobody" as SessionKey, "x")).toBe(false);
  });

  test("a role that was given is kept over a restart, replaced by a newer one, and gone when withdrawn", async () => {
    await using world = await open();
    const grant = { principal: EVE, role: "member", grantedBy: OPERATOR, at: 1 } as const;
    await world.store.roleGrants.put(grant);
    await world.store.roleGrants.put({ ...grant, role: "owner", at: 2 });
    const store = await world.reopen();
    expect(await store.roleGrants.list()).toEqual([{ ...grant, role: "owner", at: 2 }]);
    expect([await store.roleGrants.remove(EVE, OPERATOR), await store.roleGrants.remove(EVE, OPERATOR)]).toEqual([
      true,
      false,
    ]);
    expect(await store.roleGrants.list()).toEqual([]);
  });
}
