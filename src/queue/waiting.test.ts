/** What may become of a message while it waits: steered into the running turn, withdrawn, or told that it waited too long. */
import { describe, expect, test } from "bun:test";
import type { InboxId, Principal } from "../contracts/ids.ts";
import type { UnbegunReply } from "../contracts/queue.ts";
import { entry } from "../testing/messages.ts";
import { DONE, idOf, keyOf, never, nextCommand, queueWorld, words } from "../testing/worlds/queue-world.ts";

const HOUR_MS = 3_600_000;
const BACK: UnbegunReply = {
  outcome: "aborted",
  reply: [{ part: 0, message: { kind: "notice", text: "withdrawn" } }],
};
const A = "A" as Principal;
const soon = (): AbortSignal => {
  const stop = new AbortController();
  setImmediate(() => stop.abort(new Error("nothing came")));
  return stop.signal;
};

describe("a running turn", () => {
  test("a running turn takes joined messages out of the lane, which has room again, and keeps them through a restart", async () => {
    await using fx = await queueWorld({ mode: "steer", maxPerSession: 2 });
    await fx.say("a", "one");
    const batch = await fx.take();
    for (const text of ["two", "three"]) await fx.say("a", text);
    expect([fx.queue.stats().waiting, (await fx.say("a", "too many")).kind]).toEqual([2, "full"]);
    await batch.join(await batch.offered(never));
    expect([fx.queue.stats().waiting, (await fx.say("a", "four")).kind]).toEqual([0, "queued"]);
    await fx.restart();
    expect(words(await fx.take())).toEqual(["one", "two", "three"]);
  });

  test("a message that joined a turn is forgotten with the turn: a repeat of it meets the limit of its session like a new one", async () => {
    await using fx = await queueWorld({ mode: "steer", maxPerSession: 1 });
    await fx.say("a", "one");
    const batch = await fx.take();
    const message = { ...entry("a", "two").message, sender: { principal: A, name: "A" } };
    await fx.say("a", "two", { message });
    await batch.join(await batch.offered(never));
    await fx.say("a", "fills the session");
    expect((await fx.say("a", "two", { message })).kind).toBe("duplicate");
    await batch.finish(DONE);
    expect((await fx.say("a", "two", { message })).kind).toBe("full");
  });

  test("a turn that could not be begun leaves the messages it collected waiting, in their order", async () => {
    await using fx = await queueWorld({ mode: "collect" });
    for (const text of ["one", "two", "three"]) await fx.say("a", text);
    fx.diskIsFull = true;
    const taken = fx.take();
    await fx.clock.advance(100);
    expect(fx.queue.stats().waiting).toBe(3);
    fx.diskIsFull = false;
    await fx.clock.advance(10_000);
    expect([words(await taken), fx.queue.stats().waiting]).toEqual([["one", "two", "three"], 0]);
  });

  test("a running turn is offered messages of the same person in the same chat, in order, and no others", async () => {
    await using fx = await queueWorld({ mode: "steer" });
    await fx.say("a", "one");
    const batch = await fx.take();
    await fx.say("a", "two");
    await fx.say("b", "elsewhere");
    expect((await batch.offered(never)).map(({ message }) => message.text)).toEqual(["two"]);
    await fx.say("a", "by another", { by: "B" });
    await fx.say("a", "three");
    expect(await batch.offered(soon())).toEqual([]);
  });

  test.each([
    ["another role", { role: "guest" as const }],
    ["another agent", { agentId: "other" as never }],
  ])("is not offered what comes with %s", async (_what, more) => {
    await using fx = await queueWorld({ mode: "steer" });
    await fx.say("a", "one");
    const batch = await fx.take();
    await fx.say("a", "two", more);
    expect(await batch.offered(soon())).toEqual([]);
  });

  test("a running turn is not offered commands, and a running command is offered nothing", async () => {
    await using fx = await queueWorld({ mode: "steer" });
    await fx.say("a", "one");
    const batch = await fx.take();
    await fx.say("a", "/status");
    await fx.say("a", "two");
    expect(await batch.offered(soon())).toEqual([]);
    await batch.finish(DONE);
    const command = await nextCommand(fx.queue);
    expect([words(command), await command.offered(soon())]).toEqual([["/status"], []]);
  });

  test("a running turn that has declined or was stopped is offered nothing more", async () => {
    await using fx = await queueWorld({ mode: "steer" });
    await fx.say("a", "one");
    const batch = await fx.take();
    await fx.say("a", "two");
    await batch.offered(never);
    batch.decline();
    await fx.say("a", "three");
    expect(await batch.offered(soon())).toEqual([]);
    await batch.finish(DONE);
    const next = await fx.take();
    expect(words(next)).toEqual(["two", "three"]);
    await fx.say("a", "/stop");
    await fx.say("a", "four");
    expect(await next.offered(soon())).toEqual([]);
  });

  test("a running turn is offered the messages that waited before, when its session chooses to steer", async () => {
    await using fx = await queueWorld({ mode: "collect" });
    await fx.say("a", "one");
    const batch = await fx.take();
    await fx.say("a", "two");
    const offered = batch.offered(never);
    await fx.queue.choose(keyOf("a"), "steer");
    expect((await offered).map(({ message }) => message.text)).toEqual(["two"]);
  });
});

describe("the mode of a session", () => {
  test("the mode of a session comes before those of its channel and of the gateway, and is kept through a restart and while nothing waits", async () => {
    await using fx = await queueWorld({ mode: "followup", channels: { webchat: "interrupt" } });
    await fx.say("a", "one");
    expect(fx.queue.session(keyOf("a"), "webchat")).toEqual({ waiting: 1, mode: "interrupt", chosen: false });
    await fx.queue.choose(keyOf("a"), "collect");
    expect(fx.queue.session(keyOf("a"), "webchat")).toEqual({ waiting: 1, mode: "collect", chosen: true });
    await fx.answer();
    await fx.restart();
    await fx.say("a", "two");
    const batch = await fx.take();
    for (const text of ["three", "four"]) await fx.say("a", text);
    await batch.finish(DONE);
    expect(await fx.answer()).toEqual(["three", "four"]);
    await fx.say("b", "other");
    expect(fx.queue.session(keyOf("b"), "webchat")).toMatchObject({ mode: "interrupt", chosen: false });
    await fx.say("a", "five");
    await fx.queue.choose(keyOf("a"), null);
    expect(fx.queue.session(keyOf("a"), "webchat")).toMatchObject({ mode: "interrupt", chosen: false });
  });
});

describe("a message that is withdrawn", () => {
  test("a withdrawn message is not answered, ends visibly, and leaves the others in their order", async () => {
    await using fx = await queueWorld();
    await fx.say("a", "one");
    const two = idOf(await fx.say("a", "two"));
    await fx.say("a", "three");
    expect(await fx.queue.cancel(two, A, BACK)).toMatchObject({ kind: "cancelled", sessionKey: keyOf("a") });
    expect([await fx.answer(), await fx.answer()]).toEqual([["one"], ["three"]]);
    expect(await fx.store.turns.resultOf(two)).toMatchObject({ outcome: "aborted", content: "withdrawn" });
    await fx.restart();
    expect(fx.queue.stats()).toEqual({ waiting: 0, running: 0 });
    expect(await fx.queue.cancel(two, A, BACK)).toEqual({ kind: "not_waiting" });
  });

  test("a withdrawn message is forgotten: a repeat of it meets the limit of its session like a new one", async () => {
    await using fx = await queueWorld({ maxPerSession: 1 });
    const message = { ...entry("a", "one").message, sender: { principal: A, name: "A" } };
    const one = idOf(await fx.say("a", "one", { message }));
    await fx.queue.cancel(one, A, BACK);
    await fx.say("a", "fills the session");
    expect((await fx.say("a", "one", { message })).kind).toBe("full");
  });

  test("a withdrawn message may be the only one of its lane, and may have come while a turn runs", async () => {
    await using fx = await queueWorld();
    const one = idOf(await fx.say("a", "one"));
    expect((await fx.queue.cancel(one, A, BACK)).kind).toBe("cancelled");
    await fx.say("b", "two");
    const batch = await fx.take();
    const three = idOf(await fx.say("b", "three"));
    expect([words(batch), (await fx.queue.cancel(three, A, BACK)).kind]).toEqual([["two"], "cancelled"]);
    await batch.finish(DONE);
    expect(fx.queue.stats()).toEqual({ waiting: 0, running: 0 });
  });

  test("a message can be withdrawn by its sender alone, and only before its turn has begun", async () => {
    await using fx = await queueWorld({ mode: "steer" });
    const one = idOf(await fx.say("a", "one"));
    expect(await fx.queue.cancel(one, "B" as Principal, BACK)).toEqual({ kind: "unknown" });
    expect(await fx.queue.cancel("nothing" as InboxId, A, BACK)).toEqual({ kind: "unknown" });
    const batch = await fx.take();
    expect(await fx.queue.cancel(one, A, BACK)).toEqual({ kind: "not_waiting" });
    const two = idOf(await fx.say("a", "two"));
    await batch.offered(never); // an agent is being told
    expect(await fx.queue.cancel(two, A, BACK)).toEqual({ kind: "not_waiting" });
  });

  test("a message keeps waiting in its position when the store cannot write its withdrawal", async () => {
    await using fx = await queueWorld();
    const one = idOf(await fx.say("a", "one"));
    await fx.say("a", "two");
    const { endUnbegun } = fx.store.turns;
    (fx.store.turns as { endUnbegun: unknown }).endUnbegun = () => Promise.reject(new Error("disk full"));
    await expect(fx.queue.cancel(one, A, BACK)).rejects.toThrow("disk full");
    (fx.store.turns as { endUnbegun: unknown }).endUnbegun = endUnbegun;
    expect([await fx.answer(), await fx.answer()]).toEqual([["one"], ["two"]]);
  });
});

describe("a message that is changed while it waits", () => {
  test("an edited message is answered with its new text, in its old position, also after a restart", async () => {
    await using fx = await queueWorld();
    await fx.say("a", "one");
    const two = idOf(await fx.say("a", "two"));
    await fx.say("a", "three");
    expect(await fx.queue.rewrite(two, A, "deux")).toMatchObject({ kind: "rewritten", message: { text: "deux" } });
    expect(await fx.queue.rewrite(idOf(await fx.say("b", "uno")), A, "eins")).toMatchObject({ kind: "rewritten" });
    expect([await fx.answer(), await fx.answer()]).toEqual([["one"], ["eins"]]);
    await fx.restart();
    expect([await fx.answer(), await fx.answer()]).toEqual([["deux"], ["three"]]);
    const { items } = await fx.store.sessions.transcript(keyOf("a"), { limit: 10 });
    const said = items.filter(({ role }) => role === "user");
    expect(said.map(({ text, editedAt }) => [text, editedAt !== undefined])).toEqual([
      ["one", false],
      ["deux", true],
      ["three", false],
    ]);
  });

  test("a message is not edited by others, after its turn has begun, or when the old or the new text is a command", async () => {
    await using fx = await queueWorld();
    const one = idOf(await fx.say("a", "one"));
    const two = idOf(await fx.say("a", "/status"));
    expect(await fx.queue.rewrite(one, "B" as Principal, "x")).toEqual({ kind: "unknown" });
    expect(await fx.queue.rewrite(one, A, "/stop")).toEqual({ kind: "command" });
    expect(await fx.queue.rewrite(two, A, "words")).toEqual({ kind: "command" });
    const batch = await fx.take();
    expect([words(batch), await fx.queue.rewrite(one, A, "x")]).toEqual([["one"], { kind: "not_waiting" }]);
    await batch.finish(DONE);
    expect(await fx.queue.rewrite(one, A, "x")).toEqual({ kind: "not_waiting" });
  });

  test("a message keeps its old text and its position when the store cannot write the edit", async () => {
    await using fx = await queueWorld();
    const one = idOf(await fx.say("a", "one"));
    await fx.say("a", "two");
    const { rewrite } = fx.store.inbox;
    (fx.store.inbox as { rewrite: unknown }).rewrite = () => Promise.reject(new Error("disk full"));
    await expect(fx.queue.rewrite(one, A, "x")).rejects.toThrow("disk full");
    (fx.store.inbox as { rewrite: unknown }).rewrite = rewrite;
    expect([await fx.answer(), await fx.answer()]).toEqual([["one"], ["two"]]);
  });
});

describe("a message that waited too long", () => {
  test("an expired message needs no agent: it ends with its notice while all agents are busy", async () => {
    await using fx = await queueWorld({ ttlMs: HOUR_MS });
    const one = idOf(await fx.say("a", "one"));
    const expired = nextCommand(fx.queue);
    await fx.clock.advance(HOUR_MS - 1);
    const two = idOf(await fx.say("a", "two"));
    await fx.clock.advance(1);
    const batch = await expired;
    expect([words(batch), batch.expired, batch.attempt]).toEqual([["one"], true, 1]);
    await batch.finish({ ...DONE, outcome: "failed", error: { code: "message_expired", detail: "" } });
    expect(await fx.store.turns.resultOf(one)).toMatchObject({ outcome: "failed", errorCode: "message_expired" });
    expect([await fx.answer(), (await fx.store.turns.resultOf(two))?.outcome]).toEqual([["two"], "done"]);
  });

  test("expired messages are found by a start after a long stop, ended together, and never begun", async () => {
    await using fx = await queueWorld({ ttlMs: HOUR_MS, mode: "followup" });
    for (const text of ["one", "two", "/status"]) await fx.say("a", text);
    await fx.restart(2 * HOUR_MS);
    await fx.say("a", "three");
    const batch = await nextCommand(fx.queue);
    expect([words(batch), batch.expired]).toEqual([["one", "two"], true]);
    await fx.restart(); // in the middle of it
    const again = await nextCommand(fx.queue);
    expect([words(again), again.expired]).toEqual([["one", "two"], true]);
    await again.finish(DONE);
    const command = await nextCommand(fx.queue);
    expect([words(command), command.expired]).toEqual([["/status"], true]);
    await command.finish(DONE);
    expect(await fx.answer()).toEqual(["three"]);
  });

  test("a message whose turn had begun does not expire", async () => {
    await using fx = await queueWorld({ ttlMs: HOUR_MS });
    await fx.say("a", "one");
    await fx.take();
    await fx.restart(2 * HOUR_MS);
    const again = await fx.take();
    expect([words(again), again.expired, again.attempt]).toEqual([["one"], false, 2]);
  });

  test("expiry has a timer only while a message waits in line", async () => {
    await using fx = await queueWorld({ ttlMs: HOUR_MS });
    const stop = new AbortController();
    const waiting = fx.queue.takeCommand(stop.signal);
    await fx.say("a", "one");
    await new Promise(setImmediate);
    expect(fx.clock.pending()).toBe(1);
    await fx.answer();
    await new Promise(setImmediate);
    expect(fx.clock.pending()).toBe(0);
    stop.abort(new Error("over"));
    await expect(waiting).rejects.toThrow("over");
  });
});

describe("somebody who wants to stop something", () => {
  test("a stop is accepted although the session and the gateway are full, up to a limit", async () => {
    await using fx = await queueWorld({ maxPerSession: 2, maxTotal: 2 });
    await fx.say("a", "one");
    const batch = await fx.take();
    for (const text of ["two", "three"]) await fx.say("a", text);
    expect(await fx.say("a", "four")).toMatchObject({ kind: "full", because: "session" });
    expect(await fx.say("a", "/status")).toMatchObject({ kind: "full" });
    const stops = [];
    for (let n = 0; n < 7; n++) stops.push((await fx.say("a", "/stop")).kind);
    expect(stops).toEqual([...Array.from({ length: 5 }, () => "queued"), "full", "full"]);
    expect(batch.cancelled.reason).toBe("stopped");
  });
});

describe("messages that were joined for a turn that could not be begun", () => {
  const RETRY_MS = 500;

  async function oneWaits() {
    const fx = await queueWorld({ mode: "collect", ttlMs: HOUR_MS });
    await fx.say("a", "old");
    return fx;
  }

  test("joined messages whose turn could not be begun expire one by one, each at its own time", async () => {
    await using fx = await oneWaits();
    await fx.clock.advance(HOUR_MS / 2);
    await fx.say("a", "young");
    fx.diskIsFull = true;
    const taken = fx.take();
    await fx.clock.advance(HOUR_MS / 2 - RETRY_MS);
    const expired = nextCommand(fx.queue);
    await fx.clock.advance(RETRY_MS);
    const first = await expired;
    expect([words(first), first.expired]).toEqual([["old"], true]);
    await first.finish({ ...DONE, outcome: "failed" });
    fx.diskIsFull = false;
    await fx.clock.advance(RETRY_MS);
    const next = await taken;
    expect([words(next), next.expired]).toEqual([["young"], false]);
  });

  test("joined messages whose turn could not be begun are one turn when it can be begun in time", async () => {
    await using fx = await oneWaits();
    await fx.say("a", "young");
    fx.diskIsFull = true;
    const taken = fx.take();
    await fx.clock.advance(RETRY_MS);
    fx.diskIsFull = false;
    await fx.clock.advance(RETRY_MS);
    expect(words(await taken)).toEqual(["old", "young"]);
  });

  test("joined messages stay one turn after it was begun, also when a retry cannot begin at once", async () => {
    await using fx = await oneWaits();
    await fx.say("a", "young");
    const first = await fx.take();
    await first.retry("the process died");
    fx.diskIsFull = true;
    const taken = fx.take();
    await fx.clock.advance(RETRY_MS);
    fx.diskIsFull = false;
    await fx.clock.advance(RETRY_MS);
    const again = await taken;
    expect([words(again), again.turnId, again.attempt]).toEqual([["old", "young"], first.turnId, 2]);
  });

  test("joined messages whose turn could not be begun can be withdrawn one by one", async () => {
    await using fx = await oneWaits();
    const young = await fx.say("a", "young");
    fx.diskIsFull = true;
    const taken = fx.take();
    await fx.clock.advance(RETRY_MS / 2);
    expect((await fx.queue.cancel(idOf(young), A, BACK)).kind).toBe("cancelled");
    fx.diskIsFull = false;
    await fx.clock.advance(RETRY_MS);
    expect(words(await taken)).toEqual(["old"]);
  });

  test("joined messages that were stopped are not joined by messages from after the stop", async () => {
    await using fx = await oneWaits();
    fx.diskIsFull = true;
    let stopped = false;
    const taken = fx.take();
    while (!stopped) {
      stopped = await fx.queue.abort(keyOf("a"));
      await fx.clock.advance(RETRY_MS / 10);
    }
    await fx.say("a", "after the stop");
    fx.diskIsFull = false;
    await fx.clock.advance(RETRY_MS);
    const first = await taken;
    expect([words(first), first.cancelled.aborted]).toEqual([["old"], true]);
    await first.finish({ ...DONE, outcome: "aborted" });
    const next = await fx.take();
    expect([words(next), next.cancelled.aborted]).toEqual([["after the stop"], false]);
  });
});

test("a message that a full disk kept waiting is taken as expired at its time, without an agent", async () => {
  await using fx = await queueWorld({ ttlMs: 1_770 });
  fx.diskIsFull = true;
  const talking = new AbortController();
  const talk = fx.queue.take(talking.signal).catch(() => null);
  const expired = nextCommand(fx.queue);
  await fx.say("a", "one");
  await fx.clock.advance(5_000);
  const batch = await expired;
  expect([words(batch), batch.expired]).toEqual([["one"], true]);
  talking.abort(new Error("over"));
  expect(await talk).toBeNull();
});
