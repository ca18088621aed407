/** Jobs and their slots. What is read changes nothing; a slot is written and the next one named in the same transaction. */
import { sql as raw } from "kysely";
import type { Job, JobFilter, JobFire, JobStore, NewRun } from "../../../contracts/automation/job.ts";
import type { Page } from "../../../contracts/paging.ts";
import type { JobTable } from "../../job-schema.ts";
import type { Builder, Params } from "../../sql.ts";
import type { Steps } from "../../steps.ts";
import { fromAddressColumns, toAddressColumns } from "../codec.ts";
import { fromColumns, toColumns } from "../named-columns.ts";
import { decodeCursor, pageOf, pageSize } from "../paging.ts";
import type { RowDeps } from "../row-deps.ts";
import { createJobRuns, createRunQueries, type RunQueries } from "./job-runs.ts";

export function createJobs(deps: RowDeps): JobStore {
  const { sql, read, write, clock } = deps;
  const queries = createJobQueries(deps);
  const runQueries = createRunQueries(deps);
  const slots = createSlots(deps, queries, runQueries);

  return {
    add: (job) =>
      write(function* () {
        return (yield* queries.add.run(toJobColumns(job))) > 0;
      }),
    change: (job, seenRevision, rows = []) =>
      write(function* () {
        const seen = yield* queries.get.first({ id: job.id });
        if (seen?.revision !== seenRevision) return false;
        yield* addRows(runQueries, { jobId: job.id, rows, at: clock.now() });
        yield* queries.replace.run(toJobColumns({ ...job, revision: seenRevision + 1 }));
        if (job.state !== "active") yield* runQueries.dropRetries.run({ job_id: job.id });
        return true;
      }),
    remove: (id) =>
      write(function* () {
        yield* runQueries.forget.run({ job_id: id });
        return (yield* queries.remove.run({ id })) > 0;
      }),
    get: (id) =>
      read(function* () {
        const row = yield* queries.get.first({ id });
        return row && toJob(row);
      }),
    list: (filter, page) =>
      read(function* () {
        const limit = pageSize(page);
        if (filter.planned) {
          const rows = yield* sql.all((db) => plannedJobs(db, filter, { ...page, limit }));
          return pageOf(rows, limit, toJob, ({ next_at, id }) => [next_at ?? 0, id]);
        }
        const after = page.cursor === undefined ? "" : String(decodeCursor(page.cursor, ["string"])[0]);
        const rows = yield* sql.all((db) => {
          let query = db.selectFrom("jobs").selectAll().where("id", ">", after).orderBy("id");
          if (filter.source !== undefined) query = query.where("source", "=", raw.lit(filter.source)); // as the index has it
          if (filter.failing) query = query.where("failures", ">", 0);
          if (filter.createdBy !== undefined) query = query.where("created_by", "=", filter.createdBy);
          if (filter.planned === false)
            query = query.where(({ or, eb }) => or([eb("state", "!=", "active"), eb("next_at", "is", null)]));
          return query.limit(limit + 1);
        });
        return pageOf(rows, limit, toJob, ({ id }) => [id]);
      }),
    count: (filter) =>
      read(function* () {
        return (yield* queries.count.first({ created_by: filter.createdBy, source: filter.source }))?.n ?? 0;
      }),
    nextDueAt: slots.nextDueAt,
    due: slots.due,
    inOtherZone: slots.inOtherZone,
    moveSlots: slots.moveSlots,
    fire: slots.fire,
    ...createJobRuns(deps, runQueries, queries),
  };
}

/** By the index that the engine looks for due jobs with. */
function plannedJobs(db: Builder, { failing, createdBy, source }: JobFilter, { cursor, limit }: Page) {
  const [after, id] = cursor === undefined ? [0, ""] : decodeCursor(cursor, ["number", "string"]);
  let query = db
    .selectFrom("jobs")
    .selectAll()
    .where("state", "=", raw.lit("active"))
    .where("next_at", "is not", null)
    .where("next_at", ">=", Number(after))
    .where(({ or, eb }) => or([eb("next_at", ">", Number(after)), eb("id", ">", String(id))]));
  if (failing) query = query.where("failures", ">", 0);
  if (createdBy !== undefined) query = query.where("created_by", "=", createdBy);
  if (source !== undefined) query = query.where("source", "=", raw.lit(source));
  return query
    .orderBy("next_at")
    .orderBy("id")
    .limit(limit + 1);
}

type SlotDoors = Pick<JobStore, "nextDueAt" | "due" | "inOtherZone" | "moveSlots" | "fire">;

function createSlots({ read, write }: RowDeps, queries: JobQueries, runQueries: RunQueries): SlotDoors {
  return {
    nextDueAt: () =>
      read(function* () {
        const moments = [
          (yield* queries.firstDue.first({}))?.next_at,
          (yield* runQueries.firstRetry.first({}))?.retry_at,
        ];
        const known = moments.filter((moment) => typeof moment === "number");
        return known.length === 0 ? null : Math.min(...known);
      }),
    due: (now, limit) =>
      read(function* () {
        return (yield* queries.due.all({ now, limit })).map(toJob);
      }),
    inOtherZone: (zone, limit) =>
      read(function* () {
        const below = yield* queries.zonesBelow.all({ zone, limit });
        const above = yield* queries.zonesAbove.all({ zone, limit: limit - below.length });
        return [...below, ...above].map(toJob);
      }),
    moveSlots: (moves) =>
      write(function* () {
        for (const { jobId, seenRevision, seenNextAt, nextAt, slotZone } of moves) {
          const seen = yield* queries.get.first({ id: jobId });
          if (seen?.revision !== seenRevision || seen.next_at !== seenNextAt) continue;
          yield* queries.advance.run({ id: jobId, next_at: nextAt, slot_zone: slotZone, state: seen.state });
        }
      }),
    fire: (fires) =>
      write(function* () {
        const written = new Set<string>();
        for (const fire of fires) for (const id of yield* fireOne(queries, runQueries, fire)) written.add(id);
        return written;
      }),
  };
}

/** The rows first, then the next slot: a job can never be past a slot that has no row. */
function* fireOne(queries: JobQueries, runs: RunQueries, fire: JobFire): Steps<readonly string[]> {
  const seen = yield* queries.get.first({ id: fire.jobId });
  if (seen?.revision !== fire.seenRevision || seen.next_at !== fire.seenNextAt) return [];
  const written = yield* addRows(runs, fire);
  if (written.some(({ status }) => status === "running")) yield* runs.dropRetries.run({ job_id: fire.jobId }); // the newer slot stands for them
  yield* queries.advance.run({
    id: fire.jobId,
    next_at: fire.nextAt,
    state: fire.state,
    slot_zone: fire.slotZone ?? null,
  });
  return written.map(({ id }) => id);
}

/** Returns those that were really written: a slot has one row. */
function* addRows(
  runs: RunQueries,
  { jobId, rows, at }: { readonly jobId: string; readonly rows: readonly NewRun[]; readonly at: number },
): Steps<readonly NewRun[]> {
  const written: NewRun[] = [];
  for (const row of rows) {
    const { id, slot, status, reason } = row;
    const started_at = status === "running" ? at : null;
    const run = {
      id,
      job_id: jobId,
      slot,
      manual: 0 as const,
      status,
      reason,
      attempt: 1,
      started_at,
      written_at: at,
      node: runs.me,
    };
    if ((yield* runs.add.run(run)) > 0) written.push(row);
  }
  return written;
}

export type JobQueries = ReturnType<typeof createJobQueries>;

function createJobQueries({ sql }: RowDeps) {
  return {
    add: sql.prepare((db, p: Params<JobTable>) =>
      db
        .insertInto("jobs")
        .values(p.row(...COLUMNS))
        .onConflict((conflict) => conflict.column("id").doNothing()),
    ),
    replace: sql.prepare((db, p: Params<JobTable>) =>
      db
        .updateTable("jobs")
        .set(p.row(...COLUMNS))
        .where("id", "=", p("id")),
    ),
    remove: sql.prepare((db, p: Params<{ id: string }>) => db.deleteFrom("jobs").where("id", "=", p("id"))),
    get: sql.prepare((db, p: Params<{ id: string }>) => db.selectFrom("jobs").selectAll().where("id", "=", p("id"))),
    count: sql.prepare((db, p: Params<Pick<JobTable, "created_by" | "source">>) =>
      db
        .selectFrom("jobs")
        .select((eb) => eb.fn.countAll<number>().as("n"))
        .where("created_by", "=", p("created_by"))
        .where("source", "=", p("source")),
    ),
    firstDue: sql.prepare((db) =>
      db
        .selectFrom("jobs")
        .select("next_at")
        .where("state", "=", raw.lit("active"))
        .where("next_at", "is not", null)
        .orderBy("next_at")
        .limit(1),
    ),
    due: sql.prepare((db, p: Params<{ now: number; limit: number }>) =>
      db
        .selectFrom("jobs")
        .selectAll()
        .where("state", "=", raw.lit("active"))
        .where("next_at", "<=", p("now"))
        .orderBy("next_at")
        .orderBy("id")
        .limit(p("limit")),
    ),
    zonesBelow: sql.prepare((db, p: Params<{ zone: string; limit: number }>) =>
      ofHostZone(db).where("slot_zone", "<", p("zone")).limit(p("limit")),
    ),
    zonesAbove: sql.prepare((db, p: Params<{ zone: string; limit: number }>) =>
      ofHostZone(db).where("slot_zone", ">", p("zone")).limit(p("limit")),
    ),
    advance: sql.prepare((db, p: Params<Pick<JobTable, "id" | "next_at" | "slot_zone" | "state">>) =>
      db
        .updateTable("jobs")
        .set(p.row("next_at", "slot_zone", "state"))
        .where("id", "=", p("id")),
    ),
    settle: sql.prepare((db, p: Params<Pick<JobTable, "id" | "failures" | "state" | "because">>) =>
      db
        .updateTable("jobs")
        .set(p.row("failures", "state", "because"))
        .where("id", "=", p("id")),
    ),
  };
}

/** Jobs whose slots follow the zone of the machine; the conditions are those of the index. */
function ofHostZone(db: Builder) {
  return db
    .selectFrom("jobs")
    .selectAll()
    .where("state", "=", raw.lit("active"))
    .where("kind", "=", raw.lit("cron"))
    .where("timezone", "is", null)
    .where("slot_zone", "is not", null);
}

/** How a job without a chat of its own is written. */
const NOWHERE = { channel: "", account: "", chat: "" };

/** Those that a job has under the same name. */
const PLAIN = [
  ...["id", "source", "created_by", "role", "agent_id", "session_key", "mode", "delivery", "catch_up", "overlap"],
  ...["timeout_ms", "state", "because", "created_at", "anchor_at", "next_at", "failures", "revision", "task"],
] as const satisfies readonly (keyof JobTable)[];
const COLUMNS = [
  ...PLAIN,
  ...(["channel", "account", "chat", "thread", "kind", "expr", "timezone"] as const),
  ...(["delete_after_run", "webhook", "needs", "slot_zone"] as const),
];

function toJobColumns(job: Job): JobTable {
  const { channel, account, chat, thread } = toAddressColumns(job.to ?? NOWHERE);
  return {
    ...toColumns(PLAIN, job),
    channel,
    account,
    chat,
    thread,
    webhook: job.webhook ?? null,
    needs: job.needs?.length ? JSON.stringify(job.needs) : null,
    kind: job.schedule.kind,
    expr: job.schedule.expr,
    timezone: job.schedule.timezone ?? null,
    delete_after_run: job.deleteAfterRun ? 1 : 0,
    slot_zone: job.slotZone ?? null,
  };
}

function toJob(row: JobTable): Job {
  const { kind, expr, timezone } = row;
  return {
    ...fromColumns(PLAIN, row),
    schedule: timezone === null ? { kind, expr } : { kind, expr, timezone },
    to: row.channel === "" ? null : fromAddressColumns(row),
    deleteAfterRun: row.delete_after_run === 1,
    ...(row.webhook === null ? {} : { webhook: row.webhook }),
    ...(row.needs === null ? {} : { needs: JSON.parse(row.needs) as string[] }), // written by this file alone
    ...(row.slot_zone === null ? {} : { slotZone: row.slot_zone }),
  };
}
