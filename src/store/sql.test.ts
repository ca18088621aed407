/** Statements that are kept: as many as there is room for, and none that was let go is used again. */
import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { blankDisk } from "../testing/disk.ts";
import { createSql } from "./sqlite-sql.ts";
import { runAtOnce } from "./steps.ts";

test("a query whose statement had to make room for others works when it is asked again", () => {
  const db = Database.deserialize(blankDisk());
  const sql = createSql(db);
  const ask = (limit: number) =>
    runAtOnce(sql.all((builder) => builder.selectFrom("meta").select("key").limit(limit).offset(0)));
  const others = Array.from({ length: 250 }, (_, n) => `alias_${n}`);
  expect(ask(1)).toHaveLength(1);
  for (const alias of others)
    runAtOnce(sql.all((builder) => builder.selectFrom("meta").select(`key as ${alias}`).limit(1)));
  expect(ask(1)).toHaveLength(1);
  sql.close();
});
