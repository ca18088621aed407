/** What people, programs and agents may do with jobs: the same rules whoever asks, over whichever way. */
import type { ChatAddress } from "../chat.ts";
import type { AgentId, Principal, Role, SessionKey } from "../ids.ts";
import type { Listed, Page } from "../paging.ts";
import type { Job, JobRun, JobSpec, Schedule } from "./job.ts";

export interface Jobs {
  add(input: JobInput, maker: Maker): Promise<JobAnswer>;
  /** Only what is given changes; a new schedule counts from now. */
  update(id: string, change: Partial<Omit<JobInput, "id">>, who: Asker): Promise<JobAnswer>;
  remove(id: string, who: Asker): Promise<JobAnswer>;
  /** While it is paused a job has no slots; when it goes on, it does so with the next one from then. */
  pause(id: string, who: Asker): Promise<JobAnswer>;
  resume(id: string, who: Asker): Promise<JobAnswer>;
  /** `at`: the moment it was asked for; asked twice for one moment it runs once. Default: now. */
  run(id: string, who: Asker, at?: number): Promise<JobAnswer & { readonly run?: JobRun }>;
  get(id: string, who: Asker): Promise<Job | null>;
  list(page: Page & JobChoice, who: Asker): Promise<Listed<Job>>;
  /** Null: there is no such job for this asker. */
  runs(id: string, page: Page, who: Asker): Promise<Listed<JobRun> | null>;
}

export interface JobChoice {
  /** Only those whose last run failed. */
  readonly failing?: boolean;
  /** true: only those with a next run, the soonest first. false: only those without one. Left out: all, by id. */
  readonly planned?: boolean | undefined;
}

/** What is left out has a default. */
export interface JobInput extends Partial<Omit<JobSpec, "schedule" | "task">> {
  readonly schedule: Schedule;
  readonly task: string;
  readonly paused?: boolean;
}

export interface Asker {
  readonly principal: Principal;
  readonly role: Role;
}

export interface Maker extends Asker {
  readonly source: "person" | "agent";
  /** Where its words go: the chat in which it was made; null where it was made in none. */
  readonly to: ChatAddress | null;
  readonly sessionKey: SessionKey | null;
  readonly agentId: AgentId;
}

export type JobAnswer =
  | { readonly kind: "ok"; readonly job: Job }
  | { readonly kind: "refused"; readonly code: JobRefusal; readonly say: string };

export type JobRefusal = "bad_schedule" | "bad_job" | "job_exists" | "job_unknown" | "not_allowed" | "too_many_jobs";

/** A schedule in plain words, or as it is kept. */
export type ScheduleQuestion = { readonly words: string; readonly timezone?: string } | { readonly schedule: Schedule };

export interface SchedulePreview {
  readonly schedule: Schedule;
  /** Null: it cannot be said in plain words. */
  readonly words: string | null;
  /** The next times, up to five. */
  readonly nextAt: readonly number[];
}

export type ScheduleAnswer =
  | ({ readonly kind: "ok" } & SchedulePreview)
  | { readonly kind: "refused"; readonly code: JobRefusal; readonly say: string };

/** Days as a calendar shows them: from midnight to midnight in one zone. */
export interface CalendarRange {
  /** The first day, such as 2026-11-01. */
  readonly from: string;
  readonly days: number;
  readonly timezone: string;
}

export interface CalendarRun {
  readonly jobId: string;
  readonly at: number;
}

export interface JobCalendar {
  /** Planned runs from now on, by day; days without any are left out. */
  readonly days: readonly { readonly date: string; readonly runs: readonly CalendarRun[] }[];
  /** Jobs that run too often for a calendar. */
  readonly frequent: readonly string[];
  /** There are more jobs than were looked at. */
  readonly isPartial: boolean;
}

/** What schedules will do. Changes nothing. */
export interface LookAhead {
  preview(asked: ScheduleQuestion, who: Asker): ScheduleAnswer;
  /** Throws GatewayError `bad_request` for days that are none. */
  calendar(range: CalendarRange): Promise<JobCalendar>;
}

/** Everything about jobs that people, programs and agents can ask for: the same behind every way in. */
export interface JobsApi extends Jobs {
  /** Puts words into a conversation, null: the main one, and begins a turn for them now or leaves them to the next. */
  wake(words: WakeText, who: Asker & { readonly sessionKey: SessionKey | null }): Promise<WakeAnswer>;
  status(): Promise<JobsStatus>;
}

/** News for the main conversation of the owner, from a part of the gateway that `source` names: `plugin build`. */
export type TellMain = (source: string, words: WakeText) => Promise<WakeAnswer>;

export interface WakeText {
  readonly text: string;
  readonly mode: "now" | "next-heartbeat";
}

export type WakeAnswer =
  { readonly kind: "ok"; readonly sessionKey: SessionKey } | { readonly kind: "refused"; readonly say: string };

export interface JobsStatus {
  readonly enabled: boolean;
  /** When there is something to do next; null: nothing is planned. */
  readonly nextAt: number | null;
  /** Runs that have begun, the ones that stand in line included. */
  readonly running: number;
}
