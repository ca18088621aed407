/** What every store promises about replies on their way. Each promise is a test; a store passes them all or is not one. */
import { describe, expect, test } from "bun:test";
import type { InstanceId, MediaId, TurnId } from "../../../contracts/ids.ts";
import type { Store } from "../../../contracts/store.ts";
import type { NewPost } from "../../../contracts/store/posts.ts";
import { end, HERE, row, sessionKey, type StoreWorld, turn } from "./store-world.ts";

export function outboxContract(name: string, open: () => Promise<StoreWorld>): void {
  describe(name, () => {
    outboxPromises(open);
    claimPromises(open);
    ownerPromises(open);
    postPromises(open);
    noticePromises(open);
  });
}

function post(onceKey: string, more: Partial<NewPost> = {}): NewPost {
  const message = { text: `post ${onceKey}`, kind: "reply" } as const;
  return { turnId: "t1" as TurnId, sessionKey: sessionKey("a"), onceKey, to: HERE, message, at: 2_500, ...more };
}

async function withTurn(store: Store): Promise<void> {
  await store.inbox.accept(row("in1", "a"));
  await store.turns.begin(turn("t1", "a", ["in1"]));
}

function postPromises(open: () => Promise<StoreWorld>): void {
  test("posts are counted for each turn by itself: one that has sent all it may takes nothing from another", async () => {
    await using world = await open();
    const { store } = world;
    await withTurn(store);
    await store.inbox.accept(row("in2", "b"));
    await store.turns.begin(turn("t2", "b", ["in2"]));
    let posts = 0;
    while ((await store.outbox.post(post(`p${posts}`))).kind === "posted") posts++;
    expect(await store.outbox.post(post("one more"))).toEqual({ kind: "full", max: posts });
    const other = { turnId: "t2" as TurnId, sessionKey: sessionKey("b") };
    expect((await store.outbox.post(post("first", other))).kind).toBe("posted");
    expect((await store.outbox.post(post("p0"))).kind).toBe("posted"); // sent before, and not again
  });

  test("a post is delivered once, before the reply of its turn, and is part of the transcript and of the answer", async () => {
    await using world = await open();
    const { store } = world;
    await withTurn(store);
    const media = {
      mediaId: "media_1" as MediaId,
      name: "a.png",
      mimeType: "image/png",
      bytes: 3,
      as: "photo",
    } as const;
    const message = { text: "look", kind: "reply", attachments: [media], replyTo: "m7", format: "plain" } as const;
    const first = await store.outbox.post(post("one", { message }));
    expect(first).toEqual({ kind: "posted", id: expect.stringMatching(/^t1:x[0-9a-f]+$/) });
    expect(await store.outbox.post(post("one", { message }))).toEqual(first);
    await store.outbox.post(post("two"));
    await store.turns.finish(end("t1"));
    const again = await world.reopen();
    const pending = await again.outbox.pending(10);
    const rows = await Promise.all(pending.map(({ id }) => again.outbox.part(id)));
    expect(rows.map((one) => one?.message)).toEqual([
      message,
      { text: "post two", kind: "reply" },
      { text: "answer of t1", kind: "reply" },
    ]);
    const { items } = await again.sessions.transcript(sessionKey("a"), { limit: 10 });
    expect(items.slice(1)).toMatchObject([
      { text: "look", extra: true, attachments: [media], replyTo: "m7" },
      { text: "post two", extra: true },
      { text: "answer of t1" },
    ]);
    expect(items.at(-1)?.extra).toBeUndefined();
    expect((await again.sessions.get(sessionKey("a")))?.messages).toBe(4);
    const result = await again.turns.resultOf(row("in1", "a").id);
    expect([result?.content, result?.attachments]).toEqual(["look\n\npost two\n\nanswer of t1", [media]]);
  });

  test("a post needs a turn of its own session, and a turn may post only so much", async () => {
    await using world = await open();
    const { outbox } = world.store;
    await withTurn(world.store);
    expect(await outbox.post(post("x", { turnId: "nope" as TurnId }))).toEqual({ kind: "no_turn" });
    expect(await outbox.post(post("x", { sessionKey: sessionKey("b") }))).toEqual({ kind: "no_turn" });
    const posted = await Promise.all(Array.from({ length: 51 }, (_, n) => outbox.post(post(`n${n}`))));
    expect(posted.map(({ kind }) => kind)).toEqual([...Array<"posted">(50).fill("posted"), "full"]);
  });

  test("a message is rewritten or withdrawn in its own session only, and once withdrawn it is gone", async () => {
    await using world = await open();
    const { outbox, sessions } = world.store;
    await withReplies(world.store, ["a", "b"]);
    expect(await outbox.rewrite(sessionKey("b"), "t-a:0", "stolen", 7)).toBeNull();
    expect(await outbox.rewrite(sessionKey("a"), "in-a", "stolen", 7)).toBeNull();
    expect(await outbox.rewrite(sessionKey("a"), "t-a:0", "better", 7)).toMatchObject({
      id: "t-a:0",
      message: { text: "better" },
      editedAt: 7,
    });
    const texts = async () => (await sessions.transcript(sessionKey("a"), { limit: 10 })).items.map(({ text }) => text);
    expect(await texts()).toEqual(["text of event-in-a", "better"]);
    expect(await outbox.rewrite(sessionKey("a"), "t-a:0", null, 8)).toMatchObject({
      deleted: true,
      message: { text: "" },
    });
    expect(await outbox.rewrite(sessionKey("a"), "t-a:0", "back again", 9)).toBeNull();
    expect(await texts()).toEqual(["text of event-in-a"]);
  });
}

/** Each a turn of one part, in a session of its own; its text is its name. */
async function withReplies(store: Store, names: readonly string[]): Promise<void> {
  for (const name of names) {
    await store.inbox.accept(row(`in-${name}`, name));
    await store.turns.begin(turn(`t-${name}`, name, [`in-${name}`]));
    await store.turns.finish(end(`t-${name}`, { reply: [{ part: 0, message: { text: name, kind: "reply" } }] }));
  }
}

const COUNTS = { attempts: 0, lost: 0, delivered: 0, doubt: false };
const CLAIM = { ...COUNTS, attempts: 1, at: 4_000, claimedUntil: 5_000 };
const WAIT = { ...COUNTS, attempts: 1, firstTriedAt: 4_000, nextTryAt: 4_500, because: "503" };
const SENT = { state: "sent", because: null } as const;

function noticePromises(open: () => Promise<StoreWorld>): void {
  test("a notice about a part is stored once, behind its reply, in the chat where somebody asked", async () => {
    await using world = await open();
    const { outbox, sessions } = world.store;
    await withReplies(world.store, ["one", "two"]);
    expect(await outbox.noteInChat("t-one:0", "gone", 7_000)).toBe(true);
    expect(await outbox.noteInChat("t-one:0", "gone again", 8_000)).toBe(true);
    const pending = await outbox.pending(10);
    expect(pending.map(({ id }) => id)).toEqual(["t-one:0", "t-two:0", "t-one:n"]);
    expect(await outbox.part("t-one:n")).toMatchObject({ to: HERE, message: { kind: "notice", text: "gone" } });
    const { items } = await sessions.transcript(sessionKey("one"), { limit: 10 });
    expect(items.map(({ text }) => text)).toEqual(["text of event-in-one", "one", "gone"]);
    expect((await sessions.get(sessionKey("one")))?.messages).toBe(3);
  });

  test("a notice about several turns is stored once while it waits, and anew after it was sent", async () => {
    await using world = await open();
    const { outbox } = world.store;
    await withReplies(world.store, ["one", "two", "three"]);
    expect(await outbox.noteInChat("t-one:0", "gone", 7_000)).toBe(true);
    expect(await outbox.noteInChat("t-two:0", "gone", 7_000)).toBe(true);
    expect(await outbox.part("t-two:n")).toBeNull();
    await outbox.markSent("t-one:n", 8_000);
    expect(await outbox.noteInChat("t-three:0", "gone", 9_000)).toBe(true);
    expect(await outbox.part("t-three:n")).not.toBeNull();
  });

  const elsewhere = [
    ["of a turn that nobody asked for in a chat", { message: { origin: "cron" } }],
    ["whose chat is another than the one it was asked in", { message: { address: { ...HERE, chat: "another" } } }],
    ["whose account is another", { message: { address: { ...HERE, account: "another" } } }],
    ["whose channel is another", { message: { address: { ...HERE, channel: "another" } } }],
  ] as const;
  test.each(elsewhere)("no notice is stored about a part %s", async (_name, { message }) => {
    await using world = await open();
    const { inbox, turns, outbox } = world.store;
    const said = row("in1", "a");
    await inbox.accept({ ...said, message: { ...said.message, ...message } });
    await turns.begin(turn("t1", "a", ["in1"]));
    await turns.finish(end("t1"));
    expect(await outbox.noteInChat("t1:0", "gone", 7_000)).toBe(false);
    expect(await outbox.pending(10)).toHaveLength(1);
  });

  test("no notice is stored about a notice, or about a part that does not exist", async () => {
    await using world = await open();
    const { inbox, turns, outbox } = world.store;
    await inbox.accept(row("in1", "a"));
    await turns.begin(turn("t1", "a", ["in1"]));
    await turns.finish(end("t1", { reply: [{ part: 0, message: { text: "Stopped.", kind: "notice" } }] }));
    expect([await outbox.noteInChat("t1:0", "x", 1), await outbox.noteInChat("t1:7", "x", 1)]).toEqual([false, false]);
  });
}

function outboxPromises(open: () => Promise<StoreWorld>): void {
  test("how far a send came, and what is planned after it, is known after a restart", async () => {
    await using world = await open();
    await withReplies(world.store, ["one"]);
    await world.store.outbox.markSending("t-one:0", CLAIM);
    const second = await world.reopen();
    expect(await second.outbox.pending(10)).toMatchObject([{ state: "sending", attempts: 1, firstTriedAt: 4_000 }]);
    const plan = { attempts: 2, lost: 1, delivered: 3, doubt: true, firstTriedAt: 4_000, nextTryAt: 9_000 };
    await second.outbox.markWaiting("t-one:0", { ...plan, because: "503" });
    const third = await world.reopen();
    expect(await third.outbox.pending(10)).toMatchObject([{ state: "pending", ...plan }]);
  });

  test("reading on begins after the part that was read last", async () => {
    await using world = await open();
    const { outbox } = world.store;
    await withReplies(world.store, ["one", "two", "three"]);
    const [first, second] = await outbox.pending(2);
    expect([first?.id, second?.id]).toEqual(["t-one:0", "t-two:0"]);
    expect((await outbox.pending(10, second?.seq)).map(({ id }) => id)).toEqual(["t-three:0"]);
  });

  test("when a part was tried first is kept through later tries, and so is doubt about an earlier message of it", async () => {
    await using world = await open();
    const { outbox } = world.store;
    await withReplies(world.store, ["one"]);
    const counts = { attempts: 1, lost: 2, delivered: 3, doubt: true };
    await outbox.markSending("t-one:0", { ...CLAIM, ...counts });
    await outbox.markSending("t-one:0", { ...CLAIM, ...counts, attempts: 2, at: 9_000 });
    expect(await outbox.pending(10)).toMatchObject([{ ...counts, attempts: 2, firstTriedAt: 4_000, state: "sending" }]);
  });

  test("a part that has ended stays as it is, whatever comes late", async () => {
    await using world = await open();
    const { outbox } = world.store;
    await withReplies(world.store, ["one"]);
    await outbox.settle("t-one:0", { state: "ambiguous", because: "lost", providerId: "p1" }, 4_000);
    await outbox.markSending("t-one:0", { ...CLAIM, attempts: 9, lost: 9, at: 5_000 });
    await outbox.markWaiting("t-one:0", { ...COUNTS, lost: 9, firstTriedAt: 1, nextTryAt: 1, because: "x" });
    await outbox.markSent("t-one:0", 5_000);
    await outbox.settle("t-one:0", { state: "dead", because: "x" }, 5_000);
    expect(await outbox.pending(10)).toEqual([]);
    const { items } = await outbox.list("ambiguous", { limit: 10 });
    expect(items).toMatchObject([{ id: "t-one:0", because: "lost", attempts: 0, endedAt: 4_000, providerId: "p1" }]);
  });

  test("replies that did not arrive are listed by their end, page after page, each once", async () => {
    await using world = await open();
    const { outbox } = world.store;
    const names = ["a", "b", "c", "d", "e"];
    await withReplies(world.store, [...names, "fine", "doubt"]);
    const endedAt = [5_000, 4_000, 4_000, 4_003, 4_004]; // the first that was stored ends last
    for (const [index, name] of names.entries())
      await outbox.settle(`t-${name}:0`, { state: "dead", because: "gone" }, endedAt[index] ?? 0);
    await outbox.markSent("t-fine:0", 9_000);
    await outbox.settle("t-doubt:0", { state: "ambiguous", because: "lost" }, 9_000);
    const seen: string[] = [];
    for (let page = await outbox.list("dead", { limit: 2 }); ;) {
      seen.push(...page.items.map(({ message: said }) => said.text));
      if (page.next === undefined) break;
      page = await outbox.list("dead", { limit: 2, cursor: page.next });
    }
    expect(seen).toEqual(["a", "e", "d", "c", "b"]);
    expect(await outbox.endsSince("dead", 4_000, 10)).toEqual([5_000, 4_004, 4_003]);
    expect(await outbox.endsSince("dead", 4_000, 2)).toEqual([5_000, 4_004]);
    expect(await outbox.endsSince("ambiguous", 0, 10)).toEqual([9_000]);
  });
}

function claimPromises(open: () => Promise<StoreWorld>): void {
  test("a part is claimed by one of two gateways, until the claim has run out", async () => {
    await using world = await open();
    const { outbox: one } = world.store;
    const { outbox: other } = await world.openSecond();
    await withReplies(world.store, ["a"]);
    expect([await one.markSending("t-a:0", CLAIM), await other.markSending("t-a:0", CLAIM)]).toEqual([true, false]);
    expect(await one.markSending("t-a:0", { ...CLAIM, at: 4_001 })).toBe(true); // its own
    expect(await other.markSending("t-a:0", { ...CLAIM, at: 4_999 })).toBe(false);
    expect(await other.markSending("t-a:0", { ...CLAIM, at: 5_000, claimedUntil: 6_000 })).toBe(true);
    expect(await one.markSending("t-a:0", { ...CLAIM, at: 5_001 })).toBe(false);
  });

  test("gateways that claim the same parts at once never both get one", async () => {
    await using world = await open();
    const stores = [world.store, await world.openSecond(), await world.openSecond()];
    const names = Array.from({ length: 20 }, (_, n) => `n${n}`);
    await withReplies(world.store, names);
    const claims = await Promise.all(
      names.map((name) => Promise.all(stores.map(({ outbox }) => outbox.markSending(`t-${name}:0`, CLAIM)))),
    );
    expect(claims.map((claimed) => claimed.filter(Boolean).length)).toEqual(names.map(() => 1));
  });

  test("a part that is left to wait is free for every gateway", async () => {
    await using world = await open();
    const { outbox: other } = await world.openSecond();
    await withReplies(world.store, ["a"]);
    await world.store.outbox.markSending("t-a:0", CLAIM);
    expect(await world.store.outbox.markWaiting("t-a:0", WAIT)).toBe(true);
    expect(await other.markSending("t-a:0", { ...CLAIM, at: 4_500 })).toBe(true);
  });

  const records = [
    ["settle", ({ outbox }: Store) => outbox.settle("t-a:0", { state: "dead", because: "late" }, 9_000)],
    ["markSent", ({ outbox }: Store) => outbox.markSent("t-a:0", 9_000)],
    ["markWaiting", ({ outbox }: Store) => outbox.markWaiting("t-a:0", { ...WAIT, lost: 7 })],
  ] as const;
  test.each(records)("a gateway whose claim ran out and was taken records nothing with %s", async (_name, record) => {
    await using world = await open();
    const other = await world.openSecond();
    await withReplies(world.store, ["a"]);
    await world.store.outbox.markSending("t-a:0", CLAIM);
    await other.outbox.markSending("t-a:0", { ...CLAIM, attempts: 2, at: 5_000, claimedUntil: 6_000 });
    expect(await record(world.store)).toBe(false);
    expect(await world.store.outbox.pending(10)).toMatchObject([{ state: "sending", attempts: 2, lost: 0 }]);
    expect(await other.outbox.markWaiting("t-a:0", WAIT)).toBe(true);
    expect(await record(world.store)).toBe(false); // given back, and not to the one before
    expect(await other.outbox.settle("t-a:0", SENT, 7_000)).toBe(true);
    expect(await record(world.store)).toBe(false);
    expect(await world.store.outbox.pending(10)).toEqual([]);
  });

  test("a gateway that starts takes over the claims of those before it", async () => {
    await using world = await open();
    await withReplies(world.store, ["a", "b"]);
    await world.store.outbox.markSending("t-a:0", CLAIM);
    const { outbox, instanceId } = await world.reopen();
    expect(instanceId).not.toBe(world.store.instanceId);
    expect(await outbox.pending(10)).toMatchObject([{ state: "sending" }, { state: "pending" }]);
    expect(await outbox.markSending("t-a:0", { ...CLAIM, attempts: 2, at: 4_500 })).toBe(true);
    expect(await outbox.settle("t-a:0", SENT, 4_600)).toBe(true);
  });

  test("a part that has ended cannot be claimed, and its gateway may record its end again", async () => {
    await using world = await open();
    const { outbox } = world.store;
    await withReplies(world.store, ["a"]);
    await outbox.markSending("t-a:0", CLAIM);
    await outbox.settle("t-a:0", SENT, 4_500);
    expect(await outbox.settle("t-a:0", SENT, 4_600)).toBe(true);
    expect(await outbox.markSending("t-a:0", CLAIM)).toBe(false);
  });
}

function ownerPromises(open: () => Promise<StoreWorld>): void {
  const ids = async ({ outbox }: Store) => (await outbox.pending(10)).map(({ id }) => id);

  test("a part is the gateway's that stored it, until it is handed to another one with all that is known about it", async () => {
    await using world = await open();
    const [one, other] = [world.store, await world.openSecond()];
    await withReplies(one, ["a", "b", "ended"]);
    await one.outbox.markSending("t-a:0", CLAIM);
    await one.outbox.settle("t-ended:0", SENT, 4_500);
    expect([await ids(one), await ids(other)]).toEqual([["t-a:0", "t-b:0"], []]);
    const known = await one.outbox.pending(1);
    expect(await one.outbox.handTo(other.instanceId, ["t-a:0", "t-ended:0", "nobody's"])).toEqual(["t-a:0"]);
    expect([await ids(one), await ids(other)]).toEqual([["t-b:0"], ["t-a:0"]]);
    expect(await other.outbox.pending(1)).toEqual([...known]);
    expect(known).toMatchObject([{ state: "sending", attempts: 1, firstTriedAt: 4_000 }]);
    expect(await one.outbox.handTo(other.instanceId, ["t-a:0"])).toEqual([]);
    expect(await other.outbox.settle("t-a:0", SENT, 4_600)).toBe(true);
    expect([await ids(one), await ids(other)]).toEqual([["t-b:0"], []]);
  });

  test("a turn is owed while it runs and until the last part of its reply has ended, whichever gateway asks", async () => {
    await using world = await open();
    const [one, other] = [world.store, await world.openSecond()];
    const owed = () => Promise.all([one, other].map(({ outbox }) => outbox.isOwed("t1" as TurnId)));
    expect(await owed()).toEqual([false, false]);
    await withTurn(one);
    expect(await owed()).toEqual([true, true]);
    const reply = [0, 1].map((part) => ({ part, message: { text: String(part), kind: "reply" } }) as const);
    await one.turns.finish(end("t1", { reply }));
    await one.outbox.settle("t1:0", SENT, 4_000);
    expect(await owed()).toEqual([true, true]);
    await one.outbox.settle("t1:1", { state: "ambiguous", because: "lost" }, 4_000);
    expect(await owed()).toEqual([false, false]);
  });

  test("a part is not handed to a gateway that is gone, or that nobody knows", async () => {
    await using world = await open();
    const second = await world.openSecond(); // where a file is held by one gateway, the first is gone now
    const [gone, live] = world.isShared ? [second, world.store] : [world.store, second];
    if (world.isShared) await second[Symbol.asyncDispose]();
    await withReplies(live, ["a"]);
    for (const to of [gone.instanceId, "gateway_unknown" as InstanceId])
      expect(await live.outbox.handTo(to, ["t-a:0"])).toEqual([]);
    expect(await ids(live)).toEqual(["t-a:0"]);
  });
}
