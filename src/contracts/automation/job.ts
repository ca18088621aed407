/** Work that begins by itself. A job has slots, the moments its schedule names; every slot gets exactly one row that says what became of it. */
import type { ChatAddress } from "../chat.ts";
import type { AgentId, Principal, Role, SessionKey, TurnId } from "../ids.ts";
import type { Listed, Page } from "../paging.ts";

/** As people write it. `cron`: 5 or 6 fields. `every`: "30m", counted from when the job was made. `at`: a moment, once. */
export interface Schedule {
  readonly kind: "cron" | "every" | "at";
  readonly expr: string;
  /** For `cron`, and for an `at` that names none. Without it: the zone of the machine for `cron`, UTC for `at`. */
  readonly timezone?: string;
}

export interface JobSpec {
  readonly id: string; // small letters, digits, dashes
  readonly schedule: Schedule;
  readonly task: string;
  readonly agentId: AgentId;
  /** `isolated`: each run has a session of its own. `main`: the task goes into the main session as an event. */
  readonly mode: "isolated" | "main";
  /** `announce`: retold in the main session. `direct`: the words as they are, to the chat. `silent`: only the run is noted. */
  readonly delivery: "announce" | "direct" | "silent";
  /** A place of `hooks.targets` that its words are posted to as well. */
  readonly webhook?: string | null;
  /** Tools it cannot do without: looked for before a model is asked. */
  readonly needs?: readonly string[];
  readonly deleteAfterRun: boolean;
  /** What to do about slots that passed while nobody could run them. `all`: up to `MAX_CATCH_UP` of them. */
  readonly catchUp: "skip" | "once" | "all";
  /** What to do when the one before is still running. */
  readonly overlap: "skip" | "queue" | "allow";
  /** Null: the agent's own limit. */
  readonly timeoutMs: number | null;
}

export const MAX_TASK_CHARS = 8_000;
export const MAX_NEEDS = 20;
export const MAX_TOOL_NAME_CHARS = 64;

/** Who made it decides who may change it: the file's jobs belong to the file. */
type JobSource = "config" | "person" | "agent";

export type JobState = "active" | "paused" | "disabled" | "done";

export interface Job extends JobSpec {
  readonly source: JobSource;
  /** For whom it works, with the role its maker had then; a run has the lesser of that and what the person has now. */
  readonly createdBy: Principal;
  readonly role: Role;
  /** Where its words go, and the conversation that is; null: wherever its person, or an owner, wrote last. */
  readonly to: ChatAddress | null;
  readonly sessionKey: SessionKey | null;
  readonly state: JobState;
  /** Why it is not active, for people. */
  readonly because: string | null;
  readonly createdAt: number;
  /** `every` counts from here. */
  readonly anchorAt: number;
  /** The next slot that has no row yet; null when there is none. */
  readonly nextAt: number | null;
  /** The zone in which `nextAt` was computed; absent: no cron expression, or computed before zones were kept. */
  readonly slotZone?: string;
  /** Failed runs since the last one that went well. */
  readonly failures: number;
  /** Grows with every change of what the job is. */
  readonly revision: number;
}

/** `waiting`: it will begin when the one before has ended. The rest are ends, except `running`. */
export type RunStatus = "running" | "waiting" | "ran" | "failed" | "skipped" | "missed";

export interface JobRun {
  readonly id: string;
  readonly jobId: string;
  readonly slot: number;
  readonly manual: boolean;
  readonly status: RunStatus;
  readonly reason: string | null;
  readonly attempt: number;
  readonly startedAt: number | null;
  readonly ms: number | null;
  readonly turnId: TurnId | null;
  /** When a failed run is tried once more; null: it is not. */
  readonly retryAt: number | null;
}

export interface NewRun {
  readonly id: string;
  readonly slot: number;
  readonly status: "running" | "waiting" | "skipped" | "missed";
  readonly reason: string | null;
}

export interface RunEnd {
  readonly status: "ran" | "failed" | "skipped";
  readonly reason: string | null;
  readonly ms: number;
  readonly turnId: TurnId | null;
  readonly retryAt: number | null;
  /** The job as it was when this end was decided; null: it was gone. */
  readonly seen: Pick<Job, "revision" | "failures" | "state" | "nextAt"> | null;
  /** What the job is after it. */
  readonly job: { readonly failures: number; readonly state: JobState; readonly because: string | null };
  /** The job is taken away with this end. */
  readonly remove: boolean;
  /** What the owner has to be told about it, kept with this end until it was told. */
  readonly alert: AlertKind | null;
  readonly at: number;
}

export type AlertKind = "failing" | "disabled" | "recovered";

/** Something about a job that the owner has to be told. It outlives the job. */
export interface JobAlert {
  /** Unique for ever: told twice under it, it is told once. */
  readonly id: string;
  readonly jobId: string;
  readonly kind: AlertKind;
  /** Failed runs in a row, this one included; before it, where it works again. */
  readonly failures: number;
  readonly because: string | null;
  readonly at: number;
}

export interface JobStore {
  /** False: there is a job of this name. */
  add(job: Job): Promise<boolean>;
  /** Replaces what the job is, if it still is what the caller saw. `rows`: slots that passed before the change, written with it. */
  change(job: Job, seenRevision: number, rows?: readonly NewRun[]): Promise<boolean>;
  remove(id: string): Promise<boolean>;
  get(id: string): Promise<Job | null>;
  list(filter: JobFilter, page: Page): Promise<Listed<Job>>;
  count(filter: { readonly createdBy: Principal; readonly source: JobSource }): Promise<number>;
  /** When there is something to do next; null: nothing at all. Changes nothing. */
  nextDueAt(): Promise<number | null>;
  /** Active jobs whose next slot is not later than `now`, oldest slot first. Changes nothing. */
  due(now: number, limit: number): Promise<readonly Job[]>;
  /** Active cron jobs without a zone of their own whose next slot was computed in another zone than this. Changes nothing. */
  inOtherZone(zone: string, limit: number): Promise<readonly Job[]>;
  /** One transaction for all. A job that changed since it was read is left alone. */
  moveSlots(moves: readonly SlotMove[]): Promise<void>;
  /**
   * One transaction for all: the rows of each job's slots, then its next slot. A job that changed since it was read, or a slot that has a
   * row, is left alone: returns the ids of the runs that were really written.
   */
  fire(fires: readonly JobFire[]): Promise<ReadonlySet<string>>;
  /** A run nobody scheduled. False: there is one for this very moment. */
  addManualRun(run: { readonly id: string; readonly jobId: string; readonly slot: number }): Promise<boolean>;
  /** A run that was waiting, or is tried once more, has begun. False: it is not there any more, or begun already. */
  begin(runId: string, from: "waiting" | "failed", at: number): Promise<boolean>;
  /** `over`: it has an end already. `changed`: the job is not what was seen any more, nothing was written, decide again. */
  end(runId: string, end: RunEnd): Promise<"ended" | "over" | "changed">;
  /** Runs that have begun and not ended, in no particular order. */
  running(): Promise<readonly JobRun[]>;
  busy(jobId: string): Promise<{ readonly running: number; readonly waiting: number }>;
  /** Runs that waited for the one before them, which has ended. */
  freed(): Promise<readonly JobRun[]>;
  /** Failed runs whose time for another try has come. */
  retries(now: number, limit: number): Promise<readonly JobRun[]>;
  run(id: string): Promise<JobRun | null>;
  runs(jobId: string, page: Page): Promise<Listed<JobRun>>;
  /** What the owner was not told yet, oldest first. */
  alerts(limit: number): Promise<readonly JobAlert[]>;
  /** It is on its way to the owner. */
  alertTold(id: string): Promise<void>;
  /** Drops ended runs older than `before`, keeping the newest of each job. A few jobs in one go: there may be ten thousand. */
  prune(rule: PruneRule): Promise<Pruned>;
}

/** `failing`: only jobs whose last run failed. `planned`: only active jobs with a next slot, the soonest first; false: only the others. */
export interface JobFilter {
  readonly source?: JobSource;
  readonly createdBy?: Principal;
  readonly failing?: boolean;
  readonly planned?: boolean | undefined;
}

export interface PruneRule {
  readonly before: number;
  readonly keepPerJob: number;
  /** Where the last go ended; null: from the beginning. */
  readonly from: string | null;
}

export interface Pruned {
  readonly dropped: number;
  /** Where to go on; null: that was all. */
  readonly next: string | null;
}

/** The next slot of a job, computed again in another time zone. */
interface SlotMove {
  readonly jobId: string;
  readonly seenRevision: number;
  readonly seenNextAt: number | null;
  readonly nextAt: number | null;
  readonly slotZone: string;
}

export interface JobFire {
  readonly jobId: string;
  readonly seenRevision: number;
  readonly seenNextAt: number;
  readonly rows: readonly NewRun[];
  readonly nextAt: number | null;
  readonly slotZone?: string;
  readonly state: JobState;
  readonly at: number;
}
