import { expect, test } from "bun:test";
import { createFakeClock } from "../testing/fake-clock.ts";
import { untilDone } from "./until-done.ts";

function world(failures: number) {
  const clock = createFakeClock();
  const tries: number[] = [];
  const pauses: number[] = [];
  const stop = new AbortController();
  const work = untilDone(
    { clock, failed: (_error, nextTryInMs) => void pauses.push(nextTryInMs) },
    async () => {
      tries.push(clock.elapsed());
      if (tries.length <= failures) throw new Error("disk full");
      return "done";
    },
    stop.signal,
  );
  return { clock, tries, pauses, stop, work };
}

test("work that fails is tried again after a pause that grows to some seconds, until it works", async () => {
  const at = world(7);
  await at.clock.advance(200_000);
  expect(await at.work).toBe("done");
  expect(at.pauses).toEqual([1_000, 2_000, 4_000, 5_000, 5_000, 5_000, 5_000]);
  expect(at.tries).toEqual([0, 1_000, 3_000, 7_000, 12_000, 17_000, 22_000, 27_000]);
});

test("work that is tried again ends with its signal, without another try and without a timer", async () => {
  const at = world(7);
  await at.clock.advance(500);
  at.stop.abort(new Error("stopping"));
  expect([await at.work, at.tries.length, at.clock.pending()]).toEqual([null, 1, 0]);
});
