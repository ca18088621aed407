/** A database of an earlier version keeps what it holds. */
import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { migrate, NEWEST_VERSION } from "./migrate.ts";
import { firstMessage } from "./migrations/001-first-message.ts";

test("turns of a database from before waterfalls are kept, each without one", () => {
  using db = new Database(":memory:");
  db.exec(firstMessage.sql);
  db.exec(`insert into sessions (key, channel, agent_id, title, search_text, created_at, last_activity_at, messages, file)
    values ('k', 'webchat', 'default', 't', 't', 1, 1, 1, 'f')`);
  db.exec(`insert into turns (id, session_key, agent_id, attempt, state, file, begun_at)
    values ('t1', 'k', 'default', 1, 'failed', 'f', 1)`);
  expect(migrate(db, 1)).toContain("turn-spans");
  expect(db.query("select id, state, spans from turns").all()).toEqual([{ id: "t1", state: "failed", spans: "[]" }]);
  expect(db.query("pragma user_version").get()).toEqual({ user_version: NEWEST_VERSION });
});
