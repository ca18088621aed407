/** Events that wait for a turn of their session. Which of them were shown follows from how the turn that had them ended. */
import { sql as raw } from "kysely";
import {
  type ClaimedEvents,
  MAX_EVENT_CHARS,
  MAX_EVENTS_PER_SESSION,
  type SystemEvent,
  type SystemEventStore,
} from "../../../contracts/automation/system-event.ts";
import type { SessionKey, TurnId } from "../../../contracts/ids.ts";
import type { SystemEventTable } from "../../schema.ts";
import type { Params, Sql } from "../../sql.ts";
import type { Steps } from "../../steps.ts";
import { fromColumns, toColumns } from "../named-columns.ts";
import type { RowDeps } from "../row-deps.ts";
import { NEWEST } from "../paging.ts";

/** An id is remembered for this long after its event has expired, so that a late repeat is still one. */
const REMEMBER_MS = 7 * 86_400_000;
/** Of at most 8,000 characters each. */
const MAX_REAL_TEXTS = 100;

export function createSystemEvents({ sql, read, write }: RowDeps): SystemEventStore {
  const queries = createQueries(sql);
  const realTexts = new Map<string, string>(); // by event

  function* add(event: SystemEvent): Steps<boolean> {
    yield* queries.forget.run({ before: event.createdAt - REMEMBER_MS });
    const text = event.text.slice(0, MAX_EVENT_CHARS).toWellFormed();
    if ((yield* queries.add.run({ ...toColumns(COLUMNS, event), text })) === 0) return false;
    if (event.real !== undefined) rememberReal(realTexts, event.id, event.real);
    const key = event.sessionKey;
    yield* queries.settle.run({ key });
    yield* queries.release.run({ key });
    const tooMany = yield* queries.tooMany.all({ key, keep: MAX_EVENTS_PER_SESSION });
    for (const { seq } of tooMany) yield* queries.hide.run({ seq });
    return true;
  }

  function* claim(key: SessionKey, turnId: TurnId, now: number): Steps<ClaimedEvents> {
    yield* queries.settle.run({ key });
    yield* queries.release.run({ key });
    yield* queries.claim.run({ key, turnId, now });
    const rows = yield* queries.claimed.all({ key, turnId });
    const events = rows.filter(({ hidden }) => hidden === 0).map((row) => toEvent(row, realTexts.get(row.id)));
    return { events, hidden: rows.length - events.length };
  }

  return {
    add: (event) => write(() => add(event)),
    async claim(key, turnId, now) {
      // Nearly every turn finds nothing, and a look costs a tenth of a write.
      if (!(await read(() => queries.unshown.first({ key })))) return { events: [], hidden: 0 };
      return write(() => claim(key, turnId, now), "with the next"); // lost in a power cut, so is the turn that had them
    },
    waiting: (key, now) =>
      read(function* () {
        return (yield* queries.waiting.first({ key, now }))?.n ?? 0;
      }),
  };
}

/** The oldest is forgotten first: its event then shows the text that was written down. */
function rememberReal(realTexts: Map<string, string>, id: string, real: string): void {
  const [oldest] = realTexts.keys();
  if (realTexts.size >= MAX_REAL_TEXTS && oldest !== undefined) realTexts.delete(oldest);
  realTexts.set(id, real.slice(0, MAX_EVENT_CHARS).toWellFormed());
}

type Key = { readonly key: SessionKey };
const COLUMNS = ["id", "session_key", "source", "kind", "text", "created_at", "expires_at"] as const;
type NewEvent = Pick<SystemEventTable, (typeof COLUMNS)[number]>;

/** A turn that had it and ended well, or did not. */
const ENDED = (state: string) => raw<boolean>`turn_id in (select id from turns where state ${raw.raw(state)})`;

function createQueries(sql: Sql) {
  return { ...keeping(sql), ...showing(sql) };
}

function keeping(sql: Sql) {
  return {
    add: sql.prepare((db, p: Params<NewEvent>) =>
      db
        .insertInto("system_events")
        .values(p.row(...COLUMNS))
        .onConflict((conflict) => conflict.column("id").doNothing()),
    ),
    forget: sql.prepare((db, p: Params<{ before: number }>) =>
      db.deleteFrom("system_events").where("expires_at", "<", p("before")),
    ),
    tooMany: sql.prepare((db, p: Params<Key & { keep: number }>) =>
      db
        .selectFrom("system_events")
        .select("seq")
        .where("session_key", "=", p("key"))
        .where("shown", "=", raw.lit(0))
        .where("hidden", "=", raw.lit(0))
        .where("turn_id", "is", null)
        .orderBy("seq", "desc")
        .limit(NEWEST)
        .offset(p("keep")),
    ),
    hide: sql.prepare((db, p: Params<{ seq: number }>) =>
      db.updateTable("system_events").set({ hidden: 1, text: "" }).where("seq", "=", p("seq")),
    ),
  };
}

function showing(sql: Sql) {
  return {
    unshown: sql.prepare((db, p: Params<Key>) =>
      db
        .selectFrom("system_events")
        .select("seq")
        .where("session_key", "=", p("key"))
        .where("shown", "=", raw.lit(0))
        .limit(1),
    ),
    settle: sql.prepare((db, p: Params<Key>) =>
      db
        .updateTable("system_events")
        .set({ shown: 1 })
        .where("session_key", "=", p("key"))
        .where("shown", "=", raw.lit(0))
        .where(ENDED("= 'done'")),
    ),
    release: sql.prepare((db, p: Params<Key>) =>
      db
        .updateTable("system_events")
        .set({ turn_id: null })
        .where("session_key", "=", p("key"))
        .where("shown", "=", raw.lit(0))
        .where(ENDED("in ('failed', 'aborted')")),
    ),
    claim: sql.prepare((db, p: Params<Key & { turnId: TurnId; now: number }>) =>
      db
        .updateTable("system_events")
        .set({ turn_id: p("turnId") })
        .where("session_key", "=", p("key"))
        .where("shown", "=", raw.lit(0))
        .where("turn_id", "is", null)
        .where("expires_at", ">", p("now")),
    ),
    claimed: sql.prepare((db, p: Params<Key & { turnId: TurnId }>) =>
      db
        .selectFrom("system_events")
        .selectAll()
        .where("session_key", "=", p("key"))
        .where("shown", "=", raw.lit(0))
        .where("turn_id", "=", p("turnId"))
        .orderBy("seq"),
    ),
    waiting: sql.prepare((db, p: Params<Key & { now: number }>) =>
      db
        .selectFrom("system_events")
        .select((eb) => eb.fn.countAll<number>().as("n"))
        .where("session_key", "=", p("key"))
        .where("shown", "=", raw.lit(0))
        .where("kind", "!=", raw.lit("said"))
        .where("expires_at", ">", p("now"))
        .where(
          raw<boolean>`(turn_id is null or turn_id in (select id from turns where state in ('failed', 'aborted')))`,
        ),
    ),
  };
}

function toEvent(row: NewEvent, real: string | undefined): SystemEvent {
  return { ...fromColumns(COLUMNS, row), ...(real === undefined ? {} : { real }) };
}
