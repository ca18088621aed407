/** How many messages may wait: those on their way to the disk count, a repeat of a waiting message is let through, and so is a kept one. */
import { describe, expect, test } from "bun:test";
import type { Accepted, QueueEntry } from "../contracts/queue.ts";
import { deferred } from "../kit/deferred.ts";
import { entry } from "../testing/messages.ts";
import { createAdmission } from "./admission.ts";
import type { Lanes } from "./lanes.ts";
import type { Work } from "./work.ts";

const QUEUED = { kind: "queued" } as unknown as Accepted;
const HERE = { channel: "telegram", account: "main", chat: "1" };

function world(limits: { readonly maxPerSession: number; readonly maxTotal: number }) {
  const waiting = { here: 0, everywhere: 0 };
  const lanes = {
    waitingIn: () => ({ messages: waiting.here }),
    stats: () => ({ waiting: waiting.everywhere }),
  } as unknown as Lanes;
  const admission = createAdmission(lanes, () => ({ ...limits, maxOverflow: 10 }) as never);
  const stored: string[] = [];
  const admit = (one: QueueEntry, kind: "talk" | "stop" = "talk") =>
    admission.admit(one, kind, async (as) => (stored.push(as), QUEUED));
  return { waiting, admission, admit, stored };
}
const said = (session: string, eventId: string, address = HERE): QueueEntry => {
  const one = entry(session, "hello");
  return { ...one, message: { ...one.message, eventId, address } };
};
const full = (because: string) => ({ kind: "full", because, retryAfterMs: expect.any(Number) }) as never;

describe("a message is refused", () => {
  test("a message is refused when its session is full, or the gateway is", async () => {
    const w = world({ maxPerSession: 2, maxTotal: 4 });
    w.waiting.here = 1;
    expect(await w.admit(said("a", "1"))).toBe(QUEUED);
    w.waiting.here = 2;
    expect(await w.admit(said("a", "2"))).toEqual(full("session"));
    w.waiting.here = 0;
    w.waiting.everywhere = 3;
    expect(await w.admit(said("a", "3"))).toBe(QUEUED);
    w.waiting.everywhere = 4;
    expect(await w.admit(said("a", "4"))).toEqual(full("gateway"));
  });

  test("a message is refused while messages that are being stored fill the session, until they are stored or have failed", async () => {
    const w = world({ maxPerSession: 1, maxTotal: 2 });
    const disk = deferred<Accepted>();
    const first = w.admission.admit(said("a", "1"), "talk", () => disk.promise);
    const second = w.admission.admit(said("b", "2"), "talk", () => disk.promise);
    expect(await w.admit(said("a", "3"))).toEqual(full("session"));
    expect(await w.admit(said("c", "4"))).toEqual(full("gateway"));
    disk.reject(new Error("the disk is full"));
    await Promise.allSettled([first, second]);
    expect([await w.admit(said("a", "3")), await w.admit(said("c", "4"))]).toEqual([QUEUED, QUEUED]);
  });
});

test("a message that cannot be refused is kept as overflow", async () => {
  const w = world({ maxPerSession: 0, maxTotal: 0 });
  expect(await w.admit({ ...said("a", "1"), whenFull: "keep" })).toBe(QUEUED);
  expect(w.stored).toEqual(["overflow"]);
});

test("a stop is taken when everything is full, though not without a limit", async () => {
  const w = world({ maxPerSession: 2, maxTotal: 2 });
  w.waiting.here = w.waiting.everywhere = 2;
  expect([await w.admit(said("a", "1"), "stop"), await w.admit(said("a", "2"))]).toEqual([QUEUED, full("session")]);
  w.waiting.here = w.waiting.everywhere = 10_000;
  expect(await w.admit(said("a", "3"), "stop")).toEqual(full("session"));
});

describe("the repeat of a message that waits is let through to the store, which knows it,", () => {
  const work = (one: QueueEntry) => ({ entries: [one] }) as unknown as Work;

  test("a repeat of a waiting message reaches the store although everything is full, and not once the message has ended", async () => {
    const w = world({ maxPerSession: 0, maxTotal: 0 });
    const one = said("a", "1");
    w.admission.remember(work(one));
    expect(await w.admit(said("a", "1"))).toBe(QUEUED);
    w.admission.forget(work(one));
    expect(await w.admit(said("a", "1"))).toEqual(full("session"));
  });

  test.each([
    ["event", said("a", "2")],
    ["account", said("a", "1", { ...HERE, account: "second" })],
    ["channel", said("a", "1", { ...HERE, channel: "discord" })],
  ])("and a message of another %s is no repeat", async (_what, other) => {
    const w = world({ maxPerSession: 0, maxTotal: 0 });
    w.admission.remember(work(said("a", "1")));
    expect(await w.admit(other)).toEqual(full("session"));
  });
});
