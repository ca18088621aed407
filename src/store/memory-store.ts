/** A store in memory, with the tables and statements of a real one: for programs that need its promises and keep nothing. */
import { Database } from "bun:sqlite";
import type { Store } from "../contracts/store.ts";
import { assemble, type StoreDeps } from "./assemble.ts";
import { migrate } from "./migrate.ts";
import { createSql } from "./sqlite-sql.ts";

/** `folder`: where media would be put. */
export function openMemoryStore(deps: StoreDeps, folder: string): Store {
  const db = new Database(":memory:");
  db.exec("pragma foreign_keys = on");
  migrate(db, deps.clock.now());
  return assemble(deps, createSql(db), folder);
}
