/** Plain questions to either engine, in SQL that both understand: for what reads whole tables and needs no typed query. Values travel as `$1`, `$2` …, first used in this order. */
import type { Database, SQLQueryBindings } from "bun:sqlite";
import type { Connection } from "./postgres/connection.ts";

export type AskRows = <R>(text: string, values?: readonly unknown[]) => Promise<readonly R[]>;

export function askSqlite(db: Database): AskRows {
  return async <R>(text: string, values: readonly unknown[] = []) => {
    const statement = db.prepare<R, SQLQueryBindings[]>(text);
    try {
      return statement.all(...(values as SQLQueryBindings[]));
    } finally {
      statement.finalize(); // one that is left open keeps the file open
    }
  };
}

export function askPostgres(connection: Pick<Connection, "ask">): AskRows {
  return async <R>(text: string, values: readonly unknown[] = []) =>
    (await connection.ask({ text, values, name: null })).rows as R[];
}

/** `$1, $2, $3` for `count` values, of which the first is `$from`. */
export function placeholders(count: number, from = 1): string {
  return Array.from({ length: count }, (_, index) => `$${from + index}`).join(", ");
}
