/**
 * Ten thousand jobs: what a start takes and holds with and without them, in rounds; and what a thousand that are due in one second do to
 * somebody who chats meanwhile, next to the same chat in the same gateway a moment before.
 */
import { systemClock } from "../../src/kit/clock.ts";
import { tempHome } from "../../src/testing/temp-home.ts";
import { type GatewayProcess, startGatewayProcess } from "../../src/testing/whole/gateway-process.ts";
import { type LoadClient, openLoadClient } from "../../src/testing/whole/load-client.ts";
import { benchConfig } from "./parts/bench-config.ts";
import { atMost, type Scenario } from "./parts/line.ts";
import { cpuSeconds, rssMb } from "./parts/process-cost.ts";
import { startProviderProcess } from "./parts/provider-process.ts";
import { type Compared, compared, inRounds, type Kind } from "./parts/rounds.ts";
import { median, round, spread, timed } from "./parts/stats.ts";
import { storeJobs } from "./parts/stored-jobs.ts";

export interface JobFigures {
  readonly startMs: Compared;
  /** Processor time until then: what others do on the machine is not in it. */
  readonly startCpuMs: Compared;
  readonly rssMb: { readonly without: number; readonly with: number };
  readonly calm: readonly number[];
  readonly busy: readonly number[];
  /** From the moment they were due until the last one had ended. */
  readonly drainedMs: number;
}

interface Start {
  readonly ms: number;
  readonly cpuMs: number;
  readonly mb: number | null;
}

const NO_AGENTS = { agent: { pool: { min: 0 } } };
const REST_MS = 2_000;
/** So many of each kind are left alone for a while, to see what they hold. */
const RESTS = 4;
const ROUNDS = 10;
const AT_ONCE = 1_000;
const ADDED_TOGETHER = 20;
/** Long enough to make them all before their moment comes. */
const LEAD_MS = 1_000;
const CALM_CHATS = 450;

async function starts(homes: { readonly without: string; readonly having: string }, rounds: number) {
  const rested = { one: 0, other: 0 };
  const measure = async (kind: Kind): Promise<Start> => {
    const began = performance.now();
    const home = kind === "one" ? homes.without : homes.having;
    const gateway = await startGatewayProcess({ home, config: NO_AGENTS });
    await fetch(`${gateway.url}/health`);
    const ms = performance.now() - began;
    const cpuMs = cpuSeconds(gateway.pid) * 1_000;
    const rests = rested[kind]++ < RESTS;
    if (rests) await Bun.sleep(REST_MS);
    const mb = rests ? rssMb(gateway.pid) : null;
    await gateway.stop();
    return { ms, cpuMs, mb };
  };
  const all = await inRounds(rounds, measure);
  const figures = (of: (start: Start) => number) =>
    compared(all.map(({ one, other }) => ({ one: both(one, of), other: both(other, of) })));
  const memory = (kind: Kind): number => median(all.flatMap((round) => round[kind].flatMap(({ mb }) => mb ?? [])));
  return {
    startMs: figures(({ ms }) => ms),
    startCpuMs: figures(({ cpuMs }) => cpuMs),
    rssMb: { without: memory("one"), with: memory("other") },
  };
}

const both = ([first, second]: readonly [Start, Start], of: (start: Start) => number) =>
  [of(first), of(second)] as const;

/** A conversation gets slower as it grows, jobs or not: after so many words another one begins, and its first answer does not count. */
const CHATS_EACH = 100;

function createChatter(client: LoadClient): (count: number, going: () => boolean) => Promise<readonly number[]> {
  let said = 0;
  const ask = (): Promise<unknown> =>
    client.ask(`agent:default:webchat:dm:chat-${Math.floor(said / CHATS_EACH)}`, `words ${said++}`);
  return async (count, going) => {
    const times: number[] = [];
    while (times.length < count && going()) {
      if (said % CHATS_EACH === 0) await ask();
      times.push(await timed(ask));
    }
    return times;
  };
}

/** A thousand jobs of the same second; resolves shortly before it. */
async function planCrowd(gateway: GatewayProcess, size: number): Promise<number> {
  const add = async (body: string): Promise<void> => {
    const headers = { "content-type": "application/json" };
    const response = await gateway.fetch("/api/cron/jobs", { method: "POST", headers, body });
    if (response.status !== 201) throw new Error(await response.text());
  };
  const far = new Date(systemClock.now() + 3_600_000).toISOString();
  const job = { schedule: { kind: "at", expr: far }, task: "say a word", delivery: "silent", deleteAfterRun: true };
  const change = (id: string, at: number) =>
    gateway.fetch(`/api/cron/jobs/${id}`, {
      method: "PATCH",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ schedule: { kind: "at", expr: new Date(at).toISOString() } }),
    });
  const names = Array.from({ length: size }, (_, n) => `crowd-${n}`);
  const took = await timed(() => each(names, (id) => add(JSON.stringify({ id, ...job }))));
  const due = systemClock.now() + took * 2 + LEAD_MS;
  await each(names, (id) => change(id, due));
  await Bun.sleep(Math.max(0, due - systemClock.now()));
  return due;
}

async function each(names: readonly string[], act: (name: string) => Promise<unknown>): Promise<void> {
  for (let from = 0; from < names.length; from += ADDED_TOGETHER)
    await Promise.all(names.slice(from, from + ADDED_TOGETHER).map(act));
}

const running = async (gateway: GatewayProcess): Promise<number> =>
  ((await (await gateway.fetch("/api/cron/status")).json()) as { running: number }).running;

async function crowd(gateway: GatewayProcess, rounds: number, size: number) {
  using client = await openLoadClient(gateway);
  const chatFor = createChatter(client);
  await chatFor(200, () => true); // warm
  const [calm, busy, drained]: [number[], number[], number[]] = [[], [], []];
  for (let n = 0; n < rounds; n++) {
    calm.push(...(await chatFor(CALM_CHATS, () => true)));
    const due = await planCrowd(gateway, size);
    let over = false;
    const watching = (async () => {
      await Bun.sleep(500);
      while ((await running(gateway)) > 0) await Bun.sleep(250);
      over = true;
      return systemClock.now() - due;
    })();
    busy.push(...(await chatFor(Number.MAX_SAFE_INTEGER, () => !over)));
    drained.push(await watching);
  }
  return { calm, busy, drainedMs: median(drained) };
}

/** `homes` are filled for that. */
async function measureStarts(homes: { readonly without: string; readonly having: string }, scale: number) {
  await storeJobs(homes.without, 0);
  await storeJobs(homes.having, jobsOf(scale));
  return starts(homes, Math.max(4, Math.round(ROUNDS * scale)));
}

export async function measureJobs(scale: number): Promise<JobFigures> {
  await using provider = await startProviderProcess({ echo: true });
  await using empty = await tempHome();
  await using full = await tempHome();
  const atStart = await measureStarts({ without: empty.path, having: full.path }, scale);
  const config = benchConfig(provider.baseUrl, { min: 2, max: 4 });
  const gateway = await startGatewayProcess({ home: full.path, config });
  try {
    return { ...atStart, ...(await crowd(gateway, 1, crowdOf(scale))) };
  } finally {
    await gateway.stop();
  }
}

const jobsOf = (scale: number): number => Math.max(1_000, Math.round(10_000 * scale));
const crowdOf = (scale: number): number => Math.max(200, Math.round(AT_ONCE * scale));

export const jobs: Scenario = {
  name: "jobs",
  async measure(scale) {
    const { startMs, startCpuMs, rssMb: held, calm, busy, drainedMs } = await measureJobs(scale);
    const [before, during] = [spread(calm), spread(busy)];
    const count = jobsOf(scale).toLocaleString("en");
    return [
      { what: "start to /health without jobs", value: startMs.one, unit: "ms" },
      { what: `  with ${count}`, value: startMs.other, unit: "ms" },
      { what: "  added by them", value: startMs.added, unit: "ms", ...atMost(200) },
      { what: "  half of the rounds said at least", value: startMs.between[0], unit: "ms" },
      { what: "  and at most", value: startMs.between[1], unit: "ms" },
      { what: "  apart are two starts of the same kind", value: startMs.noise, unit: "ms" },
      { what: "processor time of such a start without jobs", value: startCpuMs.one, unit: "ms" },
      { what: "  added by them", value: startCpuMs.added, unit: "ms", ...atMost(200) },
      { what: "memory at rest without jobs", value: held.without, unit: "MB" },
      { what: "  added by them", value: round(held.with - held.without), unit: "MB", ...atMost(20) },
      { what: "chat while nothing is due, p50", value: before.p50, unit: "ms" },
      { what: "  p99", value: before.p99, unit: "ms" },
      { what: `chat while ${crowdOf(scale)} jobs of one second run, p50`, value: during.p50, unit: "ms" },
      { what: "  p99", value: during.p99, unit: "ms" },
      { what: "  p99, times what it was", value: round(during.p99 / before.p99), unit: "x", ...atMost(2) },
      { what: "  chats meanwhile", value: during.samples, unit: "" },
      { what: `until the last of the ${crowdOf(scale)} had ended`, value: Math.round(drainedMs / 100) / 10, unit: "s" },
    ];
  },
};
