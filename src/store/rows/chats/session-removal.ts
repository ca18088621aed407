/** A session that a person deletes, with all rows that belong to it. Tool calls, the audit log and what was spent stay. Runs as one write. */
import { sql as raw } from "kysely";
import type { SessionKey } from "../../../contracts/ids.ts";
import type { SessionCare, SessionRemoval } from "../../../contracts/store/session-care.ts";
import type { Params, Sql } from "../../sql.ts";
import type { Steps } from "../../steps.ts";
import { decodeAttachments } from "../codec.ts";
import type { RowDeps } from "../row-deps.ts";

type Key = { readonly key: SessionKey };

const UNDER_WAY = (key: SessionKey) => raw<boolean>`
  exists (select 1 from turns where turns.session_key = ${key} and turns.state = 'running')
  or exists (select 1 from inbox where inbox.session_key = ${key} and inbox.done = 0)
  or exists (select 1 from turns join outbox on outbox.turn_id = turns.id
    where turns.session_key = ${key} and outbox.ended_at is null and outbox.state = 'sending')`;

/** A conversation may have moved to another session, which still needs its file. */
const USED_ELSEWHERE = (file: string, key: SessionKey) => raw<boolean>`
  exists (select 1 from sessions where sessions.file = ${file} and sessions.key <> ${key})
  or exists (select 1 from conversations where conversations.file = ${file} and conversations.session_key <> ${key})`;

const OF_TURNS = (key: SessionKey) => raw<boolean>`turn_id in (select id from turns where session_key = ${key})`;

interface DroppedSession {
  readonly media: number;
  /** Listed as dead. */
  readonly files: readonly string[];
}

export function createSessionRemoval({ sql, read, write }: RowDeps): Pick<SessionCare, "remove" | "waiting"> {
  const queries = looking(sql);
  const drop = createSessionDrop(sql);

  function* remove(key: SessionKey): Steps<SessionRemoval> {
    const session = yield* queries.session.first({ key });
    if (!session) return { kind: "unknown" };
    if (yield* queries.underWay.first({ key })) return { kind: "busy" };
    const { media, files } = yield* drop(key);
    return { kind: "removed", messages: session.messages, media, files };
  }

  return {
    remove: (key) => write(() => remove(key)),
    waiting: (key) =>
      read(function* () {
        return yield* queries.waiting.all({ key });
      }),
  };
}

/** Inside of somebody's transaction, who has made sure that nothing is under way in the session. */
export function createSessionDrop(sql: Sql): (key: SessionKey) => Steps<DroppedSession> {
  const queries = looking(sql);
  const drops = dropping(sql);

  function* filesOf(key: SessionKey): Steps<readonly string[]> {
    const own = yield* queries.session.all({ key });
    const files = new Set([...own, ...(yield* queries.conversations.all({ key }))].map(({ file }) => file));
    const unused: string[] = [];
    for (const file of files) if (!(yield* queries.usedElsewhere.first({ file, key }))) unused.push(file);
    return unused;
  }

  function* mediaOf(key: SessionKey): Steps<readonly string[]> {
    const rows = [...(yield* queries.said.all({ key })), ...(yield* queries.replied.all({ key }))];
    const attached = rows.flatMap(({ attachments }) => decodeAttachments(attachments) ?? []);
    return [...new Set<string>(attached.map(({ mediaId }) => mediaId))];
  }

  return function* (key) {
    const media = yield* mediaOf(key);
    const files = [...(yield* filesOf(key)), ...media.map((id) => `media/${id}`)];
    for (const drop of drops.rows) yield* drop.run({ key });
    for (const id of media) yield* drops.dropMedia.run({ id });
    for (const file of files) yield* drops.addFile.run({ file });
    return { media: media.length, files };
  };
}

function looking(sql: Sql) {
  return {
    session: sql.prepare((db, p: Params<Key>) =>
      db.selectFrom("sessions").select(["file", "messages"]).where("key", "=", p("key")),
    ),
    underWay: sql.prepare((db, p: Params<Key>) =>
      db
        .selectFrom("sessions")
        .select("key")
        .where("key", "=", p("key"))
        .where(UNDER_WAY(p("key"))),
    ),
    conversations: sql.prepare((db, p: Params<Key>) =>
      db.selectFrom("conversations").select("file").where("session_key", "=", p("key")),
    ),
    usedElsewhere: sql.prepare((db, p: Params<Key & { file: string }>) =>
      db
        .selectFrom("sessions")
        .select("key")
        .where("key", "=", p("key"))
        .where(USED_ELSEWHERE(p("file"), p("key"))),
    ),
    said: sql.prepare((db, p: Params<Key>) =>
      db
        .selectFrom("inbox")
        .select("attachments")
        .where(OF_TURNS(p("key"))),
    ),
    replied: sql.prepare((db, p: Params<Key>) =>
      db
        .selectFrom("outbox")
        .select("attachments")
        .where(OF_TURNS(p("key"))),
    ),
    waiting: sql.prepare((db, p: Params<Key>) =>
      db
        .selectFrom("inbox")
        .select(["id", "sender"])
        .where("session_key", "=", p("key"))
        .where("done", "=", raw.lit(0))
        .where("turn_id", "is", null)
        .orderBy("seq"),
    ),
  };
}

/** What refers to rows goes before them. */
function dropping(sql: Sql) {
  const bySession = (
    table:
      | "reactions"
      | "approvals"
      | "approval_grants"
      | "system_events"
      | "session_tools"
      | "session_branches"
      | "conversations"
      | "turns",
  ) => sql.prepare((db, p: Params<Key>) => db.deleteFrom(table).where("session_key", "=", p("key")));
  const platformIds = (table: "inbox" | "outbox") =>
    sql.prepare((db, p: Params<Key>) =>
      db
        .deleteFrom("platform_messages")
        .where(raw<boolean>`message_id in (select id from ${raw.table(table)} where ${OF_TURNS(p("key"))})`),
    );
  return {
    rows: [
      platformIds("inbox"),
      platformIds("outbox"),
      bySession("reactions"),
      sql.prepare((db, p: Params<Key>) => db.deleteFrom("outbox").where(OF_TURNS(p("key")))),
      sql.prepare((db, p: Params<Key>) => db.deleteFrom("inbox").where(OF_TURNS(p("key")))),
      bySession("turns"),
      bySession("approvals"),
      bySession("approval_grants"),
      bySession("system_events"),
      bySession("session_tools"),
      bySession("session_branches"),
      bySession("conversations"),
      sql.prepare((db, p: Params<Key>) => db.deleteFrom("sessions").where("key", "=", p("key"))),
      // the gateway that has it gives it back, and it goes then
      sql.prepare((db, p: Params<Key>) =>
        db
          .deleteFrom("node_leases")
          .where("kind", "=", raw.lit("session"))
          .where("key", "=", p("key"))
          .where("owner", "is", null),
      ),
    ],
    dropMedia: sql.prepare((db, p: Params<{ id: string }>) =>
      db.deleteFrom("media").where("id", "=", p("id") as never),
    ),
    addFile: sql.prepare((db, p: Params<{ file: string }>) =>
      db
        .insertInto("dead_files")
        .values(p.row("file"))
        .onConflict((conflict) => conflict.doNothing()),
    ),
  };
}
