/** Lanes of one account send so many at once, the others in their order; what has ended is forgotten. */
import { expect, test } from "bun:test";
import type { Principal, SessionKey } from "../contracts/ids.ts";
import { type Deferred, deferred } from "../kit/deferred.ts";
import { createFakeClock } from "../testing/fake-clock.ts";
import { keptPerRound } from "../testing/memory-growth.ts";
import { createGates } from "./gates.ts";
import { createOwnerNotices } from "./owner-notices.ts";
import { createRecentTrouble, MAX_RECENT, RECENT_MS } from "./recent-trouble.ts";

const NEVER = new AbortController().signal;
const turn = () => new Promise((resolve) => setImmediate(resolve));

function gated(maxRunning: number, signal = NEVER) {
  const begun: string[] = [];
  const ends = new Map<string, Deferred<void>>();
  const run = ({ name }: { readonly name: string }): Promise<void> => {
    begun.push(name);
    const end = deferred<void>();
    ends.set(name, end);
    return end.promise;
  };
  const gates = createGates<{ readonly name: string; readonly gate: string }>(maxRunning, run, signal);
  const lane = (name: string, gate = "a") => ({ name, gate });
  return { gates, begun, ends, lane };
}

test("a gate lets so many of one account run, each account by itself, and the next in line when one has ended", async () => {
  const { gates, begun, ends, lane } = gated(2);
  for (const name of ["1", "2", "3", "4"]) gates.enter(lane(name));
  gates.enter(lane("other", "b"));
  expect(begun).toEqual(["1", "2", "other"]);
  ends.get("other")?.resolve();
  await turn();
  expect(begun).toEqual(["1", "2", "other"]);
  ends.get("2")?.resolve();
  await turn();
  expect(begun).toEqual(["1", "2", "other", "3"]);
});

test("a lane that is queued runs behind those in line, when another has ended", async () => {
  const { gates, begun, ends, lane } = gated(1);
  gates.enter(lane("1"));
  gates.enter(lane("2"));
  gates.queue(lane("3"));
  ends.get("1")?.resolve();
  await turn();
  ends.get("2")?.resolve();
  await turn();
  expect(begun).toEqual(["1", "2", "3"]);
});

test("a gate that is stopped begins nothing, and is settled when what runs has ended", async () => {
  const stopping = new AbortController();
  const { gates, begun, ends, lane } = gated(1, stopping.signal);
  gates.enter(lane("1"));
  gates.enter(lane("2"));
  stopping.abort();
  let settled = false;
  const settling = gates.settled().then(() => (settled = true));
  await turn();
  expect(settled).toBe(false);
  ends.get("1")?.resolve();
  await settling;
  gates.enter(lane("3"));
  expect(begun).toEqual(["1"]);
});

test("nothing is kept of lanes that have run, nor of trouble beyond what is counted", async () => {
  const gates = createGates<{ readonly gate: string }>(1, () => Promise.resolve(), NEVER);
  const trouble = createRecentTrouble(createFakeClock());
  const kept = await keptPerRound(async () => {
    gates.enter({ gate: "a" });
    await gates.settled();
    trouble.add("dead", ...Array.from({ length: 20 }, () => Number.MAX_SAFE_INTEGER / 2));
  });
  expect([kept, trouble.counts().dead]).toEqual([{}, MAX_RECENT]);
});

test("trouble is counted by its kind for a day, and not a moment longer", async () => {
  const clock = createFakeClock();
  const trouble = createRecentTrouble(clock);
  trouble.add("dead", clock.now());
  trouble.add("ambiguous", clock.now(), clock.now());
  expect(trouble.counts()).toEqual({ dead: 1, ambiguous: 2 });
  await clock.advance(RECENT_MS - 1);
  expect(trouble.counts()).toEqual({ dead: 1, ambiguous: 2 });
  await clock.advance(1);
  expect(trouble.counts()).toEqual({ dead: 0, ambiguous: 0 });
});

test("an owner is told in the chat where they were last, in the gateway's name, and the outbox is woken after it is stored", async () => {
  const clock = createFakeClock();
  const order: unknown[] = [];
  const place = { sessionKey: "s" as SessionKey, agentId: "a", to: { channel: "x", account: "default", chat: "1" } };
  const notices = createOwnerNotices({
    clock,
    principal: "gateway:self" as Principal,
    sessionChatStore: { say: async (said) => (order.push(said), undefined as never) },
    sessionChats: { ofOwner: async () => place as never },
    wakeOutbox: () => void order.push("woken"),
  });
  await notices.tell("notice-1", "look");
  const reply = [{ part: 0, message: { kind: "notice", text: "look" } }];
  expect(order).toEqual([{ turnId: "notice-1", ...place, principal: "gateway:self", reply, at: clock.now() }, "woken"]);
});
