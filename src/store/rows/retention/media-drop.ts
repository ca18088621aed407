/** Deletes the row of a file that somebody sent, and lists the file as dead. Inside of somebody's transaction. */
import type { MediaId } from "../../../contracts/ids.ts";
import type { Params, Sql } from "../../sql.ts";
import type { Steps } from "../../steps.ts";
import { createDeadFiles } from "./dead-files.ts";

export function createMediaDrop(sql: Sql): (id: MediaId) => Steps<void> {
  const drop = sql.prepare((db, p: Params<{ id: MediaId }>) => db.deleteFrom("media").where("id", "=", p("id")));
  const addDeadFile = createDeadFiles(sql);
  return function* (id) {
    yield* drop.run({ id });
    yield* addDeadFile(`media/${id}`);
  };
}
