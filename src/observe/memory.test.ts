/** When memory is given back: after many turns, and not too often. */
import { expect, test } from "bun:test";
import type { SessionKey, TurnId } from "../contracts/ids.ts";
import { createFakeClock } from "../testing/fake-clock.ts";
import { recordingLog } from "../testing/recording-log.ts";
import { createEvents } from "./events.ts";
import { keepMemoryFlat } from "./memory.ts";

test("memory is given back every few hundred turns, not twice within ten seconds, and not after the end", async () => {
  const clock = createFakeClock();
  const events = createEvents({ log: recordingLog() });
  let collected = 0;
  const keeping = keepMemoryFlat({ clock, events }, () => collected++);
  const usage = { inputTokens: 0, outputTokens: 0, costUsd: 0 };
  const turns = (count: number): number => {
    const about = { sessionKey: "s" as SessionKey, turnId: "t" as TurnId, inboxIds: [], outcome: "done", ms: 1, usage };
    for (let turn = 0; turn < count; turn++) events.emit("turn.ended", about as never);
    return collected;
  };
  expect(turns(300)).toBe(0); // the gateway has just started
  await clock.advance(10_000);
  expect(turns(1)).toBe(1);
  await clock.advance(60_000);
  expect([turns(249), turns(1), turns(900)]).toEqual([1, 2, 2]);
  await clock.advance(10_000);
  expect(turns(1)).toBe(3);
  await clock.advance(10_000);
  keeping[Symbol.dispose]();
  expect(turns(900)).toBe(3);
});
