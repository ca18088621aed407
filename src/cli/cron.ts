/** `pi-gw cron`: what is planned, make a job, stop one, look at what became of it. */
import { GatewayError } from "../contracts/errors.ts";
import { parseDuration } from "../kit/duration.ts";
import { hostZone } from "../kit/clock.ts";
import { visible, visibleLines } from "../observe/index.ts";
import { askGateway, printAnswer, printList, queryOf } from "./ask-gateway.ts";
import { type Fields, listOf, numberOf, recordOf, shortText, textOf } from "./read-value.ts";
import type { CliWorld, CommonFlags } from "./world.ts";

/** What a job may be told, when it is made and later. */
export interface CronFlags extends CommonFlags {
  readonly when?: string;
  readonly every?: string;
  readonly at?: string;
  readonly in?: string;
  readonly cron?: string;
  readonly timezone?: string | undefined;
  readonly agent?: string;
  readonly mode?: string;
  readonly delivery?: string;
  readonly catchUp?: string;
  readonly overlap?: string;
  readonly timeout?: string;
  readonly needs?: string;
  readonly once?: boolean;
}

export interface CronAddFlags extends CronFlags {
  readonly id?: string;
}

export type CronAction = "pause" | "resume" | "run";

const MAX_LISTED = 200;
const MAX_TASK_CHARS = 60;

export function listJobs(world: CliWorld, flags: CommonFlags & { readonly failing?: boolean }): Promise<number> {
  const [query, none] = flags.failing ? ["&failing=true", "No job fails."] : ["", "Nothing is planned."];
  return printList(world, flags, `/api/cron/jobs?limit=${MAX_LISTED}${query}`, {
    columns: [
      ["JOB", ({ id }) => textOf(id)],
      ["WHEN", ({ schedule }) => `${textOf(recordOf(schedule)["kind"])} ${textOf(recordOf(schedule)["expr"])}`],
      ["NEXT", nextText],
      ["TASK", ({ task }) => shortText(task, MAX_TASK_CHARS)],
    ],
    none,
  });
}

export async function addJob(world: CliWorld, words: readonly string[], flags: CronAddFlags): Promise<number> {
  const schedule = await whenSaid(world, flags);
  if (!schedule) throw wrong(SAY_WHEN);
  const body = { id: flags.id, ...givenBy(flags), schedule, task: words.join(" ") };
  return printAnswer(world, flags, { method: "POST", path: "/api/cron/jobs", body }, changedJob);
}

/** Only what is given changes. */
export async function updateJob(
  world: CliWorld,
  id: string,
  words: readonly string[],
  flags: CronFlags,
): Promise<number> {
  const schedule = await whenSaid(world, flags);
  const task = words.join(" ");
  const body = { ...givenBy(flags), ...(schedule ? { schedule } : {}), ...(task === "" ? {} : { task }) };
  if (Object.values(body).every((value) => value === undefined))
    throw wrong("Say what changes: another task, --every 30m, --delivery silent and so on.");
  return printAnswer(world, flags, { method: "PATCH", path: pathOf(id), body }, changedJob);
}

/** `--when` is read by the gateway, which knows the zone of the person: it answers with the schedule that is kept. */
async function whenSaid(world: CliWorld, flags: CronFlags): Promise<Fields | null> {
  if (flags.when === undefined) return scheduleOf(flags, world.clock.now());
  if (scheduleOf({ ...flags, timezone: undefined }, world.clock.now())) throw wrong(SAY_WHEN);
  const path = `/api/cron/preview?${queryOf({ words: flags.when, timezone: flags.timezone }).toString()}`;
  return recordOf((await askGateway(world, flags, (client, signal) => client.ask({ path }, signal)))["schedule"]);
}

/** What a schedule means: both ways to say it, and its next times. */
export function previewSchedule(world: CliWorld, words: readonly string[], flags: CronFlags): Promise<number> {
  const { kind, expr } = scheduleOf({ ...flags, timezone: undefined }, world.clock.now()) ?? {};
  const said = words.join(" ");
  if ((said === "") === (kind === undefined)) throw wrong("Give words, or one of --cron, --every and --at.");
  const query = queryOf({
    ...(kind === undefined ? { words: said } : { kind: textOf(kind), expr: textOf(expr) }),
    timezone: flags.timezone,
  });
  return printAnswer(world, flags, { path: `/api/cron/preview?${query.toString()}` }, previewText);
}

function previewText({ schedule, words, nextAt }: Fields): string {
  const { kind, expr, timezone } = recordOf(schedule);
  const zone = textOf(timezone) === "" ? "" : ` (${textOf(timezone)})`;
  const said = textOf(words) || "cannot be said in plain words";
  const times = listOf(nextAt).map((at) => `  ${new Date(numberOf(at)).toISOString()}`);
  return visibleLines([`${textOf(kind)} ${textOf(expr)}${zone}: ${said}`, ...times].join("\n"));
}

interface CalendarFlags extends CommonFlags {
  readonly days?: number;
  readonly timezone?: string;
}

/** Planned runs by day, from today on. */
export function showCalendar(
  world: CliWorld,
  { days = 7, timezone = hostZone(), ...flags }: CalendarFlags,
): Promise<number> {
  const from = new Date(world.clock.now()).toLocaleDateString("sv-SE", { timeZone: timezone });
  const query = queryOf({ from, days, timezone });
  return printAnswer(world, flags, { path: `/api/cron/calendar?${query.toString()}` }, (calendar) =>
    calendarText(calendar, timezone),
  );
}

function calendarText({ days, frequent, isPartial }: Fields, timeZone: string): string {
  const time = (at: unknown) =>
    new Date(numberOf(at)).toLocaleTimeString("en-GB", { timeZone, hour: "2-digit", minute: "2-digit" });
  const lines = listOf(days)
    .map(recordOf)
    .flatMap(({ date, runs }) => [
      textOf(date),
      ...listOf(runs).map((run) => `  ${time(recordOf(run)["at"])}  ${textOf(recordOf(run)["jobId"])}`),
    ]);
  const often = listOf(frequent).map(textOf).join(", ");
  return visibleLines(
    [
      ...(lines.length > 0 ? lines : ["No run is planned on these days."]),
      ...(often === "" ? [] : [`All the time: ${often}`]),
      ...(isPartial === true ? ["There are more jobs than fit here."] : []),
    ].join("\n"),
  );
}

/** One job, whole. */
export function showJob(world: CliWorld, id: string, flags: CommonFlags): Promise<number> {
  return printAnswer(world, flags, { path: pathOf(id) }, (answer) => {
    const job = recordOf(answer["job"]);
    const { kind, expr, timezone } = recordOf(job["schedule"]);
    const facts = [
      ["job", textOf(job["id"])],
      ["when", [kind, expr, timezone].map(textOf).filter(Boolean).join(" ")],
      ["next", nextText(job)],
      ["why", textOf(job["because"])],
      ["agent", textOf(job["agentId"])],
      ["mode", textOf(job["mode"])],
      ["delivery", textOf(job["delivery"])],
      ["failures", numberOf(job["failures"]) === 0 ? "" : String(numberOf(job["failures"]))],
      ["task", textOf(job["task"])],
    ] as const;
    const lines = facts.flatMap(([name, value]) => (value === "" ? [] : [`${name.padEnd(9)} ${value}`]));
    return visibleLines(lines.join("\n"));
  });
}

export function showCron(world: CliWorld, flags: CommonFlags): Promise<number> {
  return printAnswer(world, flags, { path: "/api/cron/status" }, statusText);
}

function statusText(status: Fields): string {
  if (status["enabled"] !== true) return "Jobs are switched off: cron.enabled is false.";
  const next = numberOf(status["nextAt"]);
  const due = next > 0 ? `the next one is due at ${new Date(next).toISOString()}` : "nothing is planned";
  return `Jobs are on; ${due}; ${numberOf(status["running"])} running.`;
}

function givenBy({ agent: agentId, mode, delivery, catchUp, overlap, timeout, needs, once }: CronFlags): Fields {
  const more = {
    ...(needs === undefined ? {} : { needs: needs.split(",").filter((name) => name !== "") }),
    ...(timeout === undefined ? {} : { timeoutMs: timeout }),
    ...(once ? { deleteAfterRun: true } : {}),
  };
  return { agentId, mode, delivery, catchUp, overlap, ...more };
}

export function actOnJob(world: CliWorld, action: CronAction, id: string, flags: CommonFlags): Promise<number> {
  const begun = () => "It begins now. pi-gw cron runs shows how it ends.";
  return printAnswer(
    world,
    flags,
    { method: "POST", path: `${pathOf(id)}/${action}` },
    action === "run" ? begun : changedJob,
  );
}

export function removeJob(world: CliWorld, id: string, flags: CommonFlags): Promise<number> {
  return printAnswer(world, flags, { method: "DELETE", path: pathOf(id) }, () => "Removed.");
}

export function showRuns(
  world: CliWorld,
  id: string,
  flags: CommonFlags & { readonly limit?: number },
): Promise<number> {
  const limit = Math.min(Math.max(1, flags.limit ?? 20), MAX_LISTED);
  return printList(world, flags, `${pathOf(id)}/runs?limit=${limit}`, {
    columns: [
      ["SLOT", ({ slot }) => new Date(numberOf(slot)).toISOString()],
      ["END", ({ status }) => textOf(status)],
      ["WHY", ({ reason }) => textOf(reason)],
    ],
    none: "It has not run yet.",
  });
}

export function wake(
  world: CliWorld,
  words: readonly string[],
  flags: CommonFlags & { readonly nextHeartbeat?: boolean },
): Promise<number> {
  const body = { text: words.join(" "), mode: flags.nextHeartbeat ? "next-heartbeat" : "now" };
  return printAnswer(world, flags, { method: "POST", path: "/api/cron/wake", body }, () => "The assistant is told.");
}

const SAY_WHEN =
  'Say when with one of --when "every weekday at 9", --every 30m, --in 20m, --at MOMENT, --cron "0 9 * * *".';

/** Null: no flag says when. */
function scheduleOf({ every, at, in: later, cron, timezone }: CronFlags, now: number): Fields | null {
  const ms = later === undefined ? undefined : parseDuration(later);
  if (ms === null) throw wrong(`"${later ?? ""}" is not a duration. Write one such as 20m, 2h or 1d.`);
  const chosen = [
    ...(every === undefined ? [] : [{ kind: "every", expr: every }]),
    ...(at === undefined ? [] : [{ kind: "at", expr: at }]),
    ...(ms === undefined ? [] : [{ kind: "at", expr: new Date(now + ms).toISOString() }]),
    ...(cron === undefined ? [] : [{ kind: "cron", expr: cron }]),
  ];
  const [schedule, second] = chosen;
  if (second || (!schedule && timezone !== undefined)) throw wrong(SAY_WHEN);
  if (!schedule) return null;
  return timezone === undefined ? schedule : { ...schedule, timezone };
}

function wrong(say: string): GatewayError {
  return new GatewayError("bad_schedule", say, { say });
}

function pathOf(id: string): string {
  return `/api/cron/jobs/${encodeURIComponent(id)}`;
}

function changedJob(answer: Fields): string {
  return jobLine(recordOf(answer["job"]));
}

function jobLine(job: Fields): string {
  const { kind, expr } = recordOf(job["schedule"]);
  const when = numberOf(job["nextAt"]) > 0 ? `next ${nextText(job)}` : nextText(job);
  const task = shortText(job["task"], MAX_TASK_CHARS);
  return visible(`${textOf(job["id"])}  ${textOf(kind)} ${textOf(expr)}  ${when}  ${task}`);
}

/** When it is due, or why it is not. */
function nextText({ nextAt, state }: Fields): string {
  const next = numberOf(nextAt);
  return next > 0 ? new Date(next).toISOString() : textOf(state);
}
