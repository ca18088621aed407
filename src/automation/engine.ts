/**
 * Lets jobs run when their time has come. One timer for all of them, set to the next moment there is something to do and never longer than
 * half a minute, because the clock on the wall may be moved. What has come due is written first, in one transaction, and begun afterwards;
 * beginning twice is the same as once, so a crash in between is made good by beginning again.
 */
import type { Job, JobAlert, JobFire, JobRun, JobStore, Pruned } from "../contracts/automation/job.ts";
import type { RunOutcome, RunStarter } from "./runs/run-start.ts";
import type { Clock } from "../kit/clock.ts";
import type { Ids } from "../kit/ids.ts";
import type { Log } from "../kit/log.ts";
import { untilDone } from "../kit/until-done.ts";
import { type AfterRun, afterRun } from "./after-run.ts";
import { passedSlots } from "./passed-slots.ts";
import { plan } from "./plan.ts";
import type { Times } from "./times/times.ts";
import { slotInHostZone } from "./times/zone-change.ts";

export interface EngineDeps {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  readonly store: JobStore;
  readonly times: Times;
  readonly starter: RunStarter;
  /** Clients want to know how runs go. Never waited for. */
  told(run: JobRun): void;
  /** Resolves when what the owner has to know cannot be lost any more. Told again under the same id, it is told once. */
  tellOwner(alert: JobAlert): Promise<void>;
  /** Takes away what old runs leave behind elsewhere; from time to time. */
  pruneSessions(signal: AbortSignal): Promise<void>;
}

export interface Engine extends AsyncDisposable {
  /** Jobs were added or changed: look again. */
  poke(): void;
  /** The work of a run is over. Said again, it changes nothing. */
  ended(runId: string, outcome: RunOutcome, turnId: JobRun["turnId"]): Promise<void>;
  /** Begins runs again that a gateway had begun from which this one has taken over. */
  adopt(runIds: readonly string[]): Promise<void>;
  /** Begins a run that somebody asked for by hand; null when the job is gone, or that moment has its run. */
  runNow(jobId: string, at?: number): Promise<JobRun | null>;
}

/** The wall clock may jump; nobody tells a sleeping process. */
const MAX_SLEEP_MS = 30_000;
const MAX_JOBS_PER_STEP = 200;
const MAX_ALERTS_PER_STEP = 20;
const AFTER_TROUBLE_MS = 5_000;
const KEEP_RUNS_MS = 7 * 86_400_000;
const KEEP_RUNS_PER_JOB = 20;
const PRUNE_EVERY_MS = 3_600_000;

interface World extends EngineDeps {
  /** There may be something to do. */
  poke(): void;
  readonly stopping: AbortSignal;
  /** The moment of the start, by the wall clock as it is set now. */
  since(): number;
}

export function startEngine(deps: EngineDeps): Engine {
  const stop = new AbortController();
  let rung = Promise.withResolvers<void>();
  const poke = (): void => rung.resolve();
  const startedAt = deps.clock.elapsed();
  const since = (): number => deps.clock.now() - (deps.clock.elapsed() - startedAt);
  const world: World = { ...deps, poke, stopping: stop.signal, since };
  let prunedAt = -Infinity;
  let pruning = Promise.resolve();

  const loop = async (): Promise<void> => {
    const failed = (error: unknown, nextTryInMs: number): void =>
      deps.log.error("scheduler could not begin", { nextTryInMs, error });
    await untilDone({ clock: deps.clock, failed }, () => recover(world), stop.signal);
    while (!stop.signal.aborted) {
      rung = Promise.withResolvers<void>();
      const more = await step(world).catch((error: unknown) => {
        deps.log.error("scheduler step failed", { error });
        return "trouble" as const;
      });
      if (more === "more") continue;
      if (deps.clock.elapsed() - prunedAt > PRUNE_EVERY_MS) {
        prunedAt = deps.clock.elapsed();
        pruning = prune(world); // beside the jobs, which do not wait for it
      }
      await rest(world, more === "trouble" ? AFTER_TROUBLE_MS : await untilNext(world), rung.promise);
    }
  };
  const looping = loop().catch((error: unknown) => deps.log.error("scheduler stopped", { error }));

  return {
    poke,
    ended: (runId, outcome, turnId) => finish(world, runId, outcome, turnId),
    adopt: (runIds) => adopt(world, runIds),
    runNow: (jobId, at) => runNow(world, jobId, at ?? deps.clock.now()),
    async [Symbol.asyncDispose]() {
      stop.abort(new Error("the gateway is stopping"));
      poke();
      await looping;
      await pruning;
    },
  };
}

/** Runs a previous process had begun: begun again, which finds what is there. */
async function recover(world: World): Promise<void> {
  for (const run of await world.store.running()) await begin(world, run, await world.store.get(run.jobId));
}

/** The same for runs that came later; one that has ended meanwhile is left out. */
async function adopt(world: World, runIds: readonly string[]): Promise<void> {
  for (const id of runIds) {
    const run = await world.store.run(id);
    if (run?.status === "running") await begin(world, run, await world.store.get(run.jobId));
  }
}

/** Writes what has come due, then begins it. "more": there was more than fits in one step. */
async function step(world: World): Promise<"more" | "done" | "trouble"> {
  await followHostZone(world);
  await beginFreed(world);
  const now = world.clock.now();
  const due = await world.store.due(now, MAX_JOBS_PER_STEP);
  const fires: JobFire[] = [];
  for (const job of due) fires.push(await fireOf(world, job, now));
  const written = fires.length === 0 ? new Set<string>() : await world.store.fire(fires);
  const jobs = new Map(due.map((job) => [job.id, job]));
  const fresh = fires.flatMap(({ jobId, rows }) => rows.map(({ id }) => ({ id, job: jobs.get(jobId) ?? null })));
  await Promise.all(fresh.filter(({ id }) => written.has(id)).map(({ id, job }) => announce(world, id, job)));
  const retries = await world.store.retries(now, MAX_JOBS_PER_STEP);
  for (const run of retries) await tryAgain(world, run);
  if (!(await tellAlerts(world))) return "trouble";
  const full = due.length === MAX_JOBS_PER_STEP || retries.length === MAX_JOBS_PER_STEP;
  return full || fires.some(({ nextAt }) => nextAt !== null && nextAt <= now) ? "more" : "done";
}

/** Before anything is due: a slot of the zone before is not a moment of the schedule any more. */
async function followHostZone({ store, times, clock, log, stopping }: World): Promise<void> {
  const [first] = await store.inOtherZone("", 1); // asking for the zone is slow the first time, and most machines have no such job
  if (!first) return;
  const slotZone = times.hostZone();
  while (!stopping.aborted) {
    const jobs = await store.inOtherZone(slotZone, MAX_JOBS_PER_STEP);
    if (jobs.length === 0) return;
    const moves = jobs.map((job) => ({
      jobId: job.id,
      seenRevision: job.revision,
      seenNextAt: job.nextAt,
      nextAt: slotInHostZone(times, job, clock.now()),
      slotZone,
    }));
    await store.moveSlots(moves);
    log.info("time zone changed; next slots computed again", {
      from: jobs[0]?.slotZone,
      to: slotZone,
      jobs: jobs.length,
    });
  }
}

/** False: the owner could not be told, and will be later. */
async function tellAlerts({ store, tellOwner, log }: World): Promise<boolean> {
  for (const alert of await store.alerts(MAX_ALERTS_PER_STEP)) {
    try {
      await tellOwner(alert);
      await store.alertTold(alert.id);
    } catch (error) {
      log.error("owner could not be told about a job", { jobId: alert.jobId, error });
      return false;
    }
  }
  return true;
}

async function fireOf(world: World, job: Job, now: number): Promise<JobFire> {
  const passed = passedSlots(world.times, job, now);
  const busy = await world.store.busy(job.id);
  const planned = plan(job, { passed, busy, now, since: world.since() }, () => world.ids.next("run"));
  return {
    jobId: job.id,
    seenRevision: job.revision,
    seenNextAt: job.nextAt ?? now,
    ...planned,
    ...(passed.slotZone === undefined ? {} : { slotZone: passed.slotZone }),
    at: now,
  };
}

async function announce(world: World, runId: string, job: Job | null): Promise<void> {
  const run = await world.store.run(runId);
  if (!run) return;
  world.told(run);
  if (run.status === "running") await beginIfPaid(world, run, job);
}

async function tryAgain(world: World, run: JobRun): Promise<void> {
  if (!(await world.store.begin(run.id, "failed", world.clock.now()))) return;
  const begun = await world.store.run(run.id);
  if (begun) await beginIfPaid(world, begun, await world.store.get(run.jobId));
}

/** The budget is asked for a run that begins now, and not for one that a previous process has put in already. */
async function beginIfPaid(world: World, run: JobRun, job: Job | null): Promise<void> {
  const unpaid = job && world.starter.unpaid(job);
  if (unpaid === null) return begin(world, run, job);
  await finish(world, run.id, { kind: "skipped", because: unpaid }, null);
}

async function begin(world: World, run: JobRun, job: Job | null): Promise<void> {
  if (!job)
    return void (await finish(world, run.id, { kind: "failed", because: "the job is gone", again: false }, null));
  const unable = await world.starter.check(job);
  if (unable !== null) return finish(world, run.id, { kind: "failed", because: unable, again: false }, null);
  try {
    const started = await world.starter.start(run, job, world.stopping);
    if (started.kind === "ended") await finish(world, run.id, started.outcome, started.turnId);
    if (started.kind === "refused")
      await finish(world, run.id, { kind: "failed", because: started.because, again: started.again }, null);
  } catch (error) {
    if (world.stopping.aborted) return; // begun again by the next start
    world.log.error("run could not be begun", { runId: run.id, jobId: job.id, error });
    const because = "the gateway could not begin it";
    await finish(world, run.id, { kind: "failed", because, again: true }, null);
  }
}

async function finish(world: World, runId: string, outcome: RunOutcome, turnId: JobRun["turnId"]): Promise<void> {
  for (;;) {
    const run = await world.store.run(runId);
    if (run?.status !== "running") return;
    const job = await world.store.get(run.jobId);
    const now = world.clock.now();
    const after = job ? afterRun(job, run, outcome, now) : GONE;
    const written = await world.store.end(runId, {
      status: outcome.kind,
      reason: outcome.kind === "ran" ? null : outcome.because,
      ms: Math.max(0, now - (run.startedAt ?? now)),
      turnId,
      retryAt: after.retryAt,
      seen: job,
      job: { failures: after.failures, state: after.state, because: after.because },
      remove: after.remove,
      alert: after.alert,
      at: now,
    });
    if (written === "changed") continue; // another run of it has ended meanwhile, or a person has changed it
    if (written === "over") return;
    break;
  }
  const ended = await world.store.run(runId);
  if (ended) world.told(ended);
  world.poke();
}

const GONE: AfterRun = { failures: 0, retryAt: null, state: "done", because: null, remove: false, alert: null };

/** Begins one waiting run of each job, the oldest slot first; the others wait for its end. */
async function beginFreed(world: World): Promise<void> {
  const jobs = new Set<string>();
  for (const run of (await world.store.freed()).toSorted((one, other) => one.slot - other.slot)) {
    if (jobs.has(run.jobId)) continue;
    jobs.add(run.jobId);
    if (!(await world.store.begin(run.id, "waiting", world.clock.now()))) continue;
    const begun = await world.store.run(run.id);
    if (begun) await beginIfPaid(world, begun, await world.store.get(run.jobId));
  }
}

async function runNow(world: World, jobId: string, slot: number): Promise<JobRun | null> {
  const job = await world.store.get(jobId);
  if (!job) return null;
  const id = world.ids.next("run");
  if (!(await world.store.addManualRun({ id, jobId, slot }))) return null;
  await announce(world, id, job);
  return world.store.run(id);
}

async function prune({ store, clock, log, pruneSessions, stopping }: World): Promise<void> {
  try {
    const before = clock.now() - KEEP_RUNS_MS;
    let dropped = 0;
    for (let from: string | null = null, more = true; more && !stopping.aborted; more = from !== null) {
      const some: Pruned = await store.prune({ before, keepPerJob: KEEP_RUNS_PER_JOB, from });
      dropped += some.dropped;
      from = some.next;
    }
    if (dropped > 0) log.info("old runs dropped", { dropped });
    await pruneSessions(stopping);
  } catch (error) {
    log.warn("old runs could not be dropped", { error });
  }
}

async function untilNext({ store, clock }: World): Promise<number> {
  const next = await store.nextDueAt().catch(() => null); // the next step reports what is wrong with the store
  if (next === null) return Infinity;
  return Math.min(MAX_SLEEP_MS, Math.max(0, next - clock.now()));
}

async function rest({ clock, stopping }: World, ms: number, rung: Promise<void>): Promise<void> {
  if (stopping.aborted) return;
  if (ms === Infinity) return rung;
  const either = new AbortController();
  const timer = clock.sleep(ms, AbortSignal.any([stopping, either.signal])).catch(() => undefined); // woken early
  await Promise.race([timer, rung]);
  either.abort(new Error("awake"));
}
