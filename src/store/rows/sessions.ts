/** Sessions: what they are about, in order of activity, and the switch to an empty memory. Never lists by counting rows. */
import type { SessionSummary } from "../../contracts/chat.ts";
import type { AgentId, SessionKey } from "../../contracts/ids.ts";
import type { Listed, Page } from "../../contracts/paging.ts";
import type { SessionStore } from "../../contracts/store.ts";
import type { Dialect } from "../dialect.ts";
import type { StoredFiles } from "../files/stored-files.ts";
import type { SessionTable } from "../schema.ts";
import type { Builder, Params, Sql } from "../sql.ts";
import type { Steps } from "../steps.ts";
import { sql as raw } from "kysely";
import { fromUsageColumns } from "./codec.ts";
import { decodeCursor, pageOf, pageSize } from "./paging.ts";
import type { RowDeps } from "./row-deps.ts";
import { createFreshStart } from "./chats/conversations.ts";
import { RUN_CHANNELS } from "./chats/conversation-queries.ts";
import { createMessageSearch } from "./chats/message-search.ts";
import { createSessionRemoval } from "./chats/session-removal.ts";
import { createSessionBranches } from "./chats/session-branches.ts";
import { createSessionChanges } from "./chats/session-changes.ts";
import { withinReach } from "./session-reach.ts";
import { createTranscript } from "./transcript.ts";
import { containing } from "./one-line.ts";

const MAX_SEARCH_CHARS = 200;
const SUMMARY = [
  ...["key", "channel", "title", "created_at", "last_activity_at", "messages"],
  ...["input_tokens", "output_tokens", "cost_usd", "model", "thinking", "queue_mode"],
  ...["person", "pinned_at", "archived_at"],
] as const satisfies readonly (keyof SessionTable)[];

type SummaryRow = Pick<SessionTable, (typeof SUMMARY)[number]>;

/** `files`: session files in the database; null: there are none. */
export function createSessions(deps: RowDeps, files: StoredFiles | null): SessionStore {
  const { sql, read, search, write, ids } = deps;
  const byKey = sql.prepare((db, p: Params<{ key: SessionKey }>) =>
    db.selectFrom("sessions").select(SUMMARY).where("key", "=", p("key")),
  );
  const removal = createSessionRemoval(deps);
  const startAfresh = createFreshStart(sql, ids);

  const addedUp = sql.prepare((db, _p: Params<object>) =>
    db
      .selectFrom("sessions")
      .select((eb) => [
        eb.fn.countAll<number>().as("sessions"),
        eb.fn.coalesce(eb.fn.sum<number>("input_tokens"), eb.lit(0)).as("input_tokens"),
        eb.fn.coalesce(eb.fn.sum<number>("output_tokens"), eb.lit(0)).as("output_tokens"),
        eb.fn.coalesce(eb.fn.sum<number>("cost_usd"), eb.lit(0)).as("cost_usd"),
      ]),
  );

  const changeMode = sql.prepare((db, p: Params<{ key: SessionKey; mode: SessionTable["queue_mode"] }>) =>
    db
      .updateTable("sessions")
      .set({ queue_mode: p("mode") })
      .where("key", "=", p("key")),
  );

  return {
    get: (key) =>
      read(function* () {
        const row = yield* byKey.first({ key });
        return row && toSummary(row);
      }),
    list: (filter, page) =>
      filter.search ? search((apart) => list(apart, filter, page)) : read(() => list(sql, filter, page)),
    transcript: createTranscript(deps),
    remove: removal.remove,
    waiting: removal.waiting,
    searchMessages: createMessageSearch(deps),
    total: () =>
      read(function* () {
        const row = yield* addedUp.first({});
        if (!row) return { sessions: 0, usage: { inputTokens: 0, outputTokens: 0, costUsd: 0 } };
        return { sessions: row.sessions, usage: fromUsageColumns(row) };
      }),
    reset: (key, at, byTurn) => write(() => startAfresh(key, { turnId: byTurn ?? null, at })),
    ...createSessionChanges(deps),
    branches: createSessionBranches(deps, files),
    setQueueMode: (key, mode) =>
      write(function* () {
        return (yield* changeMode.run({ key, mode })) > 0;
      }),
  };
}

function* list(sql: Sql, filter: Parameters<SessionStore["list"]>[0], page: Page): Steps<Listed<SessionSummary>> {
  const limit = pageSize(page);
  const after = page.cursor === undefined ? null : decodeCursor(page.cursor, ["number", "string"]);
  const rows = yield* sql.all((db) => listQuery(db, sql.dialect, filter, after).limit(limit + 1));
  return pageOf(rows, limit, toSummary, (last) => [last.last_activity_at, last.key]);
}

/** Walks the index by activity from the cursor on: the cost is the rows passed, not the rows there are. A search passes them all. */
function listQuery(
  db: Builder,
  dialect: Dialect,
  filter: Parameters<SessionStore["list"]>[0],
  after: readonly unknown[] | null,
) {
  const { search, channel, agent, person, pinned, archived = search ? undefined : false, within } = filter;
  // a search may fit one row or none: reading the table as it lies is faster then than a jump from the index to each row
  const lastActivity = search ? dialect.unindexed("last_activity_at") : raw.ref<number>("last_activity_at");
  let query = db.selectFrom("sessions").select(SUMMARY).orderBy(lastActivity, "desc").orderBy("key", "desc");
  query = query.where(raw<boolean>`not (messages = 0 and title = '')`); // only opened: nothing was said in it
  if (after) query = query.where(raw<boolean>`(${lastActivity}, key) < (${after[0]}, ${after[1]})`);
  if (within) query = query.where(withinReach(dialect, "key", within));
  if (agent !== undefined) query = query.where("agent_id", "=", agent as AgentId);
  if (person !== undefined) query = query.where(dialect.unindexed("person"), "=", person);
  if (pinned !== undefined) query = query.where("pinned_at", pinned ? "is not" : "is", null);
  if (archived !== undefined) query = query.where("archived_at", archived ? "is not" : "is", null);
  if (channel !== undefined) query = query.where("channel", "=", channel);
  else if (!search) query = query.where("channel", "not in", RUN_CHANNELS); // listed when they are asked for;
  if (search)
    query = query.where(raw<boolean>`search_text like ${containing(search.slice(0, MAX_SEARCH_CHARS))} escape '\\'`);
  return query;
}

function toSummary(row: SummaryRow): SessionSummary {
  return {
    key: row.key,
    channel: row.channel,
    title: row.title,
    createdAt: row.created_at,
    lastActivityAt: row.last_activity_at,
    messages: row.messages,
    usage: fromUsageColumns(row),
    ...(row.model === null ? {} : { model: row.model }),
    ...(row.thinking === null ? {} : { thinking: row.thinking }),
    ...(row.queue_mode === null ? {} : { queueMode: row.queue_mode }),
    ...(row.person === null ? {} : { person: row.person }),
    ...(row.pinned_at === null ? {} : { pinnedAt: row.pinned_at }),
    ...(row.archived_at === null ? {} : { archivedAt: row.archived_at }),
  };
}
