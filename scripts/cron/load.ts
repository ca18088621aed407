/**
 * `npm run cron-load`: ten thousand jobs in the store of a real gateway: what a start takes with and without them, what they cost in memory,
 * and what a thousand of them that are due in the same second do to people who chat meanwhile. Real pi, a model provider on loopback.
 */
import { readFileSync } from "node:fs";
import type { AgentId, Principal } from "../../src/contracts/ids.ts";
import { systemClock } from "../../src/kit/clock.ts";
import { systemIds } from "../../src/kit/ids.ts";
import { createJobs, createTimes } from "../../src/schedule/index.ts";
import { openStore } from "../../src/store/index.ts";
import { says, startFakeProvider } from "../../src/testing/fake-provider.ts";
import { recordingLog } from "../../src/testing/recording-log.ts";
import { tempHome } from "../../src/testing/temp-home.ts";
import { type GatewayProcess, startGatewayProcess } from "../../src/testing/whole/gateway-process.ts";

const JOBS = 10_000;
const AT_ONCE = 1_000;
const CHATS = 60;
const SETTLE_MS = 3_000;
const DUE_IN_MS = 12_000;

await using provider = await startFakeProvider(() => says("fine"));
const config = {
  agent: { model: "fake/one", pool: { min: 2, max: 4 } },
  models: { providers: { fake: { baseUrl: provider.baseUrl, apiKey: "key-for-tests-77", models: [{ id: "one" }] } } },
};

function rssMb(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) / 1024;
}

/** Every one for a person of its own: the limits are per person. */
async function fill(home: string, count: number, at: number | null): Promise<void> {
  await using store = await openStore({ clock: systemClock, ids: systemIds, log: recordingLog() }, { home });
  const engine = { poke: () => undefined, runNow: async () => null };
  const jobs = createJobs({ clock: systemClock, ids: systemIds, store: store.jobs, times: createTimes("UTC"), engine });
  for (let n = 0; n < count; n++) {
    const schedule =
      at === null
        ? ({ kind: "cron", expr: `${n % 60} ${n % 24} ${1 + (n % 28)} 1 *`, timezone: "UTC" } as const)
        : ({ kind: "at", expr: new Date(at).toISOString() } as const);
    const made = await jobs.add(
      { id: `${at === null ? "year" : "now"}-${n}`, schedule, task: `job ${n}`, delivery: "silent" },
      {
        principal: (at === null ? `load:user:${n}` : "operator") as Principal,
        ...{ role: "owner", source: "person", to: null, sessionKey: null, agentId: "default" as AgentId },
      },
    );
    if (made.kind !== "ok") throw new Error(made.say);
  }
}

async function measureStart(home: string): Promise<{ readonly ms: number; readonly mb: number }> {
  const began = performance.now();
  await using gateway = await startGatewayProcess({ home, config });
  const ms = performance.now() - began;
  await Bun.sleep(SETTLE_MS);
  return { ms, mb: rssMb(gateway.pid) };
}

async function chatTimes(gateway: GatewayProcess, name: string): Promise<readonly number[]> {
  const times: number[] = [];
  for (let n = 0; n < CHATS; n++) {
    const began = performance.now();
    await gateway.chat(`hello ${n}`, { session: name });
    times.push(performance.now() - began);
  }
  return times.toSorted((a, b) => a - b);
}

const quantile = (sorted: readonly number[], q: number): number =>
  Math.round(sorted[Math.ceil(q * sorted.length) - 1] ?? 0);

await using empty = await tempHome();
await using full = await tempHome();
await measureStart(empty.path); // warms the disk cache
const without = await measureStart(empty.path);
await fill(full.path, JOBS, null);
await measureStart(full.path);
const withJobs = await measureStart(full.path);
console.log(
  `start: ${Math.round(without.ms)} ms without jobs, ${Math.round(withJobs.ms)} ms with ${JOBS}; memory ${Math.round(without.mb)} MB and ${Math.round(withJobs.mb)} MB`,
);

const due = Date.now() + DUE_IN_MS;
await fill(full.path, AT_ONCE, due);
await using gateway = await startGatewayProcess({ home: full.path, config });
await gateway.chat("hello", { session: "warm" });
const calm = await chatTimes(gateway, "calm");
await Bun.sleep(Math.max(0, due - Date.now()));
const busy = await chatTimes(gateway, "busy");
console.log(`chat while nothing is due: p50 ${quantile(calm, 0.5)} ms, p99 ${quantile(calm, 0.99)} ms`);
console.log(
  `chat while ${AT_ONCE} jobs of one second run: p50 ${quantile(busy, 0.5)} ms, p99 ${quantile(busy, 0.99)} ms`,
);
const status = (await (await gateway.fetch("/api/cron/status")).json()) as { running: number };
console.log(`runs not ended by then: ${status.running}`);
