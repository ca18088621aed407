/** Lists a file as dead: it is deleted after the transaction, by whoever clears that list. */
import type { Params, Sql } from "../../sql.ts";
import type { Steps } from "../../steps.ts";

export function createDeadFiles(sql: Sql): (file: string) => Steps<number> {
  const add = sql.prepare((db, p: Params<{ file: string }>) =>
    db
      .insertInto("dead_files")
      .values(p.row("file"))
      .onConflict((conflict) => conflict.doNothing()),
  );
  return (file) => add.run({ file });
}
