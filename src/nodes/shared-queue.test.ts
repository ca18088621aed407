/** Queues of two gateways that are one: each message is stored once, at the home of its session, whatever is lost on the way. */
import { expect, test } from "bun:test";
import { GatewayError } from "../contracts/errors.ts";
import type { InboxId, InstanceId, Principal, SessionKey } from "../contracts/ids.ts";
import type { OtherNodes } from "../contracts/nodes.ts";
import type { Accepted, Queue, QueueEntry } from "../contracts/queue.ts";
import { createFakeClock } from "../testing/fake-clock.ts";
import { entry } from "../testing/messages.ts";
import { createSeqIds } from "../testing/seq-ids.ts";
import { advanceUntil } from "../testing/wait-for.ts";
import type { SessionHomes } from "./session-homes.ts";
import { createSharedQueue, shouldMove } from "./shared-queue.ts";

const ME = "gateway_a" as InstanceId;
const HOME = "gateway_b" as InstanceId;
const BY = "operator" as Principal;
const END = { outcome: "aborted", reply: [] } as const;

function world() {
  const clock = createFakeClock();
  const calls: string[] = [];
  const state = { home: ME, stored: new Map<InboxId, InstanceId>(), waiting: 0, busy: false };
  const noted =
    <T>(name: string, value: T) =>
    (...args: readonly unknown[]): Promise<T> => {
      calls.push([name, ...args.filter((arg) => typeof arg === "string")].join(" "));
      return Promise.resolve(value);
    };
  const own = {
    accept: async (_entry: QueueEntry, id: InboxId): Promise<Accepted> => {
      calls.push(`accept ${id}`);
      state.stored.set(id, ME);
      return { kind: "queued", id, position: 7 };
    },
    cancel: noted("cancel", { kind: "unknown" }),
    rewrite: noted("rewrite", { kind: "unknown" }),
    abort: noted("abort", true),
    recover: noted("recover", { waiting: 0, interrupted: 0 }),
    stats: () => ({ waiting: state.waiting, running: 0 }),
    isBusy: () => state.busy,
  } as unknown as Queue;
  const homes = {
    here: async (_key: SessionKey, work: () => Promise<unknown>) =>
      state.home === ME ? { kind: "done", value: await work() } : { kind: "elsewhere", node: state.home },
    elsewhere: async () => (state.home === ME ? null : state.home),
    giveUp: async () => ((state.home = HOME), true),
  } as unknown as SessionHomes;
  const answers = new Map<string, (body: unknown) => Promise<unknown>>();
  let answer: (question: string, body: { id: InboxId }) => Promise<unknown> = async (_question, { id }) => ({
    kind: "queued",
    id,
    position: 3,
  });
  const nodes = {
    ask: async (node: InstanceId, question: string, body: { id: InboxId }) => {
      calls.push(`ask ${node} ${question}`);
      return answer(question, body);
    },
    answer: (question: string, handler: (body: unknown) => Promise<unknown>) => void answers.set(question, handler),
  } as unknown as OtherNodes;
  const inbox = { nodeOf: async (id: InboxId) => state.stored.get(id) ?? null };
  const queue = createSharedQueue(own, { clock, ids: createSeqIds(), nodes, homes, inbox, me: ME });
  const asked = (question: string, body: object) => answers.get(question)?.(body);
  return { clock, calls, state, queue, asked, answerWith: (next: typeof answer) => void (answer = next) };
}

const silent = () => Promise.reject(new GatewayError("node_silent", "it has died"));

test("a message for a session that lives here is stored here", async () => {
  const { queue, calls } = world();
  expect(await queue.accept(entry("a", "hello"))).toMatchObject({ kind: "queued", position: 7 });
  expect(calls).toHaveLength(1);
});

test("a message for a session that lives elsewhere is stored there, under the id it was given here", async () => {
  const { queue, calls, state, answerWith } = world();
  state.home = HOME;
  let given: InboxId | null = null;
  answerWith(async (_question, { id }) => ((given = id), { kind: "queued", id, position: 3 }));
  const accepted = await queue.accept(entry("a", "hello"));
  expect(calls).toEqual([`ask ${HOME} queue.accept`]);
  expect(accepted).toMatchObject({ kind: "queued", id: given, position: 3 });
});

test("a message whose home dies before it answers is stored by the next home, once", async () => {
  const { queue, calls, state, answerWith, clock } = world();
  state.home = HOME;
  answerWith(silent);
  let accepted: Accepted | null = null;
  void queue.accept(entry("a", "hello")).then((done) => (accepted = done));
  await clock.advance(1_000);
  state.home = ME; // by a takeover
  await advanceUntil({ clock, stepMs: 100 }, "the message to be accepted", () => accepted);
  expect(calls.filter((call) => call.startsWith("accept"))).toHaveLength(1);
});

test("a message whose home stored it and died before it could say so is not stored again", async () => {
  const { queue, calls, state, answerWith, clock } = world();
  state.home = HOME;
  answerWith((_question, { id }) => {
    state.stored.set(id, HOME);
    state.home = ME;
    return silent();
  });
  let accepted: Accepted | null = null;
  void queue.accept(entry("a", "hello")).then((done) => (accepted = done));
  expect(await advanceUntil({ clock, stepMs: 100 }, "the message to be accepted", () => accepted)).toMatchObject({
    kind: "queued",
  });
  expect(calls).toEqual([`ask ${HOME} queue.accept`]);
});

test("a message that no gateway takes is refused after a while, and what another gateway refuses is refused at once", async () => {
  const { queue, state, answerWith, clock } = world();
  state.home = HOME;
  answerWith(silent);
  const codes: string[] = [];
  const note = (error: GatewayError) => void codes.push(error.code);
  void queue.accept(entry("a", "hello")).then(undefined, note);
  await advanceUntil({ clock, stepMs: 500 }, "a refusal", () => codes.length === 1);
  expect(clock.elapsed()).toBeGreaterThan(15_000);
  expect(clock.elapsed()).toBeLessThan(30_000);
  answerWith(() => Promise.reject(new GatewayError("store_failed", "full")));
  await queue.accept(entry("a", "hello")).then(undefined, note);
  expect(codes).toEqual(["node_silent", "store_failed"]);
});

test("messages of a session are stored in the order in which they arrived, with ids that grow, also when the first one finds its home last", async () => {
  const { queue, calls, state, answerWith, clock } = world();
  state.home = HOME;
  answerWith(silent); // it has died
  const accepted: string[] = [];
  const say = (event: string) =>
    void queue.accept(entry("a", event)).then((done) => accepted.push(done.kind === "queued" ? done.id : done.kind));
  say("first");
  await clock.advance(100);
  state.home = ME; // by a takeover, while the first one is about to look again
  say("second");
  say("third");
  await advanceUntil({ clock, stepMs: 100 }, "the messages to be accepted", () => accepted.length === 3);
  const stored = calls.filter((call) => call.startsWith("accept"));
  expect(stored).toEqual(accepted.map((id) => `accept ${id}`));
  expect(accepted).toEqual(accepted.toSorted());
});

test("a message is not held up by one of another session whose home does not answer", async () => {
  const { queue, calls, state, answerWith, clock } = world();
  state.home = HOME;
  answerWith(silent);
  void queue.accept(entry("a", "hello")).catch(() => undefined);
  await clock.advance(100);
  state.home = ME;
  await queue.accept(entry("b", "hello"));
  expect(calls.filter((call) => call.startsWith("accept"))).toHaveLength(1);
});

test("a message whose turn does not come in time is refused, and what arrived later still does not pass those before it", async () => {
  const { queue, calls, state, answerWith, clock } = world();
  state.home = HOME;
  const first = Promise.withResolvers<unknown>();
  answerWith(() => first.promise);
  const codes: string[] = [];
  const say = (event: string) =>
    void queue.accept(entry("a", event)).catch((error: GatewayError) => codes.push(`${event} ${error.code}`));
  say("first");
  say("second");
  await clock.advance(10_000);
  say("third");
  await clock.advance(11_000);
  expect([codes, calls.length]).toEqual([["second node_silent"], 1]);
  first.resolve({ kind: "queued" });
  await clock.advance(0);
  expect(calls).toHaveLength(2);
});

test("a waiting message is withdrawn and changed where it waits, and a turn is stopped where it runs", async () => {
  const { queue, calls, state } = world();
  const here = "msg_here" as InboxId;
  const there = "msg_there" as InboxId;
  state.stored.set(here, ME).set(there, HOME);
  for (const id of [here, there]) {
    await queue.cancel(id, BY, END);
    await queue.rewrite(id, BY, "other words");
  }
  await queue.abort(entry("a", "").sessionKey);
  state.home = HOME;
  await queue.abort(entry("a", "").sessionKey);
  expect(calls.map((call) => call.split(" ").slice(0, 3).join(" "))).toEqual([
    `cancel ${here} ${BY}`,
    `rewrite ${here} ${BY}`,
    `ask ${HOME} queue.cancel`,
    `ask ${HOME} queue.rewrite`,
    `abort ${entry("a", "").sessionKey}`,
    `ask ${HOME} queue.abort`,
  ]);
});

test("a gateway that is asked for a session it has given back says so, and stores nothing", async () => {
  const { queue, asked, state, calls } = world();
  await queue.recover();
  calls.length = 0;
  const body = { id: "msg_1", entry: entry("a", "hello"), waiting: 0 };
  expect(await asked("queue.accept", body)).toMatchObject({ kind: "queued", id: "msg_1" });
  state.home = HOME;
  const refused = await asked("queue.accept", body)?.catch((error: GatewayError) => error.code);
  expect([refused, calls]).toEqual(["node_silent", ["accept msg_1"]]);
});

test.each([
  ["much waits here and nothing there", { here: 4, there: 0 }, false, true],
  ["a little more waits here than there", { here: 3, there: 0 }, false, false],
  ["as much waits there as here", { here: 9, there: 9 }, false, false],
  ["something goes on in it here", { here: 90, there: 0 }, true, false],
])("a session moves or stays when %s", (_when, waiting, isBusy, moves) => {
  expect(shouldMove(waiting, isBusy)).toBe(moves);
});

test("a home with much to do gives a quiet session to the gateway that has a message for it", async () => {
  const { queue, asked, state, calls } = world();
  await queue.recover();
  calls.length = 0;
  state.waiting = 10;
  const body = { id: "msg_1", entry: entry("a", "hello"), waiting: 0 };
  expect(await asked("queue.accept", body)?.catch((error: GatewayError) => error.code)).toBe("node_silent");
  expect([state.home, calls]).toEqual([HOME, []]);
  state.home = ME;
  state.busy = true;
  expect(await asked("queue.accept", body)).toMatchObject({ kind: "queued" });
});

test("a gateway that starts takes messages of others only after it has read what was left, so that those are answered first", async () => {
  const { queue, asked } = world();
  const body = { id: "msg_1", entry: entry("a", "hello"), waiting: 0 };
  expect(asked("queue.accept", body)).toBeUndefined();
  await queue.recover();
  expect(await asked("queue.accept", body)).toMatchObject({ kind: "queued" });
});
