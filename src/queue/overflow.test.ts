/** Messages of channels that cannot refuse, when there is no room: kept, shown shortened in a turn of their session, and finished with it. */
import { describe, expect, test } from "bun:test";
import type { BatchEntry } from "../contracts/queue.ts";
import { DONE, keyOf, nextCommand, queueWorld, type QueueWorld, words } from "../testing/worlds/queue-world.ts";
import { OVERFLOW_CHARS } from "./work.ts";

const keep = { whenFull: "keep" } as const;
const open = async ({ store }: QueueWorld): Promise<string[]> =>
  (await store.inbox.unfinished()).map(({ message }) => message.text);
const overflowOf = ({ entries }: { readonly entries: readonly BatchEntry[] }): string[] =>
  entries.filter((entry) => entry.overflow).map(({ message }) => message.text);

/** A running turn, and as many waiting as there is room for. */
async function full(changes: Parameters<typeof queueWorld>[0] = {}) {
  const fx = await queueWorld({ maxPerSession: 2, mode: "collect", ...changes });
  await fx.say("a", "first");
  const running = await fx.take();
  for (const text of ["one", "two"]) await fx.say("a", text);
  return Object.assign(fx, { running });
}

describe("a full session", () => {
  test("refuses who can be refused, and keeps what others say for its next turn", async () => {
    await using fx = await full();
    expect(await fx.say("a", "no")).toMatchObject({ kind: "full" });
    expect(await fx.say("a", "three", keep)).toMatchObject({ kind: "queued", position: 3 });
    await fx.say("a", "four", keep);
    expect(fx.queue.session(keyOf("a"), "webchat").waiting).toBe(4);
    await fx.running.finish(DONE);
    const next = await fx.take();
    expect([words(next), overflowOf(next), next.hidden]).toEqual([
      ["one", "two", "three", "four"],
      ["three", "four"],
      0,
    ]);
    await next.finish(DONE);
    expect([await open(fx), fx.queue.stats()]).toEqual([[], { waiting: 0, running: 0 }]);
  });

  test("keeps the order: what came after overflow is answered after it, in every mode", async () => {
    await using fx = await full({ mode: "followup" });
    await fx.say("a", "three", keep);
    await fx.running.finish(DONE);
    expect(await fx.answer()).toEqual(["one"]);
    await fx.say("a", "four");
    expect([await fx.answer(), await fx.answer()]).toEqual([["two", "three"], ["four"]]);
  });

  test("shows the newest of a chat and counts the others, over a restart too, and all of them are finished", async () => {
    await using fx = await full({ maxOverflow: 2 });
    for (let n = 1; n <= 5; n++) await fx.say("a", `more ${n}`, keep);
    const facts = (batch: { readonly entries: readonly BatchEntry[]; readonly hidden: number }) => [
      overflowOf(batch),
      batch.hidden,
    ];
    await fx.restart();
    const again = await fx.take(); // the interrupted one first
    await again.finish(DONE);
    const next = await fx.take();
    expect(facts(next)).toEqual([["more 4", "more 5"], 3]);
    await fx.restart();
    const retried = await fx.take();
    expect([facts(retried), retried.attempt]).toEqual([[["more 4", "more 5"], 3], 2]);
    await retried.finish(DONE);
    expect([await open(fx), fx.queue.stats()]).toEqual([[], { waiting: 0, running: 0 }]);
    const { items } = await fx.store.sessions.transcript(keyOf("a"), { limit: 50 });
    expect(items.filter(({ role }) => role === "user").length).toBe(8); // nothing has disappeared
  });

  test("keeps a beginning of each, and neither its pictures nor its commands", async () => {
    await using fx = await full();
    await fx.say("a", "x".repeat(OVERFLOW_CHARS + 50), keep);
    await fx.say("a", "/status", keep);
    await fx.running.finish(DONE);
    const [long, command] = (await fx.take()).entries.filter((entry) => entry.overflow);
    expect([long?.message.text.length, long?.overflow]).toEqual([
      OVERFLOW_CHARS,
      { cutChars: 50, attachments: 0, isCommand: false },
    ]);
    expect([command?.message.text, command?.overflow?.isCommand]).toEqual(["", true]);
  });

  test("never lets words act with more rights than their speaker has: a guest's overflow does not go along with an owner's turn", async () => {
    await using fx = await full();
    await fx.say("a", "by a guest", { ...keep, role: "guest", by: "G" });
    await fx.say("a", "by the owner", keep);
    await fx.running.finish(DONE);
    const owner = await fx.take();
    expect([words(owner), owner.role]).toEqual([["one", "two"], "owner"]);
    await owner.finish(DONE);
    const others = await fx.take();
    expect([words(others), others.role]).toEqual([["by a guest", "by the owner"], "guest"]);
  });

  test("gives a turn that is begun again no more rights than it had: those of the least who speak in it", async () => {
    await using fx = await queueWorld({ maxTotal: 0 });
    await fx.say("a", "by the owner", keep);
    await fx.say("a", "by a guest", { ...keep, role: "guest", by: "G" });
    const first = await fx.take();
    await fx.restart();
    const again = await fx.take();
    expect([words(again), again.attempt]).toEqual([words(first), 2]);
    expect([first.role, again.role]).toEqual(["guest", "guest"]);
  });

  test("stops and interrupts for overflow too", async () => {
    await using fx = await full({ mode: "interrupt" });
    expect(fx.running.cancelled.reason).toBe("interrupted");
    await fx.running.finish(DONE);
    const next = await fx.take();
    await fx.say("a", "three");
    await fx.say("a", "four", keep);
    expect([words(next), next.cancelled.reason]).toEqual([["one"], "interrupted"]);
  });
});

describe("a full gateway", () => {
  test("keeps what a quiet session says on a channel that cannot refuse, and answers it in a turn of its own", async () => {
    await using fx = await queueWorld({ maxTotal: 1 });
    await fx.say("a", "one");
    expect(await fx.say("b", "no")).toMatchObject({ kind: "full", because: "gateway" });
    expect(await fx.say("b", "two", keep)).toMatchObject({ kind: "queued", position: 0 });
    expect([await fx.answer(), await fx.answer()]).toEqual([["one"], ["two"]]);
    expect(await open(fx)).toEqual([]);
  });
});

test("overflow that had waited too long and gets company is answered after all, by those who have an agent", async () => {
  await using fx = await queueWorld({ maxTotal: 1, ttlMs: 60_000 });
  await fx.say("a", "one");
  await fx.say("b", "two", keep);
  await fx.clock.advance(60_000);
  const expired = await nextCommand(fx.queue); // both are in line now for those who need no agent
  expect(words(expired)).toEqual(["one"]);
  await fx.say("c", "busy");
  await fx.say("b", "three", keep);
  expect([await fx.answer(), await fx.answer()]).toEqual([["busy"], ["two", "three"]]);
});

test("overflow that waited too long is told so as one, counted ones included", async () => {
  await using fx = await full({ maxOverflow: 1, ttlMs: 60_000 });
  for (const text of ["three", "four"]) await fx.say("a", text, keep);
  await fx.clock.advance(60_000);
  await fx.running.finish(DONE);
  const expired = await nextCommand(fx.queue);
  expect([words(expired), expired.hidden, expired.expired]).toEqual([["one", "two", "four"], 1, true]);
  await expired.finish({ ...DONE, outcome: "failed" });
  expect(await open(fx)).toEqual([]);
  await fx.restart();
  expect(fx.queue.stats()).toEqual({ waiting: 0, running: 0 });
});
