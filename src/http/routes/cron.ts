/** Jobs over HTTP: make, read, change, remove them; pause, resume and run one; look at its runs; wake the assistant. */
import { Type } from "typebox";
import { MAX_CALENDAR_DAYS } from "../../automation/index.ts";
import { GatewayError } from "../../contracts/errors.ts";
import type { WireJobInput } from "../../contracts/wire.ts";
import { bodyOf, checked, checkedObject } from "../checked.ts";
import {
  addJob,
  askerOf,
  jobOf,
  JOB_CHANGE,
  listJobs,
  listRuns,
  NEW_JOB,
  previewSchedule,
  runJob,
  shownJob,
  updateJob,
  wake,
  WAKE,
} from "../cron-actions.ts";
import { PAGE_FIELDS, pageOf, queryValues } from "../paging.ts";
import {
  type Call,
  OPERATOR_GET,
  OPERATOR_POST,
  param,
  principalOf,
  type Route,
  SMALL_JSON,
  jsonOf,
} from "../route.ts";
import { ADMIN, READ } from "../access/key-reach.ts";
import type { HttpDeps } from "../types.ts";

const MAX_SCHEDULE_CHARS = 200;
const MAX_ZONE_CHARS = 64;
const closed = { additionalProperties: false } as const;

export function cronRoutes({ automation: { jobs, lookAhead } }: Pick<HttpDeps, "automation">): readonly Route[] {
  const yesNo = Type.Optional(Type.Union([Type.Literal("true"), Type.Literal("false")]));
  const ListQuery = checkedObject({ ...PAGE_FIELDS, failing: yesNo, planned: yesNo });
  const NewJob = bodyOf<"POST /api/cron/jobs">()(checked(Type.Unsafe<WireJobInput>(Type.Object(NEW_JOB, closed))));
  const Change = bodyOf<"PATCH /api/cron/jobs/:id">()(
    checked(Type.Unsafe<Partial<WireJobInput>>(Type.Object(JOB_CHANGE, closed))),
  );
  return [
    {
      ...OPERATOR_GET,
      path: "/api/cron/jobs",
      scope: READ,
      async handle(call) {
        const { failing = "false", planned, ...page } = await ListQuery.parse(queryValues(call.query));
        const isPlanned = planned === undefined ? undefined : planned === "true";
        const choice = { ...pageOf(page), failing: failing === "true", planned: isPlanned };
        return jsonOf<"GET /api/cron/jobs">(await listJobs(jobs, choice, principalOf(call)));
      },
    },
    {
      ...OPERATOR_POST,
      path: "/api/cron/jobs",
      scope: ADMIN,
      body: SMALL_JSON,
      handle: async (call) =>
        jsonOf<"POST /api/cron/jobs">(await addJob(jobs, await NewJob.parse(call.json), principalOf(call)), 201),
    },
    {
      ...OPERATOR_GET,
      path: "/api/cron/jobs/:id",
      scope: READ,
      async handle(call) {
        const job = await jobs.get(param(call, "id"), askerOf(principalOf(call)));
        if (job) return jsonOf<"GET /api/cron/jobs/:id">({ job: shownJob(job) });
        return jsonOf<"GET /api/cron/jobs/:id">({
          job: jobOf({ kind: "refused", code: "job_unknown", say: `There is no job called ${param(call, "id")}.` }),
        });
      },
    },
    {
      method: "PATCH",
      path: "/api/cron/jobs/:id",
      scope: ADMIN,
      auth: "operator",
      body: SMALL_JSON,
      handle: async (call) =>
        jsonOf<"PATCH /api/cron/jobs/:id">(
          await updateJob(jobs, param(call, "id"), await Change.parse(call.json), principalOf(call)),
        ),
    },
    {
      ...OPERATOR_POST,
      method: "DELETE",
      path: "/api/cron/jobs/:id",
      scope: ADMIN,
      handle: async (call) =>
        jsonOf<"DELETE /api/cron/jobs/:id">({
          job: jobOf(await jobs.remove(param(call, "id"), askerOf(principalOf(call)))),
        }),
    },
    ...(["pause", "resume"] as const).map((action) => ({
      ...OPERATOR_POST,
      path: `/api/cron/jobs/:id/${action}`,
      scope: ADMIN,
      handle: async (call: Call) =>
        jsonOf<`POST /api/cron/jobs/:id/${typeof action}`>({
          job: jobOf(await jobs[action](param(call, "id"), askerOf(principalOf(call)))),
        }),
    })),
    ...runRoutes(jobs),
    ...lookAheadRoutes(lookAhead),
  ];
}

/** What schedules will do. */
function lookAheadRoutes(lookAhead: HttpDeps["automation"]["lookAhead"]): readonly Route[] {
  const text = (maxLength: number) => Type.Optional(Type.String({ minLength: 1, maxLength }));
  const Preview = checkedObject({
    words: text(MAX_SCHEDULE_CHARS),
    kind: Type.Optional(Type.Unsafe<"cron" | "every" | "at">({ enum: ["cron", "every", "at"] })),
    expr: text(MAX_SCHEDULE_CHARS),
    timezone: text(MAX_ZONE_CHARS),
  });
  const Days = checkedObject({
    from: Type.String({ maxLength: MAX_ZONE_CHARS }),
    days: Type.Integer({ minimum: 1, maximum: MAX_CALENDAR_DAYS }),
    timezone: Type.String({ minLength: 1, maxLength: MAX_ZONE_CHARS }),
  });
  return [
    {
      ...OPERATOR_GET,
      path: "/api/cron/preview",
      scope: READ,
      async handle(call) {
        const { words, kind, expr, timezone } = await Preview.parse(queryValues(call.query));
        const zone = timezone === undefined ? {} : { timezone };
        if (words === undefined && (kind === undefined || expr === undefined))
          throw new GatewayError("bad_request", "no schedule", {
            say: "Give words, or the kind and expr of a schedule.",
          });
        const asked =
          words === undefined ? { schedule: { kind: kind ?? "at", expr: expr ?? "", ...zone } } : { words, ...zone };
        return jsonOf<"GET /api/cron/preview">(previewSchedule(lookAhead, asked, principalOf(call)));
      },
    },
    {
      ...OPERATOR_GET,
      path: "/api/cron/calendar",
      scope: READ,
      async handle(call) {
        return jsonOf<"GET /api/cron/calendar">(
          await lookAhead.calendar(await Days.parse(queryValues(call.query, ["days"]))),
        );
      },
    },
  ];
}

function runRoutes(jobs: HttpDeps["automation"]["jobs"]): readonly Route[] {
  const Wake = bodyOf<"POST /api/cron/wake">()(checkedObject(WAKE));
  return [
    {
      ...OPERATOR_POST,
      path: "/api/cron/jobs/:id/run",
      scope: ADMIN,
      handle: async (call) =>
        jsonOf<"POST /api/cron/jobs/:id/run">(await runJob(jobs, param(call, "id"), principalOf(call)), 202),
    },
    {
      ...OPERATOR_GET,
      path: "/api/cron/jobs/:id/runs",
      scope: READ,
      handle: async (call) =>
        jsonOf<"GET /api/cron/jobs/:id/runs">(
          await listRuns(jobs, param(call, "id"), await pageAsked(call), principalOf(call)),
        ),
    },
    {
      ...OPERATOR_POST,
      path: "/api/cron/wake",
      scope: ADMIN,
      body: SMALL_JSON,
      handle: async (call) =>
        jsonOf<"POST /api/cron/wake">(await wake(jobs, await Wake.parse(call.json), principalOf(call)), 202),
    },
    {
      ...OPERATOR_GET,
      path: "/api/cron/status",
      scope: READ,
      handle: async () => jsonOf<"GET /api/cron/status">(await jobs.status()),
    },
  ];
}

const Paging = checkedObject(PAGE_FIELDS);

async function pageAsked({ query }: Call) {
  return pageOf(await Paging.parse(queryValues(query)));
}
