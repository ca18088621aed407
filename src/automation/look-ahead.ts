/** What schedules will do: the next times of one that is being written, and the planned runs of all jobs on the days of a calendar. Changes nothing. */
import type { Job, JobStore, Schedule } from "../contracts/automation/job.ts";
import type {
  Asker,
  CalendarRange,
  CalendarRun,
  JobCalendar,
  LookAhead,
  ScheduleAnswer,
} from "../contracts/automation/jobs.ts";
import type { PersonTimes } from "../contracts/automation/when.ts";
import { GatewayError } from "../contracts/errors.ts";
import type { Role } from "../contracts/ids.ts";
import type { Clock } from "../kit/clock.ts";
import { intervalProblem, type JobLimits } from "./job-limits.ts";
import { fixedSchedule, scheduleProblem } from "./jobs.ts";
import { type CalendarDays, calendarDays, plainTimes } from "./times/calendar-days.ts";
import type { ParsedSchedule } from "./times/parse.ts";
import type { Times } from "./times/times.ts";
import { readWords } from "./times/words/read-words.ts";
import { sayWhen } from "./times/words/say-schedule.ts";
import { isTimezone, localConverter } from "./times/zone.ts";

interface LookAheadDeps {
  readonly clock: Clock;
  readonly times: Times;
  readonly people: Pick<PersonTimes, "read" | "zoneOf">;
  readonly store: Pick<JobStore, "due">;
  limits(role: Role): JobLimits;
}

const NEXT_TIMES = 5;
/** Six weeks: what a month's page of a calendar shows. */
export const MAX_CALENDAR_DAYS = 42;
/** The soonest ones. More than a person can read on one page. */
const MAX_CALENDAR_JOBS = 200;
/** A job that runs more often is named beside the calendar. */
const MAX_RUNS_PER_DAY = 6;
/** Questions to the cron library in one answer: each takes a part of a millisecond, and nobody else is answered meanwhile. */
const MAX_SEARCHES = 300;

export function createLookAhead(deps: LookAheadDeps): LookAhead {
  return {
    preview(asked, who) {
      const schedule =
        "words" in asked ? readAsked(deps, asked, who) : fixedSchedule(deps, asked.schedule, who.principal);
      if ("code" in schedule) return { kind: "refused", ...schedule };
      return previewOf(deps, schedule, who.role);
    },
    async calendar(range) {
      const days = daysOf(range);
      const jobs = await deps.store.due(days.end, MAX_CALENDAR_JOBS + 1);
      return calendarOf(deps, jobs, days);
    },
  };
}

interface Refusal {
  readonly code: "bad_schedule";
  readonly say: string;
}

type Answer = Schedule | Refusal | ReturnType<typeof fixedSchedule>;

function readAsked(
  deps: LookAheadDeps,
  { words, timezone }: { readonly words: string; readonly timezone?: string },
  { principal }: Asker,
): Answer {
  const reading = readWords(words);
  if (reading.kind === "unclear") return { code: "bad_schedule", say: reading.problem };
  const { kind, expr } = reading.kind === "read" ? reading.schedule : ({ kind: "at", expr: words.trim() } as const);
  return fixedSchedule(deps, timezone === undefined ? { kind, expr } : { kind, expr, timezone }, principal);
}

function previewOf(deps: LookAheadDeps, schedule: Schedule, role: Role): ScheduleAnswer {
  const now = deps.clock.now();
  const job = { schedule, anchorAt: now };
  const problem = scheduleProblem(deps, job);
  if (problem) return { kind: "refused", ...problem };
  const tooOften = intervalProblem(deps.times, job, { limits: deps.limits(role), now });
  if (tooOften !== null) return { kind: "refused", code: "bad_schedule", say: tooOften };
  const nextAt: number[] = [];
  const read = deps.times.read(schedule);
  for (let at: number | null = now; read.ok && at !== null && nextAt.length < NEXT_TIMES;) {
    at = deps.times.next(read.schedule, at, now);
    if (at !== null) nextAt.push(at);
  }
  return { kind: "ok", schedule, words: sayWhen(schedule), nextAt };
}

function daysOf({ from, days, timezone }: CalendarRange): CalendarDays {
  const first = Date.parse(`${from}T00:00:00Z`);
  const isDate = /^\d{4}-\d\d-\d\d$/.test(from) && Number.isFinite(first);
  if (!isDate || !isTimezone(timezone) || days < 1 || days > MAX_CALENDAR_DAYS)
    throw new GatewayError("bad_request", "not days of a calendar", {
      say: `A calendar has a first day such as 2026-11-01, 1 to ${MAX_CALENDAR_DAYS} days, and a time zone such as Europe/Berlin.`,
    });
  return calendarDays(first, days, timezone);
}

function calendarOf(deps: LookAheadDeps, jobs: readonly Job[], days: CalendarDays): JobCalendar {
  const byDate = new Map<string, CalendarRun[]>();
  const frequent: string[] = [];
  let searches = MAX_SEARCHES;
  let isPartial = jobs.length > MAX_CALENDAR_JOBS;
  const zones = createZones(deps.times);
  for (const job of jobs.slice(0, MAX_CALENDAR_JOBS)) {
    const runs: { readonly date: string; readonly run: CalendarRun }[] = [];
    let ofDay = { date: "", count: 0 };
    for (const at of momentsOf(deps.times, zones, job, days)) {
      if (at === "searched" && --searches >= 0) continue;
      if (at === "searched") {
        isPartial = true;
        break;
      }
      const date = days.dateOf(at) ?? "";
      ofDay = ofDay.date === date ? { date, count: ofDay.count + 1 } : { date, count: 1 };
      if (ofDay.count > MAX_RUNS_PER_DAY) break;
      runs.push({ date, run: { jobId: job.id, at } });
    }
    if (ofDay.count > MAX_RUNS_PER_DAY) frequent.push(job.id);
    else for (const { date, run } of runs) byDate.set(date, [...(byDate.get(date) ?? []), run]);
  }
  const sorted = [...byDate].toSorted(([one], [other]) => (one < other ? -1 : 1));
  return {
    days: sorted.map(([date, runs]) => ({ date, runs: runs.toSorted((one, other) => one.at - other.at) })),
    frequent,
    isPartial,
  };
}

/** Null: the machine does not know the zone any more. */
type Zones = (timezone: string | undefined) => ((local: number) => number) | null;

/** One converter for each zone of an answer. */
function createZones(times: Times): Zones {
  const known = new Map<string, ReturnType<Zones>>();
  return (timezone = times.hostZone()) => {
    const converter = known.get(timezone) ?? (isTimezone(timezone) ? localConverter(timezone) : null);
    known.set(timezone, converter);
    return converter;
  };
}

/** Moments on the days, from the job's next slot on; `searched`: the cron library was asked. */
function* momentsOf(times: Times, zones: Zones, job: Job, days: CalendarDays): Generator<number | "searched"> {
  const { kind, expr, timezone } = job.schedule;
  if (job.nextAt === null) return;
  const from = Math.max(job.nextAt, days.start) - 1;
  const plain = kind === "cron" ? plainTimes(expr) : null;
  const instantOf = plain && zones(timezone);
  if (plain && instantOf) {
    yield* plain.between(from, days.end, instantOf);
    return;
  }
  const read = times.read(job.schedule);
  if (!read.ok) return;
  const search = read.schedule.kind === "cron";
  for (let at = nextOf(times, read.schedule, job, from); at !== null && at < days.end;) {
    if (search) yield "searched";
    yield at;
    at = nextOf(times, read.schedule, job, at);
  }
}

function nextOf(times: Times, schedule: ParsedSchedule, { anchorAt }: Job, after: number): number | null {
  return times.next(schedule, after, anchorAt);
}
