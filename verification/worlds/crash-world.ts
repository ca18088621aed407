/**
 * Jobs through many lives: the shipped engine, rules and SQL on a database that outlives every life. A life ends between any two calls of
 * the store, the clock jumps, the machine sleeps. In the end every slot has exactly one row, and the owner was told of all trouble once.
 */
import type { Job, JobRun, JobStore } from "../../src/contracts/automation/job.ts";
import type { RunStarter } from "../../src/automation/runs/run-start.ts";
import type { AgentId, Principal } from "../../src/contracts/ids.ts";
import type { Clock } from "../../src/kit/clock.ts";
import { createJobs, createTimes, type Engine, startEngine, type Times } from "../../src/automation/index.ts";
import { assemble } from "../../src/store/assemble.ts";
import { createFakeClock, type FakeClock } from "../../src/testing/fake-clock.ts";
import { alertsWanted, createOwner, wrongAlerts } from "./alerts-told.ts";
import { deadly, type Mortality } from "./mortal-store.ts";
import { recordingLog } from "../../src/testing/recording-log.ts";
import { createSeqIds } from "../../src/testing/seq-ids.ts";
import type { Chance } from "../../src/testing/chance.ts";
import { blankDisk, createDisk, type Disk } from "../../src/testing/disk.ts";
import { NO_REPORTS, noJobRules } from "../../src/testing/automation/quiet-jobs.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

export interface CrashReport {
  readonly slots: number;
  readonly lives: number;
  readonly jumps: number;
  readonly started: number;
  /** What the owner was told. */
  readonly alerts: number;
  /** Slots without a row, with two, rows that are no slot, runs that never ended or were begun twice. */
  readonly wrong: readonly string[];
}

/** A store with a bug in it, for seeing whether this world notices. `between`: here the process may die. */
export type Bug = (
  store: JobStore,
  world: { readonly db: Disk["db"]; readonly clock: Clock; between(): Promise<void> },
) => JobStore;

export interface CrashOptions {
  readonly jobs: number;
  readonly hours: number;
  readonly bug?: Bug;
}

export async function runCrashWorld(chance: Chance, options: CrashOptions): Promise<CrashReport> {
  using disk = createDisk(chance.fork("disk"), blankDisk());
  const fake = createFakeClock(Date.UTC(2026, 2, 28));
  const wall = { shiftMs: 0, furthest: 0 };
  const clock: Clock = { ...fake, now: () => fake.now() + wall.shiftMs };
  const starter = createStarter(chance.fork("work"));
  const world: LifeWorld = {
    disk,
    clock,
    fake,
    starter,
    chance: chance.fork("death"),
    ids: createSeqIds(),
    times: rememberedTimes(),
    bug: options.bug,
  };
  alertsWanted(disk.db);
  const made = await addJobs(world, options.jobs);

  let lives = 1;
  let jumps = 0;
  let life = startLife(world);
  const until = fake.now() + options.hours * HOUR_MS;
  while (fake.now() < until) {
    await fake.advance(chance.between(1, 20) * MINUTE_MS);
    starter.finishSome(life.engine);
    if (chance.hits(0.05)) {
      wall.shiftMs += chance.hits(0.5) ? HOUR_MS : -HOUR_MS;
      jumps++;
    }
    if (life.dead() || chance.hits(0.2)) {
      life.kill();
      if (chance.hits(0.1)) await fake.advance(chance.between(1, 90) * MINUTE_MS);
      life = startLife(world);
      lives++;
    }
    wall.furthest = Math.max(wall.furthest, clock.now());
  }
  // a quiet end: nothing dies any more, and the clock is later than it ever was
  life.kill();
  world.chance = null;
  life = startLife(world);
  const missing = Math.max(0, wall.furthest - clock.now());
  for (let rest = missing + 2 * HOUR_MS; rest > 0; rest -= 10 * MINUTE_MS) {
    await fake.advance(10 * MINUTE_MS);
    starter.finishAll(life.engine);
  }
  await asleep(fake);
  const report = check(world, made, clock.now());
  life.kill();
  const told = wrongAlerts(disk.db);
  return {
    ...report,
    lives,
    jumps,
    started: starter.started(),
    alerts: told.alerts,
    wrong: [...report.wrong, ...told.wrong],
  };
}

/** Until the engine has nothing more to do now and waits for its timer. */
async function asleep(fake: FakeClock): Promise<void> {
  for (let quiet = 0; quiet < 20; quiet = fake.pending() > 0 ? quiet + 1 : 0)
    await new Promise((resolve) => setImmediate(resolve));
}

interface LifeWorld {
  readonly disk: Disk;
  readonly clock: Clock;
  readonly fake: FakeClock;
  readonly starter: ReturnType<typeof createStarter>;
  readonly ids: ReturnType<typeof createSeqIds>;
  readonly times: Times;
  readonly bug: Bug | undefined;
  chance: Chance | null;
}

/** The shipped times, each asked for once: jobs share their expressions, and time zones are half of what this world costs. */
function rememberedTimes(): Times {
  const times = createTimes(() => "UTC");
  const read = new Map<string, ReturnType<Times["read"]>>();
  const known = new Map<object, Map<number, number | null>>();
  return {
    hostZone: times.hostZone,
    read(schedule) {
      const key = JSON.stringify(schedule);
      const reading = read.get(key) ?? times.read(schedule);
      read.set(key, reading);
      return reading;
    },
    next(schedule, after, anchorAt) {
      if (schedule.kind !== "cron") return times.next(schedule, after, anchorAt);
      const moments = known.get(schedule) ?? new Map<number, number | null>();
      known.set(schedule, moments);
      const before = moments.get(after);
      if (before !== undefined) return before;
      const next = times.next(schedule, after, anchorAt);
      moments.set(after, next);
      return next;
    },
  };
}

const DEATH_PER_CALL = 0.0015;
const DEATH_IN_BUG = 0.05;

function startLife(world: LifeWorld) {
  let alive = true;
  const log = recordingLog();
  const { jobs: store, sessionChats } = assemble(
    { ...world, log },
    world.disk.sqlFor(() => alive),
    "",
  );
  const kill = (): void => {
    alive = false;
    void engine[Symbol.asyncDispose](); // takes its timer along; a dead process says nothing
  };
  const between = async (): Promise<void> => {
    if (world.chance?.hits(DEATH_IN_BUG)) alive = false;
    if (!alive) await new Promise<never>(() => undefined);
  };
  const flawed = world.bug?.(store, { db: world.disk.db, clock: world.clock, between });
  const mortality: Mortality = {
    alive: () => alive,
    die: () => (alive = false),
    fate: () => (world.chance?.hits(DEATH_PER_CALL) ? world.chance.pick(["before", "after"]) : null),
  };
  const engine: Engine = startEngine({
    ...world,
    log,
    store: deadly(flawed ?? store, mortality),
    ...NO_REPORTS,
    tellOwner: createOwner(world.clock, deadly(sessionChats, mortality)),
  });
  return { engine, dead: () => !alive, kill };
}

function createStarter(chance: Chance) {
  const begun = new Map<string, { readonly run: JobRun; over: boolean }>(); // the inbox: survives every life
  const keyOf = (run: JobRun): string => `${run.id} ${run.attempt}`;
  const end = (engine: Engine, key: string): void => {
    const work = begun.get(key);
    if (!work) return;
    work.over = true;
    const fails = chance.hits(0.05);
    void engine.ended(
      work.run.id,
      fails ? { kind: "failed", because: "the provider was busy", again: true } : { kind: "ran" },
      null,
    );
  };
  const starter: RunStarter = {
    unpaid: () => null,
    check: async () => null,
    async start(run) {
      const known = begun.get(keyOf(run));
      begun.set(keyOf(run), known ?? { run, over: false });
      if (known?.over) known.over = false; // its end was not heard: it is told once more
      return { kind: "begun" };
    },
  };
  return {
    ...starter,
    started: () => begun.size,
    finishSome(engine: Engine) {
      for (const [key, work] of begun) if (!work.over && chance.hits(0.7)) end(engine, key);
    },
    finishAll(engine: Engine) {
      for (const [key, work] of begun) if (!work.over) end(engine, key);
    },
  };
}

async function addJobs(world: LifeWorld, count: number): Promise<readonly Job[]> {
  const store = assemble(
    { ...world, log: recordingLog() },
    world.disk.sqlFor(() => true),
    "",
  ).jobs;
  const engine = { poke: () => undefined, runNow: async () => null };
  const jobs = createJobs({ ...noJobRules(world.clock), ...world, store, engine });
  const exprs = ["* * * * *", "*/5 * * * *", "*/17 * * * *", "7 * * * *", "30 2 * * *", "15 1,2,3 * * 0"];
  const zones = ["UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe"];
  const made: Job[] = [];
  for (let n = 0; n < count; n++) {
    const interval = n % 5 >= 2;
    const answer = await jobs.add(
      {
        id: `job-${n}`,
        schedule: interval
          ? { kind: "every", expr: `${1 + (n % 12)}m` }
          : { kind: "cron", expr: exprs[n % exprs.length] ?? "", timezone: zones[n % zones.length] ?? "UTC" },
        task: "work",
        catchUp: (["skip", "once", "all"] as const)[n % 3] ?? "once",
        overlap: (["skip", "queue", "allow"] as const)[Math.floor(n / 3) % 3] ?? "skip",
      },
      {
        principal: "operator" as Principal,
        role: "owner",
        source: "person",
        to: { channel: "webchat", account: "default", chat: "1" },
        sessionKey: null,
        agentId: "default" as AgentId,
      },
    );
    if (answer.kind !== "ok") throw new Error(answer.say);
    made.push(answer.job);
  }
  return made;
}

/** Begun long ago and not ended, or waiting for nobody. */
const ROWS = `
select slot, min(status) as status, count(*) as n, max(
  (status = 'running' and started_at < ?1) or
  (status = 'waiting' and not exists (select 1 from job_runs o where o.job_id = r.job_id and o.status = 'running'))
) as stuck
from job_runs r where job_id = ?2 and manual = 0 group by slot`;

function check({ disk, times }: LifeWorld, jobs: readonly Job[], now: number): { slots: number; wrong: string[] } {
  const wrong: string[] = [];
  let slots = 0;
  for (const job of jobs) {
    const rows = disk.db
      .query<{ slot: number; status: string; n: number; stuck: number }, [number, string]>(ROWS)
      .all(now - 2 * HOUR_MS, job.id);
    const bySlot = new Map(rows.map((row) => [row.slot, row]));
    const read = times.read(job.schedule);
    for (let at = job.nextAt; at !== null && at <= now - MINUTE_MS;) {
      slots++;
      const row = bySlot.get(at);
      bySlot.delete(at);
      if (!row) wrong.push(`${job.id}: no row for ${new Date(at).toISOString()}`);
      else if (row.n > 1) wrong.push(`${job.id}: ${row.n} rows for ${new Date(at).toISOString()}`);
      else if (row.stuck === 1) wrong.push(`${job.id}: ${new Date(at).toISOString()} is ${row.status} for ever`);
      at = read.ok ? times.next(read.schedule, at, job.anchorAt) : null;
    }
    for (const slot of bySlot.keys())
      if (slot < now - MINUTE_MS) wrong.push(`${job.id}: a row for ${new Date(slot).toISOString()}, which is no slot`);
  }
  return { slots, wrong };
}
