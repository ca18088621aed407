/** What finding, pinning, archiving and deleting of sessions promises. */
import { expect, test } from "bun:test";
import type { InboxId, MediaId, TurnId } from "../../../contracts/ids.ts";
import type { Store } from "../../../contracts/store.ts";
import { MASK, SECRET } from "./mask-contract.ts";
import { end, HERE, intent, type OpenStoreWorld, OPERATOR, row, sessionKey, turn } from "./store-world.ts";

const PICTURE = "media-1" as MediaId;

/** A session with a message that has a picture, its reply, and a tool call. */
async function talk(store: Store, name: string, text: string, reply: string): Promise<void> {
  const attachments = [{ mediaId: PICTURE, name: "p.png", mimeType: "image/png", bytes: 3 }];
  await store.inbox.accept(row(`in-${name}`, name, { text, attachments: name === "a" ? attachments : [] }));
  await store.turns.begin(turn(`t-${name}`, name, [`in-${name}`]));
  await store.toolCalls.intend({ ...intent(`c-${name}`, `t-${name}`, true), sessionKey: sessionKey(name) });
  await store.toolCalls.settle(`c-${name}`, { status: "success", output: "tool output", ms: 1 });
  await store.turns.finish(end(`t-${name}`, { reply: [{ part: 0, message: { text: reply, kind: "reply" } }] }));
}

const found = async (store: Store, words: string) =>
  (await store.sessions.searchMessages({ words }, { limit: 10 })).items.map(({ id }) => id);

export function sessionCarePromises(open: OpenStoreWorld): void {
  test("what was said is found by the beginnings of all words, in any case and with or without accents, newest first", async () => {
    await using world = await open();
    const { store } = world;
    await talk(store, "a", "The café in Wien opens early", "It opens at six.");
    await talk(store, "b", "nothing else", "The cafe is closed.");
    expect(await found(store, "CAFE")).toEqual(["t-b:0", "in-a"]);
    expect(await found(store, "open earl")).toEqual(["in-a"]);
    expect(await found(store, "cafe six")).toEqual([]);
    for (const odd of ['"', "* AND", "text:x", "NEAR(", "'", ""]) expect(await found(store, odd)).toEqual([]);
    const [hit] = (await store.sessions.searchMessages({ words: "six" }, { limit: 5 })).items;
    expect(hit).toMatchObject({ role: "assistant", sessionKey: sessionKey("a"), snippet: "It opens at six." });
  });

  test("pages of found messages hold each once, and a session or the reach of a key narrows them", async () => {
    await using world = await open();
    const { store } = world;
    for (const name of ["a", "b", "c"]) await talk(store, name, `tea ${name}`, `more tea ${name}`);
    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await store.sessions.searchMessages({ words: "tea" }, { limit: 2, ...(cursor ? { cursor } : {}) });
      seen.push(...page.items.map(({ id }) => id));
      cursor = page.next;
    } while (cursor !== undefined);
    expect(seen.toSorted()).toEqual(["in-a", "in-b", "in-c", "t-a:0", "t-b:0", "t-c:0"]);
    const search = async (more: object) =>
      (await store.sessions.searchMessages({ words: "tea", ...more }, { limit: 10 })).items.length;
    expect(await search({ session: sessionKey("b") })).toBe(2);
    expect(await search({ channel: "telegram" })).toBe(0);
    expect(await search({ within: { agents: ["other"], keyId: null } })).toBe(0);
    expect(await search({ within: { agents: ["default"], keyId: null } })).toBe(6);
  });

  test("a known secret is neither found nor shown, and changed or deleted text is not found by its old words", async () => {
    await using world = await open({ mask: MASK });
    const { store } = world;
    await talk(store, "a", `my key is ${SECRET} for the safe`, "Thank you.");
    expect(await found(store, SECRET)).toEqual([]);
    const [hit] = (await store.sessions.searchMessages({ words: "safe" }, { limit: 5 })).items;
    expect(hit?.snippet).toContain("for the safe");
    expect(hit?.snippet).not.toContain(SECRET);
    await store.outbox.rewrite(sessionKey("a"), "t-a:0", "Gladly.", 1);
    expect([await found(store, "thank"), await found(store, "gladly")]).toEqual([[], ["t-a:0"]]);
  });

  test("pinned and archived sessions are listed as it is asked for, and an archived one is still found by its title", async () => {
    await using world = await open();
    const { store } = world;
    for (const name of ["a", "b", "c"]) await talk(store, name, `about ${name}`, "yes");
    const { sessions } = store;
    const names = async (filter: Parameters<Store["sessions"]["list"]>[0]) =>
      (await sessions.list(filter, { limit: 10 })).items.map(({ title }) => title).toSorted();
    expect(await sessions.mark(sessionKey("a"), { pinned: true }, 5)).toBe(true);
    await sessions.mark(sessionKey("b"), { archived: true }, 6);
    expect(await sessions.mark(sessionKey("nobody"), { pinned: true }, 5)).toBe(false);
    expect(await names({})).toEqual(["about a", "about c"]);
    expect(await names({ pinned: true })).toEqual(["about a"]);
    expect(await names({ archived: true })).toEqual(["about b"]);
    expect(await names({ search: "about b" })).toEqual(["about b"]);
    expect(await names({ agent: "other" })).toEqual([]);
    expect(await names({ person: OPERATOR })).toEqual(["about a", "about c"]);
    await sessions.mark(sessionKey("a"), { pinned: false }, 7);
    expect(await names({ pinned: true })).toEqual([]);
    expect((await sessions.get(sessionKey("b")))?.archivedAt).toBe(6);
  });

  test("a deleted session leaves no message, turn, picture or found word behind, and its tool calls stay", async () => {
    await using world = await open();
    const { store } = world;
    const data = new Uint8Array([1, 2, 3]);
    await store.media.put({ mediaId: PICTURE, owner: OPERATOR, name: "p.png", mimeType: "image/png", data, at: 1 });
    await talk(store, "a", "the secret plan", "A fine plan.");
    await talk(store, "b", "another plan", "yes");
    const removal = await store.sessions.remove(sessionKey("a"));
    expect(removal).toMatchObject({ kind: "removed", media: 1 });
    const files = removal.kind === "removed" ? removal.files : [];
    expect(files.filter((file) => file.startsWith("media/"))).toEqual([`media/${PICTURE}`]);
    expect(files.filter((file) => file.endsWith(".jsonl"))).toHaveLength(1);
    expect(await store.runSessions.deadFiles(10)).toEqual(files.toSorted());
    expect(await store.sessions.get(sessionKey("a"))).toBeNull();
    expect(await store.media.find(PICTURE)).toBeNull();
    await store.media.removeFile(PICTURE);
    await store.media.removeFile(PICTURE); // gone already
    expect(await store.turns.resultOf("in-a" as InboxId)).toBeNull();
    expect(await found(store, "plan")).toEqual(["in-b"]);
    const calls = await store.toolCalls.list({ sessionKey: sessionKey("a") }, { limit: 10 });
    expect(calls.items.map(({ output }) => output)).toEqual(["tool output"]);
    expect(await store.sessions.remove(sessionKey("a"))).toEqual({ kind: "unknown" });
    await store.inbox.accept(row("in-new", "a", { text: "hello again", address: HERE }));
    expect((await store.sessions.get(sessionKey("a")))?.messages).toBe(1);
  });

  test("a session in which a message waits or a turn runs is not deleted", async () => {
    await using world = await open();
    const { store } = world;
    await store.inbox.accept(row("in1", "a"));
    expect(await store.sessions.remove(sessionKey("a"))).toEqual({ kind: "busy" });
    expect(await store.sessions.waiting(sessionKey("a"))).toEqual([{ id: "in1" as InboxId, sender: OPERATOR }]);
    await store.turns.begin(turn("t1", "a", ["in1"]));
    expect(await store.sessions.waiting(sessionKey("a"))).toEqual([]);
    expect(await store.sessions.remove(sessionKey("a"))).toEqual({ kind: "busy" });
    await store.turns.finish(end("t1"));
    expect(await store.sessions.remove(sessionKey("a"))).toMatchObject({ kind: "removed", messages: 2 });
  });

  test("thoughts of a model are kept with its turn, masked, and the transcript only says that there is something", async () => {
    await using world = await open({ mask: MASK });
    const { store } = world;
    await store.inbox.accept(row("in1", "a"));
    await store.turns.begin(turn("t1", "a", ["in1"]));
    await store.turns.finish(end("t1", { reasoning: `First I think of ${SECRET}.` }));
    await store.inbox.accept(row("in2", "a"));
    await store.turns.begin(turn("t2", "a", ["in2"]));
    await store.turns.finish(end("t2"));
    const { items } = await store.sessions.transcript(sessionKey("a"), { limit: 10 });
    expect(items.map(({ id, reasoned }) => [id, reasoned ?? false])).toEqual([
      ["in1", false],
      ["t1:0", true],
      ["in2", false],
      ["t2:0", false],
    ]);
    const kept = (await store.turns.get("t1" as TurnId))?.reasoning;
    expect(kept).toStartWith("First I think of ");
    expect(kept).not.toContain(SECRET);
    expect(await store.turns.get("t2" as TurnId)).not.toHaveProperty("reasoning");
  });
}
