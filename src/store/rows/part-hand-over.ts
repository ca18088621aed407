/** Reply parts that another gateway has to send, because it holds their platform: they become its own, with all that is known about them. */
import { sql as raw } from "kysely";
import type { InstanceId } from "../../contracts/ids.ts";
import type { OutboxStore } from "../../contracts/store.ts";
import type { Params } from "../sql.ts";
import type { RowDeps } from "./row-deps.ts";

export function createPartHandOver({
  sql,
  write,
  instanceId: me,
}: Pick<RowDeps, "sql" | "write" | "instanceId">): Pick<OutboxStore, "handTo"> {
  const given = sql.prepare((db, p: Params<{ id: string; to: InstanceId; me: InstanceId }>) =>
    db
      .updateTable("outbox")
      .set({ node: p("to"), claimed_by: null, claimed_until: null })
      .where("id", "=", p("id"))
      .where("node", "=", p("me"))
      .where("ended_at", "is", null)
      // one that is gone has been taken over from, and would never send it
      .where(raw<boolean>`exists (select 1 from nodes where nodes.id = ${p("to")} and nodes.state <> 'gone')`),
  );
  return {
    handTo: (to, ids) =>
      write(function* () {
        const handed: string[] = [];
        for (const id of ids) if ((yield* given.run({ id, to, me })) > 0) handed.push(id);
        return handed;
      }),
  };
}
