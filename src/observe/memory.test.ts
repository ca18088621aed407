/** When memory is given back: after many turns, and not too often; when idle, and not while somebody waits. */
import { expect, test } from "bun:test";
import type { SessionKey, TurnId } from "../contracts/ids.ts";
import { createFakeClock } from "../testing/fake-clock.ts";
import { recordingLog } from "../testing/recording-log.ts";
import { createEvents } from "./events.ts";
import { keepMemoryFlat } from "./memory.ts";

test("memory is given back every few hundred turns, not twice within ten seconds, and not after the end", async () => {
  const clock = createFakeClock();
  const events = createEvents({ log: recordingLog() });
  let [collected, shrunk] = [0, 0];
  const keeping = keepMemoryFlat({ clock, events }, { collect: () => collected++, forgetStart: () => shrunk++ });
  const usage = { inputTokens: 0, outputTokens: 0, costUsd: 0 };
  await clock.advance(2_000);
  expect([collected, shrunk]).toEqual([0, 1]); // what the start has used
  const turns = (count: number): number => {
    const about = { sessionKey: "s" as SessionKey, turnId: "t" as TurnId, inboxIds: [], outcome: "done", ms: 1, usage };
    for (let turn = 0; turn < count; turn++) {
      events.emit("turn.ended", about as never);
      events.emit("turn.recorded", about as never);
    }
    return collected;
  };
  const busyFor = async (ms: number): Promise<void> => {
    for (let passed = 0; passed < ms; passed += 1_000) {
      turns(1);
      await clock.advance(1_000);
    }
  };
  expect(turns(300)).toBe(0); // the gateway has collected a moment ago
  await busyFor(10_000);
  expect(turns(1)).toBe(1);
  await busyFor(60_000);
  expect([turns(189), turns(1), turns(900)]).toEqual([1, 2, 2]);
  await busyFor(10_000);
  expect(turns(1)).toBe(3);
  keeping[Symbol.dispose]();
  expect(turns(900)).toBe(3);
  await clock.advance(60_000);
  expect(collected).toBe(3);
});

test("memory under load is given back when the reply of a turn has left, not while somebody waits for it", async () => {
  const clock = createFakeClock();
  const events = createEvents({ log: recordingLog() });
  let collected = 0;
  using _keeping = keepMemoryFlat({ clock, events }, { collect: () => collected++, forgetStart: () => undefined });
  await clock.advance(12_000);
  for (let turn = 0; turn < 250; turn++) events.emit("turn.ended", { turnId: "t" } as never);
  expect(collected).toBe(0);
  events.emit("turn.recorded", { turnId: "t" } as never);
  expect(collected).toBe(1);
});

test("memory is given back two seconds after the start, and when idle after enough turns, but not while a turn runs", async () => {
  const clock = createFakeClock();
  const events = createEvents({ log: recordingLog() });
  let [collected, shrunk] = [0, 0];
  using _keeping = keepMemoryFlat({ clock, events }, { collect: () => collected++, forgetStart: () => shrunk++ });
  const turn = (what: "turn.started" | "turn.ended", count = 1): void => {
    for (let at = 0; at < count; at++) events.emit(what, { turnId: "t" } as never);
  };
  await clock.advance(1_999);
  expect(shrunk).toBe(0);
  await clock.advance(1);
  expect(shrunk).toBe(1);
  turn("turn.ended", 49);
  await clock.advance(60_000);
  expect(collected).toBe(0);
  turn("turn.started");
  turn("turn.ended");
  turn("turn.started", 2); // two attempts of one turn
  await clock.advance(60_000);
  expect(collected).toBe(0); // somebody waits for an answer
  turn("turn.ended");
  await clock.advance(4_000);
  expect([collected, shrunk]).toEqual([1, 1]);
  expect(clock.pending()).toBe(0);
});
