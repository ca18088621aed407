/** What the engines say differently. Row code asks here, and knows no engine by name. */
import { type RawBuilder, sql as raw } from "kysely";

export interface Dialect {
  /**
   * A column as a condition that no index shall be chosen for. SQLite knows nothing about how many rows there are of each value, and would
   * guess; Postgres keeps statistics, and is not told.
   */
  unindexed(column: string): RawBuilder<string>;
  /** The column begins with the first text, ends with the last, and has the others between them; letters in the case they are in. */
  glob(column: string, texts: readonly string[]): RawBuilder<boolean>;
  /** The texts of several rows with spaces between them, in the order of another column; null: there is no row. SQLite walks them by it. */
  inOneText(column: string, order: string): RawBuilder<string | null>;
  /** A row that is read in order to be changed is locked until the end of the transaction. SQLite has one writer. */
  readonly locksRows: boolean;
  /** For a row that is changed to be the newest of its table: its new `seq`. */
  nextNumber(table: string): RawBuilder<number>;
  /** Other gateways may write to the same database: what this one remembers of it may be old. */
  readonly severalGateways: boolean;
  /** Now, in milliseconds, by the clock of the database. */
  readonly now: RawBuilder<number>;
  /** Since when the database answers, by the same clock: before that nobody could say that it lives. */
  readonly upSince: RawBuilder<number>;
  /** How texts are found by their words. */
  readonly wordSearch: "fts5" | "tsvector";
}

export const sqliteDialect: Dialect = {
  unindexed: (column) => raw<string>`+${raw.ref(column)}`,
  glob: (column, texts) =>
    raw<boolean>`+${raw.ref(column)} glob ${texts.map((text) => text.replaceAll(/[*?[]/g, "[$&]")).join("*")}`,
  inOneText: (column) => raw<string | null>`group_concat(${raw.ref(column)}, ' ')`,
  locksRows: false,
  nextNumber: (table) => raw<number>`(select max(seq) + 1 from ${raw.table(table)})`,
  severalGateways: false,
  now: raw<number>`cast(unixepoch('subsec') * 1000 as integer)`,
  upSince: raw<number>`0`, // a file has no server
  wordSearch: "fts5",
};

export const postgresDialect: Dialect = {
  unindexed: (column) => raw.ref<string>(column),
  glob: (column, texts) =>
    raw<boolean>`${raw.ref(column)} like ${texts.map((text) => text.replaceAll(/[\\%_]/g, "\\$&")).join("%")} escape '\\'`,
  inOneText: (column, order) => raw<string | null>`string_agg(${raw.ref(column)}, ' ' order by ${raw.ref(order)})`,
  locksRows: true,
  nextNumber: () => raw<number>`default`,
  severalGateways: true,
  now: raw<number>`floor(extract(epoch from clock_timestamp()) * 1000)::bigint`,
  upSince: raw<number>`floor(extract(epoch from pg_postmaster_start_time()) * 1000)::bigint`,
  wordSearch: "tsvector",
};
