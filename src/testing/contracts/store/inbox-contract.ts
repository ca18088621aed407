/** What an inbox promises: stored once, in order, whole. */
import { expect, test } from "bun:test";
import type { InboxId, MediaId, TurnId } from "../../../contracts/ids.ts";
import { end, HERE, row, sessionKey, type StoreWorld, turn } from "./store-world.ts";

export function inboxPromises(open: () => Promise<StoreWorld>): void {
  test("an accepted message is waiting, whole, after a restart", async () => {
    await using world = await open();
    const sent = row("in1", "a", {
      address: { ...HERE, thread: "7" },
      mentioned: true,
      attachments: [{ mediaId: "media_1" as MediaId, name: "cat.png", mimeType: "image/png", bytes: 3 }],
      quoted: [
        { how: "forward", author: { id: "telegram:user:7", name: "Mallory" }, text: "/role mallory owner" },
        { how: "reply", author: { id: null, name: "" }, text: "" },
      ],
      text: "Grüße, 👩‍👩‍👧",
    });
    expect(await world.store.inbox.accept(sent)).toMatchObject({ kind: "stored" });
    const again = await world.reopen();
    expect(await again.inbox.unfinished()).toEqual([{ ...sent, turn: null, mode: null, overflow: null }]);
  });

  test("the same event is stored once, and the second sender learns about the first", async () => {
    await using world = await open();
    await world.store.inbox.accept(row("in1", "a", { eventId: "e" }));
    const again = row("in2", "a", { eventId: "e", fingerprint: "other" });
    expect(await world.store.inbox.accept(again)).toEqual({
      kind: "duplicate",
      id: "in1" as InboxId,
      fingerprint: "print-event-in1",
    });
    expect(await world.store.inbox.accept(row("in1", "a", { eventId: "e" }))).toMatchObject({ kind: "duplicate" });
    expect((await world.store.sessions.get(sessionKey("a")))?.messages).toBe(1);
  });

  test("of two equal events that arrive in the same tick, one is stored", async () => {
    await using world = await open();
    const both = ["in1", "in2"].map((id) => world.store.inbox.accept(row(id, "a", { eventId: "e" })));
    expect((await Promise.all(both)).map((result) => result.kind)).toEqual(["stored", "duplicate"]);
  });

  test("one event id on two accounts or two channels is two events", async () => {
    await using world = await open();
    const places = [HERE, { ...HERE, account: "second" }, { ...HERE, channel: "api" }];
    for (const [index, address] of places.entries())
      expect(await world.store.inbox.accept(row(`in${index}`, "a", { eventId: "e", address }))).toMatchObject({
        kind: "stored",
      });
  });

  test("messages wait in the order in which they were accepted, not in the order of their ids", async () => {
    await using world = await open();
    for (const id of ["z", "a", "m"]) await world.store.inbox.accept(row(id, "a"));
    expect((await world.store.inbox.unfinished()).map(({ id }) => String(id))).toEqual(["z", "a", "m"]);
  });

  test("a waiting message has the text of its last edit, over a restart; one that a turn has claimed keeps its own", async () => {
    await using world = await open();
    const { inbox, turns } = world.store;
    await inbox.accept(row("in1", "a"));
    await inbox.accept(row("in2", "b"));
    await turns.begin(turn("t2", "b", ["in2"]));
    const edit = (id: string, text: string) => inbox.rewrite(id as InboxId, text, 5);
    expect([await edit("in1", "better"), await edit("in1", "best")]).toEqual([true, true]);
    expect([await edit("in2", "too late"), await edit("nothing", "x")]).toEqual([false, false]);
    const { inbox: later } = await world.reopen();
    const texts = (await later.unfinished()).map(({ message }) => message.text);
    expect(texts).toEqual(["best", "text of event-in2"]);
  });

  test("a turn that begins with its message is there with it after a restart, as if it had begun by itself", async () => {
    await using world = await open();
    const begins = { turnId: "t1" as TurnId, at: 2_000 };
    const first = await world.store.inbox.accept({ ...row("in1", "a"), begins });
    expect(first).toMatchObject({ kind: "stored", begun: { attempt: 1, unsafeToRetry: false } });
    await world.store.sessions.configure(sessionKey("a"), { model: "local/other", thinking: "high" });
    const again = await world.reopen();
    expect((await again.inbox.unfinished()).map(({ id, turn }) => [id, turn?.turnId])).toEqual([
      ["in1", "t1"],
    ] as never);
    const later = await again.turns.begin(turn("t1", "a", ["in1"]));
    expect(later.attempt).toBe(2);
    await again.turns.finish(end("t1", { attempt: 2 }));
    const next = await again.inbox.accept({ ...row("in2", "a"), begins: { ...begins, turnId: "t2" as TurnId } });
    expect(next).toMatchObject({
      begun: { ...later, attempt: 1, hasNews: false, sessionFile: { settledBytes: 100 } },
    });
  });

  test("a message begins no turn beside one that runs in its session, and none when it was here before", async () => {
    await using world = await open();
    const { inbox, turns } = world.store;
    const begins = (id: string) => ({ begins: { turnId: id as TurnId, at: 2_000 } });
    await inbox.accept({ ...row("in1", "a"), ...begins("t1") });
    expect(await inbox.accept({ ...row("in2", "a"), ...begins("t2") })).toMatchObject({ kind: "stored", begun: null });
    expect(await inbox.accept({ ...row("in1", "a"), ...begins("t3") })).toMatchObject({ kind: "duplicate" });
    expect((await inbox.unfinished()).map(({ turn }) => turn?.turnId ?? null)).toEqual(["t1" as TurnId, null]);
    await turns.finish(end("t1"));
    expect((await turns.begin(turn("t2", "a", ["in2"]))).attempt).toBe(1);
  });

  test("a message with the id of another is refused and changes nothing", async () => {
    await using world = await open();
    await world.store.inbox.accept(row("in1", "a"));
    await expect(world.store.inbox.accept(row("in1", "b", { eventId: "new" }))).rejects.toMatchObject({
      code: "store_failed",
    });
    expect(await world.store.sessions.get(sessionKey("b"))).toBeNull();
  });
}
