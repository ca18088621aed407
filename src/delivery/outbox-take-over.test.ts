/** Parts that the outbox is told of in the moment in which they are stored: when it takes them over as they are, and when it reads first. */
import { expect, test } from "bun:test";
import { type Channel, SendError } from "../contracts/channel.ts";
import type { PendingPart, StoredPart } from "../contracts/delivery.ts";
import type { SessionKey, TurnId } from "../contracts/ids.ts";
import { deferred } from "../kit/deferred.ts";
import { createFakeClock } from "../testing/fake-clock.ts";
import { recordingLog } from "../testing/recording-log.ts";
import { createSeqIds } from "../testing/seq-ids.ts";
import { type OutboxDeps, startOutbox } from "./index.ts";

const NEVER = new AbortController().signal;

/** `calls`: of the store and the platform, in order. */
function outboxOf(over: { readonly deps?: Partial<OutboxDeps>; send?: (text: string) => Promise<void> } = {}) {
  const clock = createFakeClock();
  const calls: string[] = [];
  const rows: StoredPart[] = [];
  const reading = { until: Promise.resolve() };
  const stored = (seq: number, text: string, chat = "a"): StoredPart => {
    const about = { id: `t${seq}:0`, to: { channel: "webchat", account: "default", chat }, createdAt: clock.now() };
    const counts = { state: "pending", attempts: 0, lost: 0, delivered: 0, doubt: false } as const;
    const pending: PendingPart = { ...about, ...counts, seq, firstTriedAt: null, nextTryAt: null };
    const turn = { turnId: `t${seq}` as TurnId, sessionKey: "s" as SessionKey, part: 0, outcome: "done" } as const;
    const one = { pending, row: { ...about, ...turn, message: { kind: "reply" as const, text } } };
    rows.push(one);
    return one;
  };
  const channel = {
    id: "webchat",
    ownIds: true,
    repeat: "safe",
    ready: () => true,
    async send({ message: { text } }: StoredPart["row"]) {
      calls.push(`send ${text}`);
      await over.send?.(text);
      return {};
    },
  } as unknown as Channel;
  const store = {
    async pending(limit: number, after = 0) {
      calls.push(`read after ${after}`);
      const found = rows.map(({ pending }) => pending).filter(({ seq }) => seq > after);
      await reading.until;
      return found.slice(0, limit);
    },
    async part(id: string) {
      calls.push(`look at ${id}`);
      return rows.find(({ row }) => row.id === id)?.row ?? null;
    },
    async markSent(id: string) {
      rows.splice(
        rows.findIndex(({ row }) => row.id === id),
        1,
      );
      return true;
    },
    async markSending(id: string) {
      calls.push(`announce ${id}`);
      return true;
    },
    markWaiting: async () => true,
    noteInChat: async () => false,
    settle: (id: string) => store.markSent(id, 0),
    endsSince: async () => [],
  } as unknown as OutboxDeps["store"];
  const outbox = startOutbox({
    clock,
    ids: createSeqIds(),
    log: recordingLog(),
    events: { emit: () => undefined },
    store,
    channels: { get: () => channel },
    isHeld: () => true,
    mayReceive: async () => true,
    platformIds: async () => [],
    tellOwner: async () => undefined,
    others: null,
    ...over.deps,
  });
  const settle = () => clock.advance(0);
  return { outbox, calls, stored, reading, settle, rows, clock };
}

test("a part that follows right behind what is known is sent without a look at the store, one after the other and several at once", async () => {
  const w = outboxOf();
  await using _outbox = w.outbox;
  await w.settle();
  w.outbox.wake([w.stored(1, "one")]);
  await w.settle();
  w.outbox.wake([w.stored(2, "two", "b"), w.stored(3, "three", "c")]);
  await w.settle();
  w.outbox.wake([w.stored(4, "four")]);
  await w.outbox.drained(NEVER);
  expect(w.calls).toEqual(["read after 0", "send one", "send two", "send three", "send four"]);
});

test("a part behind a gap waits until the store was read: what somebody else stored there comes first", async () => {
  const w = outboxOf();
  await using _outbox = w.outbox;
  await w.settle();
  w.stored(1, "one");
  w.outbox.wake([w.stored(2, "two")]);
  await w.outbox.drained(NEVER);
  expect(w.calls.filter((call) => !call.startsWith("look"))).toEqual([
    "read after 0",
    "read after 0",
    "send one",
    "send two",
  ]);
});

test("the second of two parts that follows behind a gap lets both be read", async () => {
  const w = outboxOf();
  await using _outbox = w.outbox;
  await w.settle();
  const [one, two] = [w.stored(1, "one"), w.stored(3, "three", "b")];
  w.stored(2, "two", "b");
  w.rows.sort((a, b) => a.pending.seq - b.pending.seq);
  w.outbox.wake([one, two]);
  await w.outbox.drained(NEVER);
  expect(w.calls.filter((call) => call.startsWith("send"))).toEqual(["send one", "send two", "send three"]);
});

test("a part that is stored before the first look at the store is over is sent once, behind the older ones", async () => {
  const w = outboxOf();
  await using _outbox = w.outbox;
  const read = deferred<void>();
  w.reading.until = read.promise;
  w.stored(1, "one");
  await w.settle();
  w.outbox.wake([w.stored(2, "two")]);
  await w.settle();
  expect(w.calls).toEqual(["read after 0"]);
  read.resolve();
  await w.outbox.drained(NEVER);
  expect(w.calls.filter((call) => call.startsWith("send"))).toEqual(["send one", "send two"]);
});

test("a part that is being read when the outbox is told of it is sent once", async () => {
  const w = outboxOf();
  await using _outbox = w.outbox;
  const read = deferred<void>();
  w.reading.until = read.promise;
  const one = w.stored(1, "one");
  await w.settle();
  w.outbox.wake([one]);
  await w.settle();
  read.resolve();
  await w.outbox.drained(NEVER);
  expect([w.calls.filter((call) => call.startsWith("send")), w.outbox.stats()]).toEqual([
    ["send one"],
    { pending: 0, dead: 0, ambiguous: 0 },
  ]);
});

test("the outbox asks what earlier processes gave up within the last day, and for not more than it counts", async () => {
  const asked: unknown[] = [];
  const store = {
    pending: async () => [],
    endsSince: async (...about: readonly unknown[]) => (asked.push(about), []),
  } as unknown as OutboxDeps["store"];
  const w = outboxOf({ deps: { store } });
  await using _outbox = w.outbox;
  await w.settle();
  const since = w.clock.now() - 24 * 3_600_000;
  expect(asked).toEqual([
    ["dead", since, 1_000],
    ["ambiguous", since, 1_000],
  ]);
});

test("a part that was taken over is known: later looks begin behind it, and a drain waits for it", async () => {
  const hold = deferred<void>();
  const w = outboxOf({ send: () => hold.promise });
  await using _outbox = w.outbox;
  await w.settle();
  await w.outbox.drained(NEVER);
  w.outbox.wake([w.stored(1, "one")]);
  let drained = false;
  void w.outbox.drained(NEVER).then(() => (drained = true));
  await w.settle();
  expect([drained, w.outbox.stats().pending, w.outbox.owes(w.rows[0]?.row.to ?? ({} as never))]).toEqual([
    false,
    1,
    true,
  ]);
  hold.resolve();
  await w.settle();
  w.stored(2, "two");
  w.outbox.wake();
  await w.outbox.drained(NEVER);
  expect([drained, w.calls]).toEqual([
    true,
    ["read after 0", "send one", "read after 0", "look at t2:0", "send two"], // few parts wait: a look from the first one on costs little
  ]);
});

test("a part that has to wait behind another is read again when its turn comes: it may have been changed", async () => {
  const hold = deferred<void>();
  const w = outboxOf({ send: (text) => (text === "one" ? hold.promise : Promise.resolve()) });
  await using _outbox = w.outbox;
  await w.settle();
  w.outbox.wake([w.stored(1, "one"), w.stored(2, "two")]);
  await w.settle();
  Object.assign(w.rows[1]?.row.message ?? {}, { text: "changed" });
  hold.resolve();
  await w.outbox.drained(NEVER);
  expect(w.calls).toEqual(["read after 0", "send one", "look at t2:0", "send changed"]);
});

test("a part whose first try failed is read again for the second", async () => {
  let tries = 0;
  const w = outboxOf({ send: () => (++tries === 1 ? Promise.reject(new Error("503")) : Promise.resolve()) });
  await using _outbox = w.outbox;
  await w.settle();
  w.outbox.wake([w.stored(1, "one")]);
  await w.clock.advance(1_000);
  expect(w.calls).toEqual(["read after 0", "send one", "look at t1:0", "send one"]);
});

test("a chat whose only part is given up during a pause of its platform is left alone until that pause is over", async () => {
  const tries: number[] = [];
  const channel = {
    id: "fake",
    repeat: "risky",
    ready: () => true,
    async send() {
      tries.push(w.clock.elapsed());
      if (tries.length === 1) throw new SendError("limited", "too fast", { retryAfterMs: 600_000 });
      return {};
    },
  } as unknown as Channel;
  const w = outboxOf({ deps: { channels: { get: () => channel } } });
  await using _outbox = w.outbox;
  await w.settle();
  const { pending, row } = w.stored(1, "old");
  w.outbox.wake([{ pending: { ...pending, createdAt: pending.createdAt - 3_540_000 }, row }]);
  await w.clock.advance(60_000); // an hour old: given up
  await w.outbox.drained(NEVER);
  w.outbox.wake([w.stored(2, "new")]);
  await w.clock.advance(539_999);
  expect(tries).toEqual([0]);
  await w.clock.advance(1);
  await w.outbox.drained(NEVER);
  expect([tries, w.clock.pending()]).toEqual([[0, 600_000], 0]);
});

test("a drain is given up with its signal, and a stop waits for what is being counted", async () => {
  const hold = deferred<void>();
  const counts = deferred<readonly number[]>();
  const w = outboxOf({ send: () => hold.promise });
  await w.settle();
  w.outbox.wake([w.stored(1, "one")]);
  const given = new AbortController();
  const drain = w.outbox.drained(given.signal).then(
    () => "drained",
    () => "given up",
  );
  given.abort(new Error("enough"));
  expect(await drain).toBe("given up");
  hold.resolve();
  await w.outbox[Symbol.asyncDispose]();

  const store = { pending: async () => [], endsSince: () => counts.promise } as unknown as OutboxDeps["store"];
  const counting = outboxOf({ deps: { store } });
  let stopped = false;
  const stopping = Promise.resolve(counting.outbox[Symbol.asyncDispose]()).then(() => (stopped = true));
  await counting.settle();
  expect(stopped).toBe(false);
  counts.resolve([]);
  await stopping;
});
