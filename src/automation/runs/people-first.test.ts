/** Pauses of conversations on a clock that a test moves. */
import { expect, test } from "bun:test";
import type { InboxId, SessionKey, TurnId } from "../../contracts/ids.ts";
import { createEvents } from "../../observe/index.ts";
import { createFakeClock } from "../../testing/fake-clock.ts";
import { recordingLog } from "../../testing/recording-log.ts";
import { watchPeople } from "./people-first.ts";

const NEVER = new AbortController().signal;
const sessionKey = "agent:default:webchat:dm:1" as SessionKey;
const usage = { inputTokens: 0, outputTokens: 0, costUsd: 0 };

function world() {
  const clock = createFakeClock();
  const events = createEvents({ log: recordingLog() });
  const people = watchPeople({ clock, events }, (id) => id.startsWith("own"));
  const about = (name: string) => ({ sessionKey, turnId: `turn-${name}` as TurnId, inboxIds: [name as InboxId] });
  const begunAt: number[] = [];
  const from = clock.elapsed();
  return {
    clock,
    people,
    begunAt,
    speaks: (name: string) => events.emit("turn.started", { ...about(name), attempt: 1, waitedMs: 0 }),
    isAnswered: (name: string) => events.emit("turn.ended", { ...about(name), outcome: "done", ms: 1, usage }),
    begin: (signal = NEVER) => people.pause(signal).then(() => void begunAt.push(clock.elapsed() - from)),
  };
}

test("where nobody speaks, work begins at once", async () => {
  const { clock, begin, begunAt } = world();
  await Promise.all([begin(), begin(), begin()]);
  expect([begunAt, clock.pending()]).toEqual([[0, 0, 0], 0]);
});

test("work waits for the end of an answer, and a moment longer", async () => {
  const { clock, speaks, isAnswered, begin, begunAt } = world();
  speaks("ann");
  const begun = begin();
  await clock.advance(20);
  isAnswered("ann");
  await clock.advance(49);
  expect(begunAt).toEqual([]);
  await clock.advance(26);
  await begun;
  expect(begunAt).toEqual([75]);
});

test("a conversation without end does not keep work from beginning, one piece after the other", async () => {
  const { clock, speaks, begin, begunAt } = world();
  speaks("ann");
  const begun = [begin(), begin(), begin()];
  await clock.advance(700);
  await Promise.all(begun);
  expect(begunAt).toEqual([200, 400, 600]);
});

test("work that is under way itself is nobody who speaks", async () => {
  const { clock, speaks, isAnswered, begin, begunAt } = world();
  speaks("own-run");
  await begin();
  isAnswered("own-run");
  await begin();
  expect([begunAt, clock.pending()]).toEqual([[0, 0], 0]);
});

test("a stop ends the wait of all", async () => {
  const { clock, speaks, begin, begunAt } = world();
  const stop = new AbortController();
  speaks("ann");
  const begun = [begin(stop.signal), begin(stop.signal)];
  await clock.advance(30);
  stop.abort(new Error("stopping"));
  const ends = await Promise.allSettled(begun);
  expect([ends.map(({ status }) => status), begunAt]).toEqual([["rejected", "rejected"], []]);
});
