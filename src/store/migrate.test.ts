/** A database of an earlier version keeps what it holds, and every migration is applied to it once, known by its name. */
import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { migrate, NEWEST_VERSION } from "./migrate.ts";
import { firstMessage } from "./migrations/early/001-first-message.ts";

/** As the first version left it: with a number, and without names of migrations. */
function firstVersion(): Database {
  const db = new Database(":memory:");
  db.exec(firstMessage.sql);
  db.exec("pragma user_version = 1");
  return db;
}

function recorded(db: Database): readonly unknown[] {
  return db.prepare("select name, applied_at from migrations order by applied_at, name").values();
}

function tableNames(db: Database): readonly unknown[] {
  return db.prepare("select name from sqlite_schema where type = 'table' order by name").values().flat();
}

const ADD_A = { name: "add-a", sql: "create table a (x integer) strict" };
const ADD_B = { name: "add-b", sql: "create table b (x integer) strict" };
const ADD_C = { name: "add-c", sql: "create table c (x integer) strict" };

test("sessions of the first version know the one person who speaks in them, and have no earlier conversations", () => {
  using db = firstVersion();
  const said = (key: string, sender: string, scope: string, event: string) =>
    db.exec(`insert into inbox (id, session_key, agent_id, role, priority, channel, account, chat, event_id, fingerprint, scope, sender,
      sender_name, text, attachments, mentioned, received_at)
      values ('${event}', '${key}', 'default', 'owner', 1, 'c', 'a', 'x', '${event}', 'f', '${scope}', '${sender}', 'n', 't', '[]', 0, 1)`);
  for (const key of ["mine", "shared", "group", "silent"])
    db.exec(`insert into sessions (key, channel, agent_id, title, search_text, created_at, last_activity_at, messages, file)
      values ('${key}', 'webchat', 'default', 't', 't', 1, 1, 1, 'file-${key}')`);
  said("mine", "operator", "dm", "e1");
  said("mine", "operator", "dm", "e2");
  said("shared", "operator", "dm", "e3");
  said("shared", "telegram:user:1", "dm", "e4");
  said("group", "operator", "group", "e5");
  expect(migrate(db, 1_000)).toContain("session-settings");
  expect(db.query("select key, person, model, named from sessions order by key").all()).toEqual([
    { key: "group", person: null, model: null, named: 0 },
    { key: "mine", person: "operator", model: null, named: 0 },
    { key: "shared", person: null, model: null, named: 0 },
    { key: "silent", person: null, model: null, named: 0 },
  ]);
  expect(db.query("select count(*) as count from conversations").get()).toEqual({ count: 0 });
});

test("costs of turns of an earlier version are in the usage ledger, each on the account of its first sender", () => {
  using db = firstVersion();
  db.exec(`insert into sessions (key, channel, agent_id, title, search_text, created_at, last_activity_at, messages, file)
    values ('k', 'webchat', 'default', 't', 't', 1, 1, 1, 'f')`);
  const turn = (id: string, ended: number | null, tokens: number) =>
    db.exec(`insert into turns (id, session_key, agent_id, attempt, state, file, begun_at, ended_at, model, input_tokens, output_tokens, cost_usd)
      values ('${id}', 'k', 'default', 1, '${ended === null ? "running" : "done"}', 'f', 1, ${ended}, 'fake/one', ${tokens}, 1, 0.5)`);
  const said = (event: string, id: string, channel: string, scope: string) =>
    db.exec(`insert into inbox (id, session_key, agent_id, role, priority, channel, account, chat, event_id, fingerprint, scope, sender,
      sender_name, text, attachments, mentioned, received_at, turn_id)
      values ('${event}', 'k', 'default', 'owner', 1, '${channel}', 'a', 'x', '${event}', 'f', '${scope}', 'by-${event}', 'n', 't', '[]', 0, 1, '${id}')`);
  const noon = Date.UTC(2026, 0, 15, 12);
  turn("t1", noon, 7);
  turn("t2", noon, 9);
  said("e1", "t1", "api", "dm");
  said("e2", "t1", "api", "dm");
  said("e3", "t2", "telegram", "group");
  expect(migrate(db, 1_000)).toContain("usage");
  expect(db.query("select id, principal, origin, model, input_tokens, cost_usd from usage order by id").all()).toEqual([
    { id: "t1", principal: "by-e1", origin: "api", model: "fake/one", input_tokens: 7, cost_usd: 0.5 },
    { id: "t2", principal: "by-e3", origin: "group", model: "fake/one", input_tokens: 9, cost_usd: 0.5 },
  ]);
  expect(
    db.query("select what, key, turns, input_tokens from usage_days where what in ('agent', 'origin')").all(),
  ).toEqual([
    { what: "agent", key: "default", turns: 2, input_tokens: 16 },
    { what: "origin", key: "api", turns: 1, input_tokens: 7 },
    { what: "origin", key: "group", turns: 1, input_tokens: 9 },
  ]);
  expect(db.query("select distinct substr(day, 1, 8) as month from usage").all()).toEqual([{ month: "2026-01-" }]);
});

test("turns of the first version are kept, each without spans", () => {
  using db = firstVersion();
  db.exec(`insert into sessions (key, channel, agent_id, title, search_text, created_at, last_activity_at, messages, file)
    values ('k', 'webchat', 'default', 't', 't', 1, 1, 1, 'f')`);
  db.exec(`insert into turns (id, session_key, agent_id, attempt, state, file, begun_at)
    values ('t1', 'k', 'default', 1, 'failed', 'f', 1)`);
  expect(migrate(db, 1_000)).toContain("turn-spans");
  expect(db.query("select id, state, spans from turns").all()).toEqual([{ id: "t1", state: "failed", spans: "[]" }]);
  expect(db.query("pragma user_version").get()).toEqual({ user_version: NEWEST_VERSION });
});

test("a database that only has a number gets the names of so many migrations, and none of them is applied again", () => {
  using db = new Database(":memory:");
  db.exec("create table a (x integer) strict; create table b (x integer) strict; pragma user_version = 2");
  expect(migrate(db, 1_000, [ADD_A, ADD_B, ADD_C])).toEqual(["add-c"]);
  expect(recorded(db)).toEqual([
    ["add-a", 1_000],
    ["add-b", 1_000],
    ["add-c", 1_000],
  ]);
  expect(db.query("pragma user_version").get()).toEqual({ user_version: 3 });
});

test("migrations in another order are applied once each, by name and not by position", () => {
  using db = new Database(":memory:");
  expect(migrate(db, 1_000, [ADD_A, ADD_B])).toEqual(["add-a", "add-b"]);
  expect(migrate(db, 2_000, [ADD_C, ADD_B, ADD_A])).toEqual(["add-c"]);
  expect(migrate(db, 3_000, [ADD_B, ADD_C, ADD_A])).toEqual([]);
  expect(recorded(db)).toEqual([
    ["add-a", 1_000],
    ["add-b", 1_000],
    ["add-c", 2_000],
  ]);
  expect(db.query("pragma user_version").get()).toEqual({ user_version: 3 });
});

test("a migration that fails leaves the database as it was, its adopted names included", () => {
  using db = new Database(":memory:");
  db.exec("create table a (x integer) strict; pragma user_version = 1");
  const broken = { name: "broken", sql: "create table d (x integer) strict; no such statement" };
  expect(() => migrate(db, 1_000, [ADD_A, ADD_B, broken])).toThrow("syntax error");
  expect(tableNames(db)).toEqual(["a"]);
  expect(db.query("pragma user_version").get()).toEqual({ user_version: 1 });
  expect(migrate(db, 2_000, [ADD_A, ADD_B, ADD_C])).toEqual(["add-b", "add-c"]);
});

test("names of migrations are words joined by hyphens, each used once; those from before names keep their order", () => {
  using db = new Database(":memory:");
  const names = migrate(db, 1_000);
  expect(names.filter((name) => !/^[a-z]+(?:-[a-z]+)*$/.test(name))).toEqual([]);
  expect(new Set(names).size).toBe(names.length);
  expect(names.slice(0, 25)).toEqual([
    ...["first-message", "turn-spans", "outbox-states", "queue-modes", "session-settings", "tool-call-chain"],
    ...["notes-and-tasks", "posts-and-files", "jobs", "approvals", "system-events", "job-sessions", "channels"],
    ...["job-alerts", "usage", "webhook-marks", "job-needs", "slot-zones", "quoted-text", "part-messages"],
    ...["turn-crashes", "audit-entries", "asked-input", "message-ids", "reactions-that-wake"],
  ]);
});
