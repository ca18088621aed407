/** The limits of a running turn, with a clock that a test moves and meters that it sets. */
import { expect, test } from "bun:test";
import { createFakeClock } from "../../testing/fake-clock.ts";
import type { ReadyAgent } from "../setup/start.ts";
import type { Run } from "./run.ts";
import { watchLimits } from "./turn-limits.ts";

const FAR_MS = 1_000_000;

/** `spent`: what the meter of processor time shows at each look, the last one from then on. */
function watchedTurn({ spent = [0], busy = true }: { readonly spent?: readonly number[]; readonly busy?: boolean }) {
  const clock = createFakeClock();
  const over = new AbortController();
  const halted: string[] = [];
  const looks = { processor: 0, disk: 0 };
  const agent = {
    process: {
      processorSeconds: () => spent[Math.min(looks.processor++, spent.length - 1)] ?? 0,
      onEvent: () => ({ [Symbol.dispose]: () => undefined }),
    },
    processors: null,
    door: { told: () => false },
    disk: {
      begin: () => undefined,
      async look() {
        looks.disk++;
        return null;
      },
    },
  } as unknown as ReadyAgent;
  const run = { toolsRunning: () => (busy ? 1 : 0), hasUsedTools: () => busy } as unknown as Run;
  watchLimits(
    { clock, agent, run, quietMs: () => 0, silenceMs: FAR_MS, cpuSeconds: 10 },
    (ending) => void halted.push(ending.because === "failed" ? ending.code : ending.because),
    over.signal,
  );
  return { clock, over, halted, looks };
}

test("a turn that is over within two seconds has not looked at the processor time of its programs", async () => {
  const { clock, over, looks } = watchedTurn({});
  await clock.advance(1_999);
  over.abort(new Error("over"));
  await clock.advance(60_000);
  expect(looks.processor).toBe(0);
  expect(clock.pending()).toBe(0);
});

test("a turn is halted when its programs have used their processor time, counted from the first look on", async () => {
  const { clock, halted } = watchedTurn({ spent: [5, 14.9, 15] });
  await clock.advance(4_000);
  expect(halted).toEqual([]);
  await clock.advance(2_000);
  expect(halted).toEqual(["agent_busy_too_long"]);
});

test("a turn that runs no tool is metered once, for what comes before its tools, and never halted for it", async () => {
  const { clock, halted, looks } = watchedTurn({ spent: [0, 99], busy: false });
  await clock.advance(60_000);
  expect([looks.processor, looks.disk, halted]).toEqual([1, 0, []]);
});
