/** Jobs are switched on, off and reloaded, and the gateway stops: one engine runs, or none, and nothing of it is left behind. */
import { expect, test } from "bun:test";
import { checkConfigText, type Config, readEnvironment } from "../config/index.ts";
import { systemIds } from "../kit/ids.ts";
import { createEvents } from "../observe/index.ts";
import { createFakeClock } from "../testing/fake-clock.ts";
import { realStore } from "../testing/real-store.ts";
import { recordingLog } from "../testing/recording-log.ts";
import { job } from "../testing/schedule/job-fixture.ts";
import { type AutomationParts, createAutomation } from "./automation.ts";

const MINUTE = 60_000;

function configOf(settings: object): Config {
  const { config, problems } = checkConfigText(JSON.stringify(settings), () => undefined);
  if (!config) throw new Error(JSON.stringify(problems));
  return config;
}
const ON = configOf({});
const OFF = configOf({ cron: { enabled: false } });

async function world(config: Config) {
  const clock = createFakeClock(0);
  const log = recordingLog();
  const real = await realStore(clock);
  const state = { config };
  const parts = {
    clock,
    log,
    ids: systemIds,
    store: real.store,
    events: createEvents({ log }),
    home: real.home,
    config: () => state.config,
    environment: readEnvironment({}),
    grants: () => new Map(),
    pool: { stats: () => ({ trouble: null }) },
    budget: { ask: () => ({ may: true }) },
    unusable: () => null,
    receiver: () => ({ put: async () => ({ kind: "refused", because: "full", say: "There is no room." }) }),
    outbox: () => ({ wake: () => undefined }),
    queue: () => ({ isBusy: () => false, abort: () => undefined }),
    channels: () => new Map([["webchat", {}]]),
  } as unknown as AutomationParts;
  await real.store.jobs.add(job({ nextAt: 10 * MINUTE, schedule: { kind: "every", expr: "10m" } }));
  const automation = createAutomation(parts);
  const reload = async (next: Config): Promise<void> => {
    state.config = next;
    await automation.reload(next);
  };
  const rows = async () => (await real.store.jobs.runs("water", { limit: 10 })).items.length;
  return { clock, automation, reload, rows, [Symbol.asyncDispose]: () => real[Symbol.asyncDispose]() };
}

test("jobs run after any number of reloads, and a stop leaves no timer of any of them", async () => {
  await using fx = await world(ON);
  const running = await fx.automation.start();
  for (let n = 0; n < 3; n++) await fx.reload(ON);
  await fx.clock.advance(10 * MINUTE);
  expect(await fx.rows()).toBe(1);
  await running[Symbol.asyncDispose]();
  expect(fx.clock.pending()).toBe(0);
});

test("jobs that are switched off do not run until they are switched on again", async () => {
  await using fx = await world(ON);
  const running = await fx.automation.start();
  await fx.reload(OFF);
  await fx.clock.advance(15 * MINUTE);
  expect(await fx.rows()).toBe(0);
  await fx.reload(ON);
  await fx.clock.advance(MINUTE);
  expect(await fx.rows()).toBe(1);
  await running[Symbol.asyncDispose]();
  expect(fx.clock.pending()).toBe(0);
});

test("a reload that comes during a stop starts nothing", async () => {
  await using fx = await world(OFF);
  const running = await fx.automation.start();
  await running[Symbol.asyncDispose]();
  await fx.reload(ON);
  await fx.clock.advance(15 * MINUTE);
  expect([await fx.rows(), fx.clock.pending()]).toEqual([0, 0]);
});
