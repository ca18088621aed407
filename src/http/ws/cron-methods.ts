/** Jobs over the event socket: the same actions as over HTTP, under the names `cron.*`. */
import { Type } from "typebox";
import type { Principal } from "../../contracts/ids.ts";
import type { WireMethods } from "../../contracts/wire.ts";
import { ADMIN, type KeyNeed, READ } from "../access/key-reach.ts";
import { checked } from "../checked.ts";
import { PAGE_FIELDS, pageOf } from "../paging.ts";
import type { HttpDeps } from "../types.ts";
import { type Method, method, type Params, principalOf, type Result } from "./method.ts";
import {
  addJob,
  askerOf,
  jobOf,
  JOB_CHANGE,
  JOB_ID,
  listJobs,
  listRuns,
  NEW_JOB,
  runJob,
  updateJob,
  wake,
  WAKE,
} from "../cron-actions.ts";

type CronMethod = Extract<keyof WireMethods, `cron.${string}`>;

const closed = { additionalProperties: false } as const;

/** As `method`, for functions that ask who calls and nothing else of the socket. */
const JOB_LIST = {
  ...PAGE_FIELDS,
  failing: Type.Optional(Type.Boolean()),
  planned: Type.Optional(Type.Boolean()),
};

function jobMethod<M extends CronMethod>(
  need: KeyNeed,
  fields: Parameters<typeof Type.Object>[0],
  run: (params: Params<M>, who: Principal) => Promise<Result<M>>,
): Method {
  const schema = checked(Type.Unsafe<Params<M>>(Type.Object(fields, closed)));
  return method<M>(need, schema, (params, socket) => run(params, principalOf(socket)));
}

export function cronMethods({ automation: { jobs } }: Pick<HttpDeps, "automation">): Record<CronMethod, Method> {
  const id = { id: JOB_ID };
  return {
    "cron.list": jobMethod<"cron.list">(READ, JOB_LIST, ({ failing = false, planned, ...page }, who) =>
      listJobs(jobs, { ...pageOf(page), failing, planned }, who),
    ),
    "cron.add": jobMethod<"cron.add">(ADMIN, NEW_JOB, (input, who) => addJob(jobs, input, who)),
    "cron.update": jobMethod<"cron.update">(ADMIN, { ...JOB_CHANGE, id: JOB_ID }, ({ id: job, ...change }, who) =>
      updateJob(jobs, job, change, who),
    ),
    "cron.remove": jobMethod<"cron.remove">(ADMIN, id, async (asked, who) => ({
      job: jobOf(await jobs.remove(asked.id, askerOf(who))),
    })),
    "cron.pause": jobMethod<"cron.pause">(ADMIN, id, async (asked, who) => ({
      job: jobOf(await jobs.pause(asked.id, askerOf(who))),
    })),
    "cron.resume": jobMethod<"cron.resume">(ADMIN, id, async (asked, who) => ({
      job: jobOf(await jobs.resume(asked.id, askerOf(who))),
    })),
    "cron.run": jobMethod<"cron.run">(ADMIN, id, (asked, who) => runJob(jobs, asked.id, who)),
    "cron.runs": jobMethod<"cron.runs">(READ, { ...PAGE_FIELDS, id: JOB_ID }, ({ id: job, ...page }, who) =>
      listRuns(jobs, job, pageOf(page), who),
    ),
    "cron.wake": jobMethod<"cron.wake">(ADMIN, WAKE, (asked, who) => wake(jobs, asked, who)),
    "cron.status": jobMethod<"cron.status">(READ, {}, () => jobs.status()),
  };
}
