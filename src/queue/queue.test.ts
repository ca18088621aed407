import { describe, expect, test } from "bun:test";
import type { Batch, Queue, TurnEnd } from "../contracts/queue.ts";
import type { Principal } from "../contracts/ids.ts";
import type { Store } from "../contracts/store.ts";
import { systemClock } from "../kit/clock.ts";
import { systemIds } from "../kit/ids.ts";
import { entry } from "../testing/messages.ts";
import { realStore } from "../testing/real-store.ts";
import { recordingLog } from "../testing/recording-log.ts";
import { nextBatch, nextCommand } from "../testing/worlds/queue-world.ts";
import { createQueue, type QueueSettings } from "./index.ts";

const DONE: TurnEnd = {
  outcome: "done",
  reply: [{ part: 0, message: { kind: "reply", text: "ok" } }],
  usage: { inputTokens: 1, outputTokens: 1, costUsd: 0 },
  model: "m",
  settledBytes: 10,
};
const roomy: QueueSettings = {
  maxPerSession: 100,
  maxTotal: 1_000,
  maxOverflow: 10,
  ttlMs: Infinity,
  mode: "followup",
  collectMs: 0,
  channels: {},
};
const queueOn = (store: Store, changes: Partial<QueueSettings> = {}): Queue =>
  createQueue({ clock: systemClock, ids: systemIds, log: recordingLog(), store, workKind: () => "talk" }, () => ({
    ...roomy,
    ...changes,
  }));
const words = (batch: Batch): string[] => batch.entries.map(({ message }) => message.text);

describe("the queue", () => {
  test("does not begin a turn again that was stopped while it failed, and the one who asked is next", async () => {
    await using world = await realStore(systemClock);
    const workKind = ({ message }: { message: { text: string } }) => (message.text === "/stop" ? "stop" : "talk");
    const deps = { clock: systemClock, ids: systemIds, log: recordingLog(), store: world.store };
    const queue = createQueue({ ...deps, workKind }, () => roomy);
    await queue.accept(entry("a", "story"));
    const first = await nextBatch(queue);
    await queue.accept(entry("a", "later"));
    expect(await queue.accept(entry("a", "/stop"))).toMatchObject({ kind: "queued", position: 1 });
    expect(first.cancelled.reason).toBe("stopped");
    await first.retry("the process died");
    const again = await nextBatch(queue);
    expect([words(again), again.attempt, again.cancelled.aborted]).toEqual([["story"], 2, true]);
    await again.finish(DONE);
    const stop = await nextCommand(queue);
    expect([words(stop), await queue.abort(stop.sessionKey)]).toEqual([["/stop"], false]);
    expect(queue.session(stop.sessionKey, "webchat")).toEqual({ waiting: 1, mode: "followup", chosen: false });
    await stop.finish(DONE);
    expect(words(await nextBatch(queue))).toEqual(["later"]);
  });

  test("hands out a session's messages one turn at a time, in the order they were accepted", async () => {
    await using world = await realStore(systemClock);
    const queue = queueOn(world.store);
    await Promise.all(["one", "two", "three"].map((text) => queue.accept(entry("a", text))));
    const heard: string[] = [];
    for (let n = 0; n < 3; n++) {
      const batch = await nextBatch(queue);
      heard.push(...words(batch));
      await batch.finish(DONE);
    }
    expect(heard).toEqual(["one", "two", "three"]);
  });

  test("runs two sessions beside each other but never two turns of one", async () => {
    await using world = await realStore(systemClock);
    const queue = queueOn(world.store);
    await queue.accept(entry("a", "a1"));
    await queue.accept(entry("a", "a2"));
    await queue.accept(entry("b", "b1"));
    const first = await nextBatch(queue);
    const second = await nextBatch(queue);
    expect([words(first), words(second)]).toEqual([["a1"], ["b1"]]);
    expect(queue.stats()).toEqual({ waiting: 1, running: 2 });
  });

  test("refuses what is too much for a session or for the gateway before it is acknowledged, and keeps what it accepted", async () => {
    await using world = await realStore(systemClock);
    const queue = queueOn(world.store, { maxPerSession: 1, maxTotal: 2 });
    expect(await queue.accept(entry("a", "1"))).toMatchObject({ kind: "queued" });
    expect(await queue.accept(entry("a", "2"))).toEqual({ kind: "full", because: "session", retryAfterMs: 2_000 });
    expect(await queue.accept(entry("b", "3"))).toMatchObject({ kind: "queued" });
    expect(await queue.accept(entry("c", "4"))).toEqual({ kind: "full", because: "gateway", retryAfterMs: 2_000 });
    expect((await world.store.inbox.unfinished()).map((row) => row.message.text)).toEqual(["1", "3"]);
  });

  test("counts messages that are just being stored, so that a burst cannot slip past the limit", async () => {
    await using world = await realStore(systemClock);
    const queue = queueOn(world.store, { maxPerSession: 3, maxTotal: 100 });
    const answers = await Promise.all(Array.from({ length: 10 }, (_, n) => queue.accept(entry("a", String(n)))));
    expect(answers.filter(({ kind }) => kind === "queued")).toHaveLength(3);
  });

  test("recognises a repeat of an event even while the session is full, also after a restart", async () => {
    await using world = await realStore(systemClock);
    const limits = { maxPerSession: 1, maxTotal: 10 };
    const queue = queueOn(world.store, limits);
    const said = entry("a", "hello");
    const first = await queue.accept(said);
    const repeat = { kind: "duplicate", id: first.kind === "queued" ? first.id : "" } as const;
    expect(await queue.accept(said)).toMatchObject(repeat);
    const after = queueOn(await world.reopen(), limits);
    await after.recover();
    expect(await after.accept(said)).toMatchObject(repeat);
    expect((await after.accept(entry("a", "more"))).kind).toBe("full");
  });

  test("gives a new life everything an earlier one had accepted: the interrupted turn first, under its old id, as a new attempt", async () => {
    await using world = await realStore(systemClock);
    const before = queueOn(world.store);
    await before.accept(entry("a", "interrupted"));
    await before.accept(entry("a", "waiting"));
    const lost = await nextBatch(before);

    const after = queueOn(await world.reopen());
    expect(await after.recover()).toEqual({ waiting: 2, interrupted: 1 });
    const batch = await nextBatch(after);
    expect({ id: batch.turnId, attempt: batch.attempt, words: words(batch) }).toEqual({
      id: lost.turnId,
      attempt: 2,
      words: ["interrupted"],
    });
    await batch.finish(DONE);
    expect(words(await nextBatch(after))).toEqual(["waiting"]);
  });

  test("drops the reply of a turn that somebody else took over", async () => {
    await using world = await realStore(systemClock);
    const queue = queueOn(world.store);
    await queue.accept(entry("a", "hello"));
    const late = await nextBatch(queue);
    const other = queueOn(world.store);
    await other.recover();
    const faster = await nextBatch(other);
    expect(await faster.finish(DONE)).not.toBeNull();
    expect(await late.finish(DONE)).toBeNull();
    expect(await world.store.outbox.pending(10)).toHaveLength(1);
  });

  test("takes a turn that is to be tried again before the session's other messages", async () => {
    await using world = await realStore(systemClock);
    const queue = queueOn(world.store);
    await queue.accept(entry("a", "first"));
    await queue.accept(entry("a", "second"));
    await (await nextBatch(queue)).retry("the process died");
    const again = await nextBatch(queue);
    expect([words(again), again.attempt]).toEqual([["first"], 2]);
  });

  test("wakes a waiting taker and stops waiting when it is told to", async () => {
    await using world = await realStore(systemClock);
    const queue = queueOn(world.store);
    const taken = nextBatch(queue);
    await queue.accept(entry("a", "hello"));
    expect(words(await taken)).toEqual(["hello"]);
    const stop = new AbortController();
    const waiting = queue.take(stop.signal);
    stop.abort(new Error("enough"));
    expect(waiting).rejects.toThrow("enough");
  });

  test("aborts the running turn of a session and no other", async () => {
    await using world = await realStore(systemClock);
    const queue = queueOn(world.store);
    const said = entry("a", "hello");
    await queue.accept(said);
    const batch = await nextBatch(queue);
    expect(await queue.abort(entry("b", "").sessionKey)).toBe(false);
    expect(batch.cancelled.aborted).toBe(false);
    expect(await queue.abort(said.sessionKey)).toBe(true);
    expect(batch.cancelled.aborted).toBe(true);
  });

  test("makes one turn of all that waits in a session that collects, but never of two people's messages", async () => {
    await using world = await realStore(systemClock);
    const queue = queueOn(world.store, { mode: "collect" });
    const other = entry("a", "by another", {});
    const theirs = {
      ...other,
      message: { ...other.message, sender: { principal: "telegram:user:2" as Principal, name: "B" } },
    };
    await queue.accept(entry("a", "one"));
    const first = await nextBatch(queue);
    for (const said of [entry("a", "two"), entry("a", "three"), theirs, entry("a", "four")]) await queue.accept(said);
    await first.finish(DONE);
    const turns: string[][] = [];
    for (let n = 0; n < 3; n++) {
      const batch = await nextBatch(queue);
      turns.push(words(batch));
      await batch.finish(DONE);
    }
    expect(turns).toEqual([["two", "three"], ["by another"], ["four"]]);
  });

  test("may treat one channel differently", async () => {
    await using world = await realStore(systemClock);
    const queue = queueOn(world.store, { mode: "collect", channels: { webchat: "followup" } });
    await queue.accept(entry("a", "one"));
    const first = await nextBatch(queue);
    for (const text of ["two", "three"]) await queue.accept(entry("a", text));
    await first.finish(DONE);
    expect(words(await nextBatch(queue))).toEqual(["two"]);
  });
});
