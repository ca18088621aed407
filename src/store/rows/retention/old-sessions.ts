/** Deletes sessions in which nothing has been said for long, and conversations that were put aside long ago. */
import { sql as raw } from "kysely";
import type { SessionKey } from "../../../contracts/ids.ts";
import type { OldRows, RetentionStore } from "../../../contracts/store/retention.ts";
import type { Params, Sql } from "../../sql.ts";
import type { Steps } from "../../steps.ts";
import { createSessionDrop } from "../chats/session-removal.ts";
import { createDeadFiles } from "./dead-files.ts";
import type { OldTurns } from "./old-turns.ts";
import { type Place, placeAfter, START } from "./row-place.ts";

type Sessions = Awaited<ReturnType<RetentionStore["dropSessions"]>>;
type Conversations = Awaited<ReturnType<RetentionStore["dropConversations"]>>;

/** Of one session in one step: with their messages about twenty milliseconds. */
const MAX_TURNS = 100;

/** Something goes on in it, or waits for somebody. */
const NEEDED = (key: SessionKey) => raw<boolean>`
  exists (select 1 from turns where turns.session_key = ${key} and turns.state = 'running')
  or exists (select 1 from inbox where inbox.session_key = ${key} and inbox.done = 0)
  or exists (select 1 from outbox join turns on turns.id = outbox.turn_id
    where outbox.ended_at is null and turns.session_key = ${key})
  or exists (select 1 from tool_calls where tool_calls.status in ('running', 'pending') and tool_calls.session_key = ${key})
  or exists (select 1 from approvals where approvals.decision is null and approvals.session_key = ${key})`;

export function createOldSessions(sql: Sql, turns: OldTurns) {
  const { old, needed } = finding(sql);
  const drop = createSessionDrop(sql);
  return function* ({ before, from, limit }: OldRows): Steps<Sessions> {
    const found = yield* old.all({ ...(from ?? START), before, limit });
    const sessions: SessionKey[] = [];
    let [left, last] = [MAX_TURNS, from];
    for (const { key, pinned_at, last_activity_at } of found) {
      if (pinned_at === null && !(yield* needed.first({ key }))) {
        left -= yield* turns.dropOf(key, left);
        // the next step looks at this session again
        if (left === 0) return { dropped: sessions.length, sessions, next: last ?? START };
        yield* drop(key);
        sessions.push(key);
      }
      last = { at: last_activity_at, id: key };
    }
    const next = placeAfter(found, limit, ({ last_activity_at: at, key: id }) => ({ at, id }));
    return { dropped: sessions.length, sessions, next };
  };
}

function finding(sql: Sql) {
  return {
    old: sql.prepare((db, p: Params<Place>) =>
      db
        .selectFrom("sessions")
        .select(["key", "pinned_at", "last_activity_at"])
        .where(raw<boolean>`(last_activity_at, key) > (${p("at")}, ${p("id")})`)
        .where("last_activity_at", "<", p("before"))
        .orderBy("last_activity_at")
        .orderBy("key")
        .limit(p("limit")),
    ),
    needed: sql.prepare((db, p: Params<{ key: SessionKey }>) =>
      db
        .selectFrom("sessions")
        .select("key")
        .where("key", "=", p("key"))
        .where(NEEDED(p("key"))),
    ),
  };
}

export function createOldConversations(sql: Sql) {
  const old = sql.prepare((db, p: Params<Place>) =>
    db
      .selectFrom("conversations")
      .leftJoin("sessions", "sessions.key", "conversations.session_key")
      .select(["conversations.file", "conversations.ended_at", "sessions.pinned_at"])
      .where(raw<boolean>`(conversations.ended_at, conversations.file) > (${p("at")}, ${p("id")})`)
      .where("conversations.ended_at", "<", p("before"))
      .orderBy("conversations.ended_at")
      .orderBy("conversations.file")
      .limit(p("limit")),
  );
  const inUse = sql.prepare((db, p: Params<{ file: string }>) =>
    db.selectFrom("sessions").select("key").where("file", "=", p("file")),
  );
  const drop = sql.prepare((db, p: Params<{ file: string }>) =>
    db.deleteFrom("conversations").where("file", "=", p("file")),
  );
  const addDeadFile = createDeadFiles(sql);
  return function* ({ before, from, limit }: OldRows): Steps<Conversations> {
    const found = yield* old.all({ ...(from ?? START), before, limit });
    let dropped = 0;
    for (const { file, pinned_at } of found) {
      if (pinned_at !== null || (yield* inUse.first({ file }))) continue;
      yield* drop.run({ file });
      yield* addDeadFile(file);
      dropped++;
    }
    return { dropped, next: placeAfter(found, limit, ({ ended_at: at, file: id }) => ({ at, id })) };
  };
}
