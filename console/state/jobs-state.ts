/** The jobs and the runs of the one that is open, read when somebody looks and again whenever the gateway says that something changed. */
import { effect, signal } from "@preact/signals";
import type { WireJobInput, WireListedJob, WireRun } from "../../src/contracts/wire.ts";
import { whyNot } from "../net/error-text.ts";
import { line, request, view } from "./console-state.ts";
import { announced, jobNews } from "./news.ts";
import { FAILED, firstPage, LOADING, nextPage, type Paged } from "./paged.ts";

/** As the tool `create_reminder` says it. */
export const REMINDER = "Remind the person of this, in one short friendly sentence and with nothing else: ";
const PAGE_JOBS = 100;
const PAGE_RUNS = 10;
/** News come in bursts: a run begins, ends, and its job changes. */
const AGAIN_MS = 100;

/** With a next run, the soonest first. */
export const jobs = signal<Paged<WireListedJob>>(LOADING);
/** Paused, switched off or done. */
export const idleJobs = signal<Paged<WireListedJob>>(LOADING);
/** The configuration says that nothing begins. */
export const switchedOff = signal(false);
/** Whose runs are shown. */
export const openJob = signal<string | null>(null);
export const runs = signal<Paged<WireRun>>(LOADING);

/** Follows the gateway until it is called; for as long as somebody looks. */
export function followJobs(): () => void {
  let again: ReturnType<typeof setTimeout> | undefined;
  const stop = effect(() => {
    void jobNews.value;
    if (line.value !== "open" || view.value !== "jobs") return;
    clearTimeout(again);
    again = setTimeout(readAgain, AGAIN_MS);
  });
  void readJobs();
  return () => {
    clearTimeout(again);
    stop();
  };
}

function readAgain(): void {
  void readJobs();
  if (openJob.value !== null) void readRuns(openJob.value);
}

async function readJobs(): Promise<void> {
  const limit = Math.max(PAGE_JOBS, Math.min(200, jobs.value.items.length));
  try {
    const [planned, idle, { enabled }] = await Promise.all([
      request("cron.list", { limit, planned: true }),
      request("cron.list", { limit: PAGE_JOBS, planned: false }),
      request("cron.status", {}),
    ]);
    switchedOff.value = !enabled;
    jobs.value = firstPage(planned);
    idleJobs.value = firstPage(idle);
  } catch {
    if (jobs.value.phase === "loading") jobs.value = FAILED;
  }
}

export async function moreJobs(planned: boolean): Promise<void> {
  const list = planned ? jobs : idleJobs;
  const { next: cursor } = list.value;
  if (cursor === null) return;
  const page = await request("cron.list", { limit: PAGE_JOBS, cursor, planned }).catch(() => null); // the button stays
  if (!page || list.value.next !== cursor) return;
  list.value = nextPage(list.value, page);
}

/** Null closes it. */
export function showRuns(id: string | null): void {
  openJob.value = id;
  runs.value = LOADING;
  if (id !== null) void readRuns(id);
}

async function readRuns(id: string): Promise<void> {
  try {
    const page = await request("cron.runs", { id, limit: PAGE_RUNS });
    if (openJob.value === id) runs.value = firstPage(page);
  } catch {
    if (openJob.value === id && runs.value.phase === "loading") runs.value = FAILED;
  }
}

export async function moreRuns(): Promise<void> {
  const { next: cursor } = runs.value;
  const id = openJob.value;
  if (cursor === null || id === null) return;
  const page = await request("cron.runs", { id, limit: PAGE_RUNS, cursor }).catch(() => null); // the button stays
  if (!page || openJob.value !== id || runs.value.next !== cursor) return;
  runs.value = nextPage(runs.value, page);
}

const DONE = {
  "cron.run": "has begun",
  "cron.pause": "is paused",
  "cron.resume": "goes on",
  "cron.remove": "is removed",
} as const;

/** Null when the gateway has done it; otherwise why not. */
export function act(method: keyof typeof DONE, id: string): Promise<string | null> {
  return changed(request(method, { id }), `${id} ${DONE[method]}.`);
}

/** A new job, or one whose fields have changed; null when the gateway has taken it, otherwise why not. */
export function saveJob(id: string | null, input: WireJobInput): Promise<string | null> {
  if (id === null) return changed(request("cron.add", input), "The job is planned.");
  const { id: _same, ...change } = input;
  return changed(request("cron.update", { ...change, id }), `${id} is changed.`);
}

/** Words at a moment, in the conversation where the person is last; null when it is planned, otherwise why not. */
export function remind(words: string, at: number): Promise<string | null> {
  const reminder = {
    schedule: { kind: "at", expr: new Date(at).toISOString() },
    task: `${REMINDER}${words}`,
    delivery: "direct",
    deleteAfterRun: true,
  } as const;
  return changed(request("cron.add", reminder), "The reminder is planned.");
}

async function changed(asking: Promise<unknown>, done: string): Promise<string | null> {
  const problem = await whyNot(asking);
  if (problem !== null) return problem;
  announced.value = done;
  await readJobs();
  return null;
}
