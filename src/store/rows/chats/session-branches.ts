/** Goes back in a session, and branches off one. Turns are hidden or referred to and never copied: what was spent and done stays counted once. */
import { sql as raw } from "kysely";
import type { InboxId, SessionKey, TurnId } from "../../../contracts/ids.ts";
import type {
  CopiedFile,
  NewBranch,
  RewindPoint,
  Rewound,
  SessionBranches,
} from "../../../contracts/store/session-branches.ts";
import type { Ids } from "../../../kit/ids.ts";
import type { StoredFiles } from "../../files/stored-files.ts";
import type { SessionBranchTable, SessionTable } from "../../schema.ts";
import type { Params, Sql } from "../../sql.ts";
import type { Steps } from "../../steps.ts";
import { createNewSessions, newSessionFile } from "../new-session.ts";
import { searchTextOf } from "../one-line.ts";
import { NEWEST } from "../paging.ts";
import type { RowDeps } from "../row-deps.ts";
import { createTurnItems } from "../transcript.ts";
import { createConversationKeeping } from "./conversations.ts";
import { createShownTurns } from "./shown-turns.ts";

/** Turns that are hidden in one transaction; whoever wants to go back further branches. */
const MAX_REWOUND_TURNS = 500;

/** `files`: session files in the database; null: there are none. */
export function createSessionBranches(deps: RowDeps, files: StoredFiles | null): SessionBranches {
  const { sql, read, write, ids } = deps;
  const queries = createQueries(sql);
  const items = createTurnItems(sql);
  const shown = createShownTurns(sql);
  const going = { ids, queries, shown };
  const keepConversation = createConversationKeeping(sql);
  const addSession = createNewSessions(sql, ids);
  /** One transaction, which also makes the file part of the database where that holds session files. */
  const withFile = async <T>(file: CopiedFile | null, work: (keepFile: () => Steps<void>) => Steps<T>): Promise<T> => {
    const staged = files && file?.change ? await files.stage(file.change) : null;
    const { done, discarded } = await write(function* () {
      let kept: readonly string[] = [];
      const result = yield* work(function* () {
        if (files && staged) kept = yield* files.keep(staged);
      });
      return { done: result, discarded: kept };
    });
    void files?.discard(discarded);
    return done;
  };
  return {
    place: (key, id) =>
      read(function* () {
        const turnId = yield* turnOf(queries, id);
        if (turnId === null || !(yield* shown.isShown(key, turnId))) return null;
        const turn = yield* queries.reads.turn.first({ id: turnId });
        if (!turn) return null;
        const said = (yield* items(turn)).filter(({ role, origin }) => role === "user" && origin === undefined);
        return {
          turnId,
          file: turn.file,
          beganBytes: turn.began_bytes,
          settledBytes: turn.settled_bytes,
          endedAt: turn.ended_at,
          said,
        };
      }),
    rewind: (key, to) =>
      withFile(to.file, (keepFile) => rewind({ ...going, keepFile, items, keepConversation }, key, to)),
    branch: (wanted) => withFile(wanted.file, (keepFile) => branch({ ...going, keepFile, addSession }, wanted)),
  };
}

type Queries = ReturnType<typeof createQueries>;

function* turnOf(queries: Queries, id: string): Steps<TurnId | null> {
  const found =
    (yield* queries.reads.turnOfMessage.first({ id: id as InboxId })) ??
    (yield* queries.reads.turnOfReply.first({ id })) ??
    (yield* queries.reads.turnOfCall.first({ id }));
  return found?.turn_id ?? null;
}

interface Going {
  readonly ids: Ids;
  readonly queries: Queries;
  keepFile(): Steps<void>;
  readonly shown: ReturnType<typeof createShownTurns>;
}

interface Rewinding extends Going {
  readonly items: ReturnType<typeof createTurnItems>;
  readonly keepConversation: ReturnType<typeof createConversationKeeping>;
}

function* rewind(
  { ids, queries, items, shown, keepConversation, keepFile }: Rewinding,
  key: SessionKey,
  { turnId, file, at }: RewindPoint,
): Steps<Rewound> {
  if (yield* queries.reads.underWay.first({ key })) return { kind: "busy" };
  if (!(yield* shown.isShown(key, turnId))) return { kind: "gone" };
  const target = yield* queries.reads.turn.first({ id: turnId });
  if (!target) return { kind: "gone" };
  const hidden: string[] = [];
  let turn = yield* shown.before(key, NEWEST);
  for (let count = 0; turn && turn.seq >= target.seq; count++) {
    if (count === MAX_REWOUND_TURNS) return { kind: "too_far" };
    hidden.push(...(yield* items(turn)).map(({ id }) => id));
    turn = yield* shown.before(key, turn.seq);
  }
  yield* queries.writes.supersede.run({ key, from: target.seq, at });
  yield* queries.writes.shorten.run({ key, up_to: target.seq - 1 });
  yield* keepConversation(key, at);
  yield* keepFile();
  yield* queries.writes.goOn.run({ key, ...filePlace(ids, file), at });
  if (!turn) yield* queries.writes.untitle.run({ key, search_text: searchTextOf("", key) });
  return { kind: "rewound", hidden };
}

interface Branching extends Going {
  readonly addSession: ReturnType<typeof createNewSessions>;
}

function* branch({ ids, queries, shown, addSession, keepFile }: Branching, wanted: NewBranch): Steps<boolean> {
  const { from, turnId, key, at } = wanted;
  const source = yield* queries.reads.session.first({ key: from });
  const turn = yield* queries.reads.turn.first({ id: turnId });
  if (!source || !turn || !(yield* shown.isShown(from, turnId))) return false;
  if (yield* queries.reads.session.first({ key })) return false;
  const { channel, title, person } = wanted;
  yield* addSession({ key, channel, agentId: source.agent_id, title, person, messages: 0, at });
  yield* keepFile();
  const { model, thinking } = source;
  yield* queries.writes.settle.run({ key, ...filePlace(ids, wanted.file), model, thinking });
  for (const { from_key, up_to, at: since } of yield* shown.origins(from))
    yield* queries.writes.addOrigin.run({ session_key: key, from_key, up_to: Math.min(up_to, turn.seq), at: since });
  if (turn.session_key === from)
    yield* queries.writes.addOrigin.run({ session_key: key, from_key: from, up_to: turn.seq, at });
  yield* queries.writes.copyTools.run({ from, key });
  return true;
}

function filePlace(ids: Ids, copied: RewindPoint["file"]): Pick<SessionTable, "file" | "settled_bytes"> {
  return { file: copied?.name ?? newSessionFile(ids), settled_bytes: copied?.bytes ?? 0 };
}

type Key = { readonly key: SessionKey };

function createQueries(sql: Sql) {
  return { reads: reading(sql), writes: writing(sql) };
}

function reading(sql: Sql) {
  return {
    turnOfMessage: sql.prepare((db, p: Params<{ id: InboxId }>) =>
      db.selectFrom("inbox").select("turn_id").where("id", "=", p("id")),
    ),
    turnOfReply: sql.prepare((db, p: Params<{ id: string }>) =>
      db.selectFrom("outbox").select("turn_id").where("id", "=", p("id")),
    ),
    turnOfCall: sql.prepare((db, p: Params<{ id: string }>) =>
      db.selectFrom("tool_calls").select("turn_id").where("id", "=", p("id")),
    ),
    turn: sql.prepare((db, p: Params<{ id: TurnId }>) =>
      db
        .selectFrom("turns")
        .select(["seq", "id", "session_key", "state", "file", "began_bytes", "settled_bytes", "ended_at"])
        .where("id", "=", p("id")),
    ),
    session: sql.prepare((db, p: Params<Key>) =>
      db.selectFrom("sessions").select(["agent_id", "model", "thinking"]).where("key", "=", p("key")),
    ),
    underWay: sql.prepare((db, p: Params<Key>) =>
      db
        .selectFrom("sessions")
        .select("key")
        .where("key", "=", p("key"))
        .where(
          raw<boolean>`(exists (select 1 from turns where turns.session_key = ${p("key")} and turns.state = 'running')
            or exists (select 1 from inbox where inbox.session_key = ${p("key")} and inbox.done = 0))`,
        ),
    ),
  };
}

function writing(sql: Sql) {
  return {
    supersede: sql.prepare((db, p: Params<Key & { from: number; at: number }>) =>
      db
        .updateTable("turns")
        .set({ superseded_at: p("at") })
        .where("session_key", "=", p("key"))
        .where("seq", ">=", p("from"))
        .where("superseded_at", "is", null),
    ),
    /** What it has of other sessions ends earlier. */
    shorten: sql.prepare((db, p: Params<Key & Pick<SessionBranchTable, "up_to">>) =>
      db
        .updateTable("session_branches")
        .set({ up_to: p("up_to") })
        .where("session_key", "=", p("key"))
        .where("up_to", ">", p("up_to")),
    ),
    goOn: sql.prepare((db, p: Params<Key & Pick<SessionTable, "file" | "settled_bytes"> & { at: number }>) =>
      db
        .updateTable("sessions")
        .set({ ...p.row("file", "settled_bytes"), switched_by: null, last_activity_at: p("at") })
        .where("key", "=", p("key")),
    ),
    /** Nothing is left that it was called by; the next message gives it a title. */
    untitle: sql.prepare((db, p: Params<Key & Pick<SessionTable, "search_text">>) =>
      db
        .updateTable("sessions")
        .set({ title: "", search_text: p("search_text") })
        .where("key", "=", p("key"))
        .where("named", "=", raw.lit(0)),
    ),
    settle: sql.prepare((db, p: Params<Key & Pick<SessionTable, "file" | "settled_bytes" | "model" | "thinking">>) =>
      db
        .updateTable("sessions")
        .set(p.row("file", "settled_bytes", "model", "thinking"))
        .where("key", "=", p("key")),
    ),
    addOrigin: sql.prepare((db, p: Params<SessionBranchTable>) =>
      db.insertInto("session_branches").values(p.row("session_key", "from_key", "up_to", "at")),
    ),
    copyTools: sql.prepare((db, p: Params<Key & { from: SessionKey }>) =>
      db
        .insertInto("session_tools")
        .columns(["session_key", "tool", "position", "at"])
        .expression((eb) =>
          eb
            .selectFrom("session_tools")
            .select([raw<SessionKey>`${p("key")}`.as("session_key"), "tool", "position", "at"])
            .where("session_key", "=", p("from")),
        ),
    ),
  };
}
