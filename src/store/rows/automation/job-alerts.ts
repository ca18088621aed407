/** What the owner was not told yet about jobs: written with the end of a run, dropped when it is on its way. */
import { sql as raw } from "kysely";
import type { JobAlert } from "../../../contracts/automation/job.ts";
import type { JobAlertTable } from "../../job-schema.ts";
import type { Params, Sql } from "../../sql.ts";
import { fromColumns } from "../named-columns.ts";

const COLUMNS = ["id", "job_id", "kind", "failures", "because", "at"] as const;

export function createAlertQueries(sql: Sql) {
  return {
    add: sql.prepare((db, p: Params<Omit<JobAlertTable, "seq">>) =>
      db
        .insertInto("job_alerts")
        .values(p.row(...COLUMNS))
        .onConflict((conflict) => conflict.column("id").doNothing()),
    ),
    list: sql.prepare(
      (db, p: Params<{ limit: number }>) =>
        db.selectFrom("job_alerts").selectAll().where("seq", ">", raw.lit(0)).orderBy("seq").limit(p("limit")), // from the first on
    ),
    drop: sql.prepare((db, p: Params<{ id: string }>) => db.deleteFrom("job_alerts").where("id", "=", p("id"))),
  };
}

export function toAlert(row: Omit<JobAlertTable, "seq">): JobAlert {
  return fromColumns(COLUMNS, row);
}
