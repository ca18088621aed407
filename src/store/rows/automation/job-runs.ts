/** One row for each slot of a job, and for each time somebody ran it by hand. An end is written once. */
import { sql as raw } from "kysely";
import type { JobRun, JobStore, Pruned, PruneRule, RunEnd } from "../../../contracts/automation/job.ts";
import type { InstanceId } from "../../../contracts/ids.ts";
import type { JobRunTable, JobTable } from "../../job-schema.ts";
import type { Builder, Params, Sql } from "../../sql.ts";
import type { Steps } from "../../steps.ts";
import { fromColumns } from "../named-columns.ts";
import { numberBefore, pageOf, pageSize } from "../paging.ts";
import type { RowDeps } from "../row-deps.ts";
import { createAlertQueries, toAlert } from "./job-alerts.ts";
import type { JobQueries } from "./jobs.ts";

type RunDoors = Pick<
  JobStore,
  | ("addManualRun" | "begin" | "end" | "running" | "busy" | "freed" | "retries" | "run" | "runs" | "prune")
  | ("alerts" | "alertTold")
>;

export function createJobRuns({ sql, read, write, mask }: RowDeps, queries: RunQueries, jobs: JobQueries): RunDoors {
  const alerts = createAlertQueries(sql);
  return {
    addManualRun: ({ id, jobId, slot }) =>
      write(function* () {
        const row = { id, job_id: jobId, slot, manual: 1 as const, status: "running" as const, reason: null };
        return (
          (yield* queries.add.run({ ...row, attempt: 1, started_at: slot, written_at: slot, node: queries.me })) > 0
        );
      }),
    begin: (id, from, at) =>
      write(function* () {
        return (yield* queries.begin.run({ id, from, at, more: from === "failed" ? 1 : 0, node: queries.me })) > 0;
      }),
    end: (id, end) =>
      write(function* () {
        const { status, ms, turnId, retryAt, job, remove, alert, at } = end;
        const reason = end.reason === null ? null : mask(end.reason);
        const run = yield* queries.get.first({ id });
        const jobId = run?.job_id ?? "";
        if (!isStill(yield* jobs.get.first({ id: jobId }), end.seen)) return "changed";
        const written = (yield* queries.end.run({ id, status, reason, ms, turn_id: turnId, retry_at: retryAt })) > 0;
        if (!written) return "over";
        if (alert) {
          const about = { id: `${id}-${run?.attempt ?? 0}`, job_id: jobId, kind: alert, failures: job.failures };
          yield* alerts.add.run({ ...about, because: reason, at });
        }
        if (remove) yield* jobs.remove.run({ id: jobId });
        else yield* jobs.settle.run({ id: jobId, ...job });
        return "ended";
      }),
    running: () =>
      read(function* () {
        return (yield* queries.running.all({ me: queries.me })).map(toRun);
      }),
    busy: (jobId) =>
      read(function* () {
        const running = (yield* queries.runningOf.first({ job_id: jobId }))?.n ?? 0;
        return { running, waiting: (yield* queries.waitingOf.first({ job_id: jobId }))?.n ?? 0 };
      }),
    freed: () =>
      read(function* () {
        return (yield* queries.freed.all({})).map(toRun);
      }),
    retries: (now, limit) =>
      read(function* () {
        return (yield* queries.retries.all({ now, limit })).map(toRun);
      }),
    run: (id) =>
      read(function* () {
        const row = yield* queries.get.first({ id });
        return row && toRun(row);
      }),
    runs: (jobId, page) =>
      read(function* () {
        const limit = pageSize(page);
        const rows = yield* queries.ofJob.all({ job_id: jobId, before: numberBefore(page), limit: limit + 1 });
        return pageOf(rows, limit, toRun, ({ slot }) => [slot]);
      }),
    alerts: (limit) =>
      read(function* () {
        return (yield* alerts.list.all({ limit })).map(toAlert);
      }),
    alertTold: (id) =>
      write(function* () {
        yield* alerts.drop.run({ id });
      }),
    prune: (rule) => write(() => pruneSome(queries, rule), "with the next"),
  };
}

/** Another run of it may have ended meanwhile, or a person have paused it: what was decided before does not hold then. */
function isStill(job: JobTable | null, seen: RunEnd["seen"]): boolean {
  if (!job || !seen) return !job && !seen;
  const { revision, failures, state, nextAt } = seen;
  return job.revision === revision && job.failures === failures && job.state === state && job.next_at === nextAt;
}

/** Jobs whose old runs are looked for in one go: a millisecond or two. */
const PRUNED_AT_ONCE = 100;

/** Job by job, each by its own part of the index: what is kept is not looked at. */
function* pruneSome(queries: RunQueries, { before, keepPerJob, from }: PruneRule): Steps<Pruned> {
  let dropped = 0;
  let last = from ?? "";
  for (let count = 0; count < PRUNED_AT_ONCE; count++) {
    const jobId = (yield* queries.jobAfter.first({ job_id: last }))?.job_id;
    if (jobId === undefined) return { dropped, next: null };
    const oldestKept = (yield* queries.nthNewest.first({ job_id: jobId, newer: keepPerJob - 1 }))?.slot;
    // no row is written before its slot has come, so what was written before then has its slot before then
    const below = Math.min(oldestKept ?? -Infinity, before);
    if (below > -Infinity) dropped += yield* queries.dropOld.run({ job_id: jobId, below, before });
    last = jobId;
  }
  return { dropped, next: last };
}

export type RunQueries = ReturnType<typeof createRunQueries>;

type NewRunColumns = Omit<JobRunTable, "seq" | "ms" | "turn_id" | "retry_at">;

export function createRunQueries({ sql, instanceId: me }: RowDeps) {
  return { ...writing(sql), ...reading(sql), me };
}

interface Begin {
  readonly id: string;
  readonly from: JobRunTable["status"];
  readonly at: number;
  readonly more: number;
  readonly node: InstanceId;
}

function writing(sql: Sql) {
  return {
    add: sql.prepare((db, p: Params<NewRunColumns>) =>
      db
        .insertInto("job_runs")
        .values(
          p.row("id", "job_id", "slot", "manual", "status", "reason", "attempt", "started_at", "written_at", "node"),
        )
        .onConflict((conflict) => conflict.doNothing()),
    ),
    forget: sql.prepare((db, p: Params<{ job_id: string }>) =>
      db.deleteFrom("job_runs").where("job_id", "=", p("job_id")),
    ),
    dropOld: sql.prepare((db, p: Params<{ job_id: string; below: number; before: number }>) =>
      db
        .deleteFrom("job_runs")
        .where("job_id", "=", p("job_id"))
        .where("slot", "<", p("below"))
        .where("written_at", "<", p("before"))
        .where(raw<boolean>`status not in ('running', 'waiting')`)
        .where("retry_at", "is", null),
    ),
    dropRetries: sql.prepare((db, p: Params<{ job_id: string }>) =>
      db
        .updateTable("job_runs")
        .set({ retry_at: null })
        .where("job_id", "=", p("job_id"))
        .where("retry_at", "is not", null),
    ),
    begin: sql.prepare((db, p: Params<Begin>) =>
      db
        .updateTable("job_runs")
        .set((eb) => ({
          status: "running",
          reason: null,
          retry_at: null,
          ms: null,
          started_at: p("at"),
          attempt: eb("attempt", "+", p("more")),
          node: p("node"),
        }))
        .where("id", "=", p("id"))
        .where("status", "=", p("from")),
    ),
    end: sql.prepare((db, p: Params<Pick<JobRunTable, "id" | "status" | "reason" | "ms" | "turn_id" | "retry_at">>) =>
      db
        .updateTable("job_runs")
        .set(p.row("status", "reason", "ms", "turn_id", "retry_at"))
        .where("id", "=", p("id"))
        .where("status", "=", raw.lit("running")),
    ),
  };
}

function reading(sql: Sql) {
  return {
    get: sql.prepare((db, p: Params<{ id: string }>) =>
      db.selectFrom("job_runs").selectAll().where("id", "=", p("id")),
    ),
    running: sql.prepare((db, p: Params<{ me: InstanceId }>) =>
      db
        .selectFrom("job_runs")
        .selectAll()
        .where("status", "=", raw.lit("running"))
        .where("node", "=", p("me"))
        .orderBy("job_id"),
    ),
    jobAfter: sql.prepare((db, p: Params<{ job_id: string }>) =>
      db.selectFrom("job_runs").select("job_id").where("job_id", ">", p("job_id")).orderBy("job_id").limit(1),
    ),
    nthNewest: sql.prepare((db, p: Params<{ job_id: string; newer: number }>) =>
      db
        .selectFrom("job_runs")
        .select("slot")
        .where("job_id", "=", p("job_id"))
        .orderBy("slot", "desc")
        .limit(1)
        .offset(p("newer")),
    ),
    runningOf: sql.prepare((db, p: Params<{ job_id: string }>) => countOf(db, p("job_id"), "running")),
    waitingOf: sql.prepare((db, p: Params<{ job_id: string }>) => countOf(db, p("job_id"), "waiting")),
    freed: sql.prepare((db) =>
      db
        .selectFrom("job_runs")
        .selectAll()
        .where("status", "=", raw.lit("waiting"))
        .where(({ not, exists, selectFrom }) =>
          not(
            exists(
              selectFrom("job_runs as other")
                .select("other.id")
                .whereRef("other.job_id", "=", "job_runs.job_id")
                .where("other.status", "=", raw.lit("running")),
            ),
          ),
        )
        .orderBy("job_id"),
    ),
    firstRetry: sql.prepare((db) =>
      db.selectFrom("job_runs").select("retry_at").where("retry_at", "is not", null).orderBy("retry_at").limit(1),
    ),
    retries: sql.prepare((db, p: Params<{ now: number; limit: number }>) =>
      db.selectFrom("job_runs").selectAll().where("retry_at", "<=", p("now")).orderBy("retry_at").limit(p("limit")),
    ),
    ofJob: sql.prepare((db, p: Params<{ job_id: string; before: number; limit: number }>) =>
      db
        .selectFrom("job_runs")
        .selectAll()
        .where("job_id", "=", p("job_id"))
        .where("slot", "<", p("before"))
        .orderBy("slot", "desc")
        .orderBy("manual", "desc")
        .limit(p("limit")),
    ),
  };
}

/** The state is part of the statement: each has an index of its own. */
function countOf(db: Builder, jobId: string, status: "running" | "waiting") {
  return db
    .selectFrom("job_runs")
    .select((eb) => eb.fn.countAll<number>().as("n"))
    .where("job_id", "=", jobId)
    .where("status", "=", raw.lit(status));
}

const SHOWN = [
  ...["id", "job_id", "slot", "status", "reason", "attempt", "started_at", "ms", "turn_id", "retry_at"],
] as const satisfies readonly (keyof JobRunTable)[];

function toRun(row: Omit<JobRunTable, "seq">): JobRun {
  return { ...fromColumns(SHOWN, row), manual: row.manual === 1 };
}
