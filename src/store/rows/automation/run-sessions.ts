/** Old sessions of runs, and all rows that belong to them. The record of tool calls stays: it is a chain. */
import { sql as raw } from "kysely";
import type { SessionKey } from "../../../contracts/ids.ts";
import type { RunSessionStore } from "../../../contracts/store/run-sessions.ts";
import type { Params, Sql } from "../../sql.ts";
import type { RowDeps } from "../row-deps.ts";

export function createRunSessions({ sql, read, write }: RowDeps): RunSessionStore {
  const queries = { ...finding(sql), ...dropping(sql) };
  const drop = (key: SessionKey, file: string): void => {
    queries.dropParts.run({ key });
    queries.dropMessages.run({ key });
    queries.dropTurns.run({ key });
    queries.dropGrants.run({ key });
    queries.dropSession.run({ key });
    queries.addFile.run({ file });
  };
  return {
    drop: ({ before, keepPerJob, limit }) =>
      write(() => {
        const old = queries.old.all({ before, newer: keepPerJob - 1, limit });
        for (const { key, file } of old) drop(key, file);
        return old.length;
      }),
    deadFiles: (limit) => read(() => queries.files.all({ limit }).map(({ file }) => file)),
    fileGone: (file) => write(() => void queries.dropFile.run({ file })),
  };
}

type Key = { readonly key: SessionKey };
/** What comes before the name of the run, which grows with time: `agent:default:cron:water:run:`. */
const JOB = raw<string>`substr(sessions.key, 1, instr(sessions.key, ':run:') + 4)`;
/** Greater than every character a key has. */
const LAST = "~";

/** Nothing that is under way, nothing of a person's, and no memory that something else needs. */
const UNUSED = raw<boolean>`
  not exists (select 1 from turns where turns.session_key = sessions.key and turns.state = 'running')
  and not exists (select 1 from inbox where inbox.session_key = sessions.key and inbox.done = 0)
  and not exists (select 1 from turns join inbox on inbox.turn_id = turns.id
    where turns.session_key = sessions.key and inbox.origin not in ('cron', 'heartbeat'))
  and not exists (select 1 from turns join outbox on outbox.turn_id = turns.id
    where turns.session_key = sessions.key and outbox.ended_at is null)
  and not exists (select 1 from conversations where conversations.session_key = sessions.key)
  and not exists (select 1 from conversations where conversations.file = sessions.file)
  and not exists (select 1 from turns where turns.file = sessions.file and turns.session_key <> sessions.key)
  and not exists (select 1 from sessions as other where other.file = sessions.file and other.key <> sessions.key)`;

function finding(sql: Sql) {
  return {
    old: sql.prepare((db, p: Params<{ before: number; newer: number; limit: number }>) =>
      db
        .selectFrom("sessions")
        .select(["key", "file"])
        .where(raw<boolean>`channel in ('cron', 'heartbeat')`)
        .where("last_activity_at", "<", p("before"))
        .where("named", "=", raw.lit(0))
        .where("key", "<", (eb) =>
          eb
            .selectFrom("sessions as newer")
            .select("newer.key")
            .where("newer.key", ">", JOB as never)
            .where(raw<boolean>`newer.key < ${JOB} || ${raw.lit(LAST)}`)
            .orderBy("newer.key", "desc")
            .limit((one) => one.lit(1))
            .offset(p("newer")),
        )
        .where(UNUSED)
        .orderBy("last_activity_at")
        .limit(p("limit")),
    ),
    files: sql.prepare((db, p: Params<{ limit: number }>) =>
      db.selectFrom("dead_files").select("file").where("file", ">", raw.lit("")).orderBy("file").limit(p("limit")),
    ),
  };
}

const OF_SESSION = (key: SessionKey) => raw<boolean>`turn_id in (select id from turns where session_key = ${key})`;

function dropping(sql: Sql) {
  return {
    dropParts: sql.prepare((db, p: Params<Key>) => db.deleteFrom("outbox").where(OF_SESSION(p("key")))),
    dropMessages: sql.prepare((db, p: Params<Key>) => db.deleteFrom("inbox").where(OF_SESSION(p("key")))),
    dropTurns: sql.prepare((db, p: Params<Key>) => db.deleteFrom("turns").where("session_key", "=", p("key"))),
    dropGrants: sql.prepare((db, p: Params<Key>) =>
      db.deleteFrom("approval_grants").where("session_key", "=", p("key")),
    ),
    dropSession: sql.prepare((db, p: Params<Key>) => db.deleteFrom("sessions").where("key", "=", p("key"))),
    addFile: sql.prepare((db, p: Params<{ file: string }>) =>
      db
        .insertInto("dead_files")
        .values(p.row("file"))
        .onConflict((conflict) => conflict.doNothing()),
    ),
    dropFile: sql.prepare((db, p: Params<{ file: string }>) =>
      db.deleteFrom("dead_files").where("file", "=", p("file")),
    ),
  };
}
