/** Terms of queries in the words that both engines know. */
import { type RawBuilder, sql as raw } from "kysely";

/** The greater of a column and a value: `max` of two values is SQLite's word, `greatest` is Postgres'. */
export function greater(column: string, value: number): RawBuilder<number> {
  return raw<number>`case when ${raw.ref(column)} > ${value} then ${raw.ref(column)} else ${value} end`;
}

/** For a row that is there already: these columns get the values of the row that was to be inserted. */
export function newValues<Column extends string>(...columns: readonly Column[]): Record<Column, RawBuilder<never>> {
  const values = columns.map((column) => [column, raw.ref<never>(`excluded.${column}`)]);
  return Object.fromEntries(values) as Record<Column, RawBuilder<never>>;
}
