/** Jobs are switched on, off and reloaded, and the gateway stops: one engine runs, or none, and nothing of it is left behind. */
import { expect, test } from "bun:test";
import { checkConfigText, type Config } from "../config/index.ts";
import { systemIds } from "../kit/ids.ts";
import { createFakeClock } from "../testing/fake-clock.ts";
import { realStore } from "../testing/real-store.ts";
import { recordingLog } from "../testing/recording-log.ts";
import { job } from "../testing/automation/job-fixture.ts";
import { createJobService } from "./job-service.ts";
import { createTimes } from "./times/times.ts";
import { NO_REPORTS, noJobRules } from "../testing/automation/quiet-jobs.ts";

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
  await real.store.jobs.add(job({ nextAt: 10 * MINUTE, schedule: { kind: "every", expr: "10m" } }));
  const service = createJobService({
    clock,
    log,
    ids: systemIds,
    store: real.store.jobs,
    times: createTimes(() => "UTC"),
    config: () => state.config,
    rules: noJobRules(clock),
    reports: NO_REPORTS,
    openStarter: () => ({
      unpaid: () => null,
      check: async () => null,
      start: async () => ({ kind: "refused", because: "There is no room.", again: true }),
      stats: () => ({ active: 0, waiting: 0 }),
      [Symbol.asyncDispose]: async () => undefined,
    }),
  });
  const reload = async (next: Config): Promise<void> => {
    state.config = next;
    await service.apply(next);
  };
  const rows = async () => (await real.store.jobs.runs("water", { limit: 10 })).items.length;
  return { clock, service, reload, rows, [Symbol.asyncDispose]: () => real[Symbol.asyncDispose]() };
}

test("jobs run after any number of reloads, and a stop leaves no timer of any of them", async () => {
  await using fx = await world(ON);
  await fx.service.apply(ON);
  for (let n = 0; n < 3; n++) await fx.reload(ON);
  await fx.clock.advance(10 * MINUTE);
  expect(await fx.rows()).toBe(1);
  await fx.service[Symbol.asyncDispose]();
  expect(fx.clock.pending()).toBe(0);
});

test("jobs that are switched off do not run until they are switched on again", async () => {
  await using fx = await world(ON);
  await fx.service.apply(ON);
  await fx.reload(OFF);
  await fx.clock.advance(15 * MINUTE);
  expect(await fx.rows()).toBe(0);
  await fx.reload(ON);
  await fx.clock.advance(MINUTE);
  expect(await fx.rows()).toBe(1);
  await fx.service[Symbol.asyncDispose]();
  expect(fx.clock.pending()).toBe(0);
});

test("a reload that comes during a stop starts nothing", async () => {
  await using fx = await world(OFF);
  await fx.service.apply(OFF);
  await fx.service[Symbol.asyncDispose]();
  await fx.reload(ON);
  await fx.clock.advance(15 * MINUTE);
  expect([await fx.rows(), fx.clock.pending()]).toEqual([0, 0]);
});
