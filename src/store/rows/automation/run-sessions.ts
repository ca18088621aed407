/** Old sessions of runs, and all rows that belong to them. The record of tool calls stays: it is a chain. */
import { sql as raw } from "kysely";
import type { SessionKey } from "../../../contracts/ids.ts";
import type { RunSessionStore } from "../../../contracts/store/run-sessions.ts";
import type { Params, Sql } from "../../sql.ts";
import type { Steps } from "../../steps.ts";
import type { RowDeps } from "../row-deps.ts";

export function createRunSessions({ sql, read, write }: RowDeps): RunSessionStore {
  const queries = { ...finding(sql), ...dropping(sql) };
  function* drop(key: SessionKey, file: string): Steps<void> {
    yield* queries.dropParts.run({ key });
    yield* queries.dropMessages.run({ key });
    yield* queries.dropTurns.run({ key });
    yield* queries.dropGrants.run({ key });
    yield* queries.dropSession.run({ key });
    yield* queries.addFile.run({ file });
  }
  return {
    drop: ({ before, keepPerJob, limit, from }) =>
      write(function* () {
        const old = yield* queries.old.all({ at: from?.at ?? -1, key: from?.key ?? ("" as SessionKey), before, limit });
        const isKept = createKept(queries, keepPerJob);
        let dropped = 0;
        for (const { key, file, named } of old) {
          if (named === 1 || (yield* isKept(key)) || !(yield* queries.unused.first({ key }))) continue;
          yield* drop(key, file);
          dropped++;
        }
        const last = old.length === limit ? old.at(-1) : undefined;
        return { dropped, next: last ? { at: last.last_activity_at, key: last.key } : null };
      }),
    deadFiles: (limit) =>
      read(function* () {
        return (yield* queries.files.all({ limit })).map(({ file }) => file);
      }),
    fileGone: (file) =>
      write(function* () {
        yield* queries.dropFile.run({ file });
      }),
  };
}

type Key = { readonly key: SessionKey };
/** Between the name of a job and that of a run, which grows with time: `agent:default:cron:water:run:…`. */
const RUN = ":run:";
/** Greater than every character a key has. */
const LAST = "~";

/** Whether a session is one of the newest of its job. Each job is asked about once in a go. */
function createKept({ nthNewest }: Pick<ReturnType<typeof finding>, "nthNewest">, keepPerJob: number) {
  const oldest = new Map<string, string | null>();
  return function* (key: SessionKey): Steps<boolean> {
    const end = key.indexOf(RUN);
    if (end === -1) return true; // no session of a run
    const job = key.slice(0, end + RUN.length);
    const known = oldest.get(job);
    const kept = known === undefined ? yield* oldestKept(job) : known;
    oldest.set(job, kept);
    return kept === null || key >= kept;
  };
  function* oldestKept(job: string): Steps<string | null> {
    return (yield* nthNewest.first({ from: job, to: `${job}${LAST}`, newer: keepPerJob - 1 }))?.key ?? null;
  }
}

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
    old: sql.prepare((db, p: Params<{ at: number; key: SessionKey; before: number; limit: number }>) =>
      db
        .selectFrom("sessions")
        .select(["key", "file", "named", "last_activity_at"])
        .where(raw<boolean>`channel in ('cron', 'heartbeat')`)
        .where(raw<boolean>`(last_activity_at, key) > (${p("at")}, ${p("key")})`)
        .where("last_activity_at", "<", p("before"))
        .orderBy("last_activity_at")
        .orderBy("key")
        .limit(p("limit")),
    ),
    nthNewest: sql.prepare((db, p: Params<{ from: string; to: string; newer: number }>) =>
      db
        .selectFrom("sessions")
        .select("key")
        .where("key", ">", p("from") as never)
        .where("key", "<", p("to") as never)
        .orderBy("key", "desc")
        .limit(1)
        .offset(p("newer")),
    ),
    unused: sql.prepare((db, p: Params<Key>) =>
      db.selectFrom("sessions").select("key").where("key", "=", p("key")).where(UNUSED),
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
