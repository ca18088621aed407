/**
 * Reads that may pass a great many rows: a word that is in every message, a title among a hundred thousand. SQLite answers in the thread that
 * asks, and the whole gateway would stand still; these are asked in a thread of their own, each with a limit of time. The thread is started by
 * the first search and ends when nobody has searched for a while.
 */
import { SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler } from "kysely";
import { GatewayError } from "../../contracts/errors.ts";
import type { Clock } from "../../kit/clock.ts";
import { orAborted } from "../../kit/deferred.ts";
import { sqliteDialect } from "../dialect.ts";
import { storeFailed } from "../group-commit.ts";
import { isDamage } from "../health/write-faults.ts";
import type { Sql } from "../sql.ts";
import { runWaiting, type Steps } from "../steps.ts";
import { createOutgoingSql } from "./outgoing-sql.ts";
import { type SearchThread, startSearchThread } from "./search-thread.ts";

export interface Searches {
  /** Throws `search_too_slow`, and `queue_full` while too many others search. */
  search<T>(run: (sql: Sql) => Steps<T>): Promise<T>;
  close(): Promise<void>;
}

/** With the wait for those that asked before. */
export const SEARCH_MS = 3_000;
export const MAX_SEARCHES = 20;
export const IDLE_MS = 60_000;
/** For the query that runs when the gateway stops. The log stays beside the database then, and the next start reads it. */
const END_MS = 1_000;

interface SearchDeps {
  readonly clock: Clock;
  /** True: what was damaged was a full-text index, which is new now. */
  repair(error: unknown): boolean;
  start?(databaseFile: string): SearchThread;
}

export function createSearches(
  { clock, repair, start = startSearchThread }: SearchDeps,
  databaseFile: string,
): Searches {
  const sql = createOutgoingSql({
    dialect: sqliteDialect,
    adapter: new SqliteAdapter(),
    compiler: new SqliteQueryCompiler(),
    introspect: (db) => new SqliteIntrospector(db),
  });
  let thread: SearchThread | null = null;
  let idle: { readonly ending: AbortController } | null = null;
  let searching = 0;
  let closed = false;

  const endSoon = (): void => {
    const ending = new AbortController();
    idle = { ending };
    void clock.sleep(IDLE_MS, ending.signal).then(
      () => {
        const old = thread;
        thread = null;
        void old?.end(); // never rejects
      },
      () => undefined, // somebody searches again
    );
  };
  const search = async <T>(run: (sql: Sql) => Steps<T>): Promise<T> => {
    if (closed) throw new GatewayError("stopping", "the store is closed");
    if (searching >= MAX_SEARCHES) throw tooMany();
    searching++;
    idle?.ending.abort(new Error("somebody searches"));
    idle = null;
    const asked = (thread ??= start(databaseFile));
    using limit = clock.deadline(SEARCH_MS, tooSlow);
    try {
      return await orAborted(
        runWaiting(run(sql), (query) => asked.ask(query)),
        limit.signal,
      );
    } finally {
      searching--;
      if (searching === 0 && !closed) endSoon();
    }
  };

  return {
    async search(run) {
      try {
        return await search(run);
      } catch (error) {
        if (!isDamage(error) || !repair(error)) throw storeFailed(error);
      }
      return search(run).catch((error: unknown) => {
        throw storeFailed(error);
      });
    },
    async close() {
      closed = true;
      idle?.ending.abort(new Error("the store is closing"));
      const old = thread;
      thread = null;
      if (!old) return;
      using limit = clock.deadline(END_MS, () => new Error("a search takes too long to end"));
      await orAborted(old.end(), limit.signal).catch(() => old.kill());
    },
  };
}

function tooSlow(): GatewayError {
  return new GatewayError("search_too_slow", "the search took too long");
}

function tooMany(): GatewayError {
  return new GatewayError("queue_full", "too many searches at once", {
    say: "Too many searches run at the same time. Try again in a moment.",
  });
}
