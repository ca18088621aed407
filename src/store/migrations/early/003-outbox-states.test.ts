/** A database from before replies had states keeps every reply, in its order and with what was known about it. */
import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { migrate } from "../../migrate.ts";
import { firstMessage } from "./001-first-message.ts";

test("replies of an older database are what they were, and those on their way go on", () => {
  using db = new Database(":memory:");
  db.exec("pragma foreign_keys = on");
  db.exec(firstMessage.sql);
  db.exec(`
    insert into sessions (key, channel, agent_id, title, search_text, created_at, last_activity_at, messages, file)
      values ('s', 'webchat', 'default', 't', 't', 1, 1, 1, 'f');
    insert into turns (id, session_key, agent_id, attempt, state, file, begun_at) values ('t', 's', 'default', 1, 'done', 'f', 1);
    insert into outbox (seq, id, turn_id, session_key, part, channel, account, chat, thread, text, kind, state, because, created_at, ended_at)
      values (3, 't:0', 't', 's', 0, 'webchat', 'default', '1', null, 'one', 'reply', 'sent', null, 5, 6),
             (7, 't:1', 't', 's', 1, 'webchat', 'default', '1', 'th', 'two', 'notice', 'dead', 'gone', 5, 6),
             (9, 't:2', 't', 's', 2, 'webchat', 'default', '1', null, 'three', 'reply', 'pending', null, 5, null);
  `);
  db.exec("pragma user_version = 1");
  migrate(db, 1_000);
  const columns = "seq, id, part, thread, text, kind, state, because, attempts, lost, created_at, ended_at";
  expect(db.prepare(`select ${columns} from outbox order by seq`).values()).toEqual([
    [3, "t:0", 0, null, "one", "reply", "sent", null, 0, 0, 5, 6],
    [7, "t:1", 1, "th", "two", "notice", "dead", "gone", 0, 0, 5, 6],
    [9, "t:2", 2, null, "three", "reply", "pending", null, 0, 0, 5, null],
  ]);
  expect(db.prepare("pragma foreign_key_check").values()).toEqual([]);
  expect(db.prepare("pragma integrity_check").values()).toEqual([["ok"]]);
});
