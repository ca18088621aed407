/** Jobs over HTTP: make, read, change, remove them; pause, resume and run one; look at its runs; wake the assistant. */
import { Type } from "typebox";
import type { Principal } from "../../contracts/ids.ts";
import type { WireJobInput } from "../../contracts/wire.ts";
import { checked } from "../checked.ts";
import { MAX_PAGE, pageOf } from "../chat/session-actions.ts";
import { type Call, json, NO_BODY, type Route, SMALL_JSON } from "../route.ts";
import type { HttpDeps } from "../types.ts";
import {
  addJob,
  askerOf,
  jobOf,
  JOB_CHANGE,
  listJobs,
  listRuns,
  NEW_JOB,
  runJob,
  shownJob,
  updateJob,
  wake,
} from "../cron-actions.ts";

const closed = { additionalProperties: false } as const;

export function cronRoutes({ jobs }: Pick<HttpDeps, "jobs">): readonly Route[] {
  const NewJob = checked(Type.Unsafe<WireJobInput>(Type.Object(NEW_JOB, closed)));
  const Change = checked(Type.Unsafe<Partial<WireJobInput>>(Type.Object(JOB_CHANGE, closed)));
  return [
    {
      ...read,
      path: "/api/cron/jobs",
      handle: async (call) => json(await listJobs(jobs, await pageAsked(call), who(call))),
    },
    {
      ...say,
      method: "POST",
      path: "/api/cron/jobs",
      handle: async (call) => json(await addJob(jobs, await NewJob.parse(call.json), who(call)), 201),
    },
    {
      ...read,
      path: "/api/cron/jobs/:id",
      async handle(call) {
        const job = await jobs.get(idOf(call), askerOf(who(call)));
        if (job) return json({ job: shownJob(job) });
        return json({
          job: jobOf({ kind: "refused", code: "job_unknown", say: `There is no job called ${idOf(call)}.` }),
        });
      },
    },
    {
      ...say,
      method: "PATCH",
      path: "/api/cron/jobs/:id",
      handle: async (call) => json(await updateJob(jobs, idOf(call), await Change.parse(call.json), who(call))),
    },
    {
      ...act,
      method: "DELETE",
      path: "/api/cron/jobs/:id",
      handle: async (call) => json({ job: jobOf(await jobs.remove(idOf(call), askerOf(who(call)))) }),
    },
    ...(["pause", "resume"] as const).map((action) => ({
      ...act,
      path: `/api/cron/jobs/:id/${action}`,
      handle: async (call: Call) => json({ job: jobOf(await jobs[action](idOf(call), askerOf(who(call)))) }),
    })),
    ...runRoutes(jobs),
  ];
}

const read = { method: "GET", auth: "operator", body: NO_BODY } as const;
const act = { method: "POST", auth: "operator", body: NO_BODY } as const;
const say = { auth: "operator", body: SMALL_JSON } as const;

function runRoutes(jobs: HttpDeps["jobs"]): readonly Route[] {
  const Wake = checked(
    Type.Object(
      {
        text: Type.String({ minLength: 1 }),
        mode: Type.Optional(Type.Union([Type.Literal("now"), Type.Literal("next-heartbeat")])),
      },
      closed,
    ),
  );
  return [
    {
      ...act,
      path: "/api/cron/jobs/:id/run",
      handle: async (call) => json(await runJob(jobs, idOf(call), who(call)), 202),
    },
    {
      ...read,
      path: "/api/cron/jobs/:id/runs",
      handle: async (call) => json(await listRuns(jobs, idOf(call), await pageAsked(call), who(call))),
    },
    {
      ...say,
      method: "POST",
      path: "/api/cron/wake",
      handle: async (call) => json(await wake(jobs, await Wake.parse(call.json), who(call)), 202),
    },
    { ...read, path: "/api/cron/status", handle: async () => json(await jobs.status()) },
  ];
}

const Paging = checked(
  Type.Object(
    {
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_PAGE })),
      cursor: Type.Optional(Type.String({ maxLength: 512 })),
    },
    closed,
  ),
);

async function pageAsked({ query }: Call) {
  const given: Record<string, string | number> = Object.fromEntries(query);
  if (/^\d{1,6}$/.test(query.get("limit") ?? "")) given["limit"] = Number(query.get("limit"));
  return pageOf(await Paging.parse(given));
}

function idOf({ params }: Call): string {
  return params["id"] ?? "";
}

/** These routes are for operators alone, so somebody is always there. */
function who({ identity }: Call): Principal {
  return identity?.principal ?? ("operator" as Principal);
}
