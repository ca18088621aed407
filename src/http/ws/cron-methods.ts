/** Jobs over the event socket: the same actions as over HTTP, under the names `cron.*`. */
import { Type } from "typebox";
import type { Principal } from "../../contracts/ids.ts";
import type { WireMethods } from "../../contracts/wire.ts";
import { checked } from "../checked.ts";
import { PAGE_FIELDS, pageOf } from "../paging.ts";
import type { HttpDeps } from "../types.ts";
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
type Method<S> = (params: unknown, socket: S) => Promise<unknown>;

const closed = { additionalProperties: false } as const;

export function cronMethods<S>(
  { automation: { jobs } }: Pick<HttpDeps, "automation">,
  principalOf: (socket: S) => Principal,
): Record<CronMethod, Method<S>> {
  const method = <M extends CronMethod>(
    fields: Parameters<typeof Type.Object>[0],
    run: (params: WireMethods[M]["params"], who: Principal) => Promise<WireMethods[M]["result"]>,
  ): Method<S> => {
    const schema = checked(Type.Unsafe<WireMethods[M]["params"]>(Type.Object(fields, closed)));
    return async (given, socket) => run(await schema.parse(given), principalOf(socket));
  };
  const id = { id: JOB_ID };
  return {
    "cron.list": method<"cron.list">(PAGE_FIELDS, (page, who) => listJobs(jobs, pageOf(page), who)),
    "cron.add": method<"cron.add">(NEW_JOB, (input, who) => addJob(jobs, input, who)),
    "cron.update": method<"cron.update">({ ...JOB_CHANGE, id: JOB_ID }, ({ id: job, ...change }, who) =>
      updateJob(jobs, job, change, who),
    ),
    "cron.remove": method<"cron.remove">(id, async (asked, who) => ({
      job: jobOf(await jobs.remove(asked.id, askerOf(who))),
    })),
    "cron.pause": method<"cron.pause">(id, async (asked, who) => ({
      job: jobOf(await jobs.pause(asked.id, askerOf(who))),
    })),
    "cron.resume": method<"cron.resume">(id, async (asked, who) => ({
      job: jobOf(await jobs.resume(asked.id, askerOf(who))),
    })),
    "cron.run": method<"cron.run">(id, (asked, who) => runJob(jobs, asked.id, who)),
    "cron.runs": method<"cron.runs">({ ...PAGE_FIELDS, id: JOB_ID }, ({ id: job, ...page }, who) =>
      listRuns(jobs, job, pageOf(page), who),
    ),
    "cron.wake": method<"cron.wake">(WAKE, (asked, who) => wake(jobs, asked, who)),
    "cron.status": method<"cron.status">({}, () => jobs.status()),
  };
}
