/** Full-text search over what was said. A query is taken apart into words and put together again as quoted ones, so no text from outside is syntax. */
import { sql as raw } from "kysely";
import type { MessageHit, MessageQuery, SessionCare } from "../../../contracts/store/session-care.ts";
import type { Listed, Page } from "../../../contracts/paging.ts";
import type { Dialect } from "../../dialect.ts";
import type { Sql } from "../../sql.ts";
import type { Steps } from "../../steps.ts";
import { decodeCursor, encodeCursor, NEWEST, pageSize } from "../paging.ts";
import type { RowDeps } from "../row-deps.ts";
import { withinReach } from "../session-reach.ts";
import { snippetOf } from "./snippet.ts";
import { withoutAccents, wordMatcher } from "./word-match.ts";

const MAX_QUERY_CHARS = 200;
const MAX_QUERY_WORDS = 10;
/** For each message that is asked for, so many of the newest are read before the index is asked. */
const NEWEST_FOR_EACH = 8;

interface Found {
  /** Of the index. */
  readonly no: number;
  readonly id: string;
  readonly session_key: MessageHit["sessionKey"];
  readonly title: string;
  readonly channel: string;
  readonly text: string;
  readonly at: number;
}

/** Messages of people have even numbers in the index, replies odd ones. */
const SOURCES = {
  user: { table: "inbox", parity: 0, at: "received_at" },
  assistant: { table: "outbox", parity: 1, at: "created_at" },
} as const;
type Role = keyof typeof SOURCES;

export function createMessageSearch({ search, messageIndex, mask }: RowDeps): SessionCare["searchMessages"] {
  return async (query, page) => {
    const words = wordsOf(query.words);
    if (words.length === 0) return { items: [] };
    await messageIndex.catchUp();
    return search((sql) => findWords(sql, { query, words, page, mask }));
  };
}

interface Search {
  readonly query: MessageQuery;
  readonly words: readonly string[];
  readonly page: Page;
  mask(text: string): string;
}

/** Two walks through the index, newest first, merged by time. The cursor says how far each has come. */
function* findWords(sql: Sql, { query, words, page, mask }: Search): Steps<Listed<MessageHit>> {
  const limit = pageSize(page);
  const [said = NEWEST, replied = NEWEST] =
    page.cursor === undefined ? [] : (decodeCursor(page.cursor, ["number", "number"]) as number[]);
  const { dialect } = sql;
  const from = (role: Role, before: number) =>
    (dialect.wordSearch === "fts5" ? fromIndex : fromVectors)(sql, {
      role,
      query,
      words,
      before,
      limit: limit + 1,
      dialect,
    });
  const both = [
    ...(yield* from("user", said)).map((row) => ({ role: "user" as const, row })),
    ...(yield* from("assistant", replied)).map((row) => ({ role: "assistant" as const, row })),
  ].toSorted((one, other) => other.row.at - one.row.at);
  const taken = both.slice(0, limit);
  const items = taken.flatMap(({ role, row }) => hitOf(role, row, words, mask));
  if (both.length <= limit) return { items };
  const last = (role: Role, before: number) => taken.findLast((one) => one.role === role)?.row.no ?? before;
  return { items, next: encodeCursor([last("user", said), last("assistant", replied)]) };
}

interface Asked {
  readonly role: Role;
  readonly query: MessageQuery;
  readonly words: readonly string[];
  readonly before: number;
  readonly limit: number;
  readonly dialect: Dialect;
}

/**
 * FTS5 collects all rows that have a word with this beginning before it gives the first one: 50 ms and more for a word of every one of a million
 * messages. Such a word is in most of the newest ones, which are looked at first; when too few of them have it, the index is asked.
 */
function* fromIndex(sql: Sql, asked: Asked): Steps<readonly Found[]> {
  const matches = wordMatcher(asked.words);
  if (matches !== null) {
    const newest = yield* sql.all<Found>((db) => ({ compile: () => newestQuery(asked).compile(db) }));
    const found = newest.filter(({ text }) => matches(text));
    if (found.length >= asked.limit) return found.slice(0, asked.limit);
  }
  return yield* sql.all<Found>((db) => ({ compile: () => fts5Query(asked).compile(db) }));
}

function* fromVectors(sql: Sql, asked: Asked): Steps<readonly Found[]> {
  return yield* sql.all<Found>((db) => ({ compile: () => vectorQuery(asked).compile(db) }));
}

/** A fixed number of rows, however many of them the filters leave: it must not become a walk through the table. */
function newestQuery(asked: Asked) {
  const { table, parity, at } = SOURCES[asked.role];
  const message = raw.table(table);
  const below = Math.ceil((asked.before - parity) / 2);
  const from = raw<number>`(select max(seq) from ${message} where seq < ${below}) - ${asked.limit * NEWEST_FOR_EACH}`;
  const kept = table === "outbox" ? raw<boolean>`deleted_at is null` : raw<boolean>`true`;
  return raw<Found>`
    select ${message}.seq * 2 + ${raw.lit(parity)} as no, ${message}.id, session_key, title, sessions.channel, ${message}.text, ${raw.ref(`${table}.${at}`)} as at
    from ${message}
    cross join sessions on sessions.key = session_key
    where ${message}.seq < ${below} and ${message}.seq > ${from} and ${kept} and ${narrowed(asked)}
    order by ${message}.seq desc`;
}

/** `cross join` keeps SQLite with the index, which gives the order. */
function fts5Query(asked: Asked) {
  const { table, parity, at } = SOURCES[asked.role];
  const message = raw.table(table);
  const match = asked.words.map((word) => `"${word.replaceAll('"', '""')}"*`).join(" AND ");
  return raw<Found>`
    select message_index.rowid as no, ${message}.id, session_key, title, sessions.channel, ${message}.text, ${raw.ref(`${table}.${at}`)} as at
    from message_index
    cross join ${message} on ${message}.seq = message_index.rowid / 2
    cross join sessions on sessions.key = session_key
    where message_index match ${match} and message_index.rowid < ${asked.before}
      and message_index.rowid % 2 = ${raw.lit(parity)} and ${narrowed(asked)}
    order by message_index.rowid desc
    limit ${asked.limit}`;
}

/** The column `words` is there on Postgres alone. */
function vectorQuery(asked: Asked) {
  const { table, at } = SOURCES[asked.role];
  const message = raw.table(table);
  const match = asked.words.map((word) => `'${withoutAccents(word).replaceAll(/['\\]/g, "$&$&")}':*`).join(" & ");
  const kept = table === "outbox" ? raw<boolean>`deleted_at is null` : raw<boolean>`true`;
  return raw<Found>`
    select ${message}.seq as no, ${message}.id, session_key, title, sessions.channel, ${message}.text, ${raw.ref(`${table}.${at}`)} as at
    from ${message} join sessions on sessions.key = session_key
    where ${message}.words @@ to_tsquery('simple', ${match}) and ${message}.seq < ${asked.before}
      and ${kept} and ${narrowed(asked)}
    order by ${message}.seq desc
    limit ${asked.limit}`;
}

function narrowed({ role, query: { session, channel, within }, dialect }: Asked) {
  return raw<boolean>`${session === undefined ? raw<boolean>`true` : raw<boolean>`session_key = ${session}`}
      and ${channel === undefined ? raw<boolean>`true` : raw<boolean>`sessions.channel = ${channel}`}
      and not exists (select 1 from turns where turns.id = ${raw.ref(`${SOURCES[role].table}.turn_id`)} and turns.superseded_at is not null)
      and ${within ? withinReach(dialect, "session_key", within) : raw<boolean>`true`}`;
}

/** None when the words are in what is masked only: a search must not tell what a secret is made of. */
function hitOf(role: Role, row: Found, words: readonly string[], mask: (text: string) => string): MessageHit[] {
  const shown = mask(row.text);
  const snippet = snippetOf(shown, words);
  if (snippet === null && shown !== row.text) return [];
  const { id, session_key: sessionKey, title, channel, at } = row;
  return [{ id, sessionKey, title: mask(title), channel, role, at, snippet: snippet ?? snippetOf(shown, []) ?? "" }];
}

function wordsOf(text: string): readonly string[] {
  return text
    .slice(0, MAX_QUERY_CHARS)
    .toWellFormed()
    .split(/[\s\p{Cc}]+/u)
    .filter((word) => /[\p{L}\p{N}]/u.test(word))
    .slice(0, MAX_QUERY_WORDS);
}
