/** Searches have a thread to themselves and a limit of time: with a real database where threads and files matter, else with a played thread. */
import { describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { sql as raw } from "kysely";
import { deferred } from "../../kit/deferred.ts";
import { systemClock } from "../../kit/clock.ts";
import { systemIds } from "../../kit/ids.ts";
import { silentLog } from "../../kit/log.ts";
import { createFakeClock } from "../../testing/fake-clock.ts";
import { tempHome } from "../../testing/temp-home.ts";
import { DATABASE_FILE } from "../inspect.ts";
import { openStore } from "../open.ts";
import type { Sql } from "../sql.ts";
import type { Answer, Steps } from "../steps.ts";
import type { SearchThread } from "./search-thread.ts";
import { createSearches, IDLE_MS, MAX_SEARCHES, SEARCH_MS } from "./searches.ts";

/** Counts far, which takes SQLite a while. */
function* counted(sql: Sql): Steps<number> {
  const rows = yield* sql.all((db) => ({
    compile: () =>
      raw<{ n: number }>`with recursive many (n) as (select 1 union all select n + 1 from many where n < 200000)
        select max(n) as n from many`.compile(db),
  }));
  return rows[0]?.n ?? 0;
}

function* asked(sql: Sql): Steps<readonly unknown[]> {
  return yield* sql.all((db) => db.selectFrom("sessions").select("key"));
}

const openTestStore = (home: string) => openStore({ clock: systemClock, ids: systemIds, log: silentLog }, { home });

describe("a search in the database of a gateway", () => {
  test("that passes a great many rows keeps nothing else waiting", async () => {
    await using home = await tempHome();
    await using store = await openTestStore(home.path);
    const searches = createSearches({ clock: systemClock, repair: () => false }, join(home.path, DATABASE_FILE));
    const order: string[] = [];
    const search = searches.search(counted).then((n) => order.push(`counted ${n}`));
    await store.sessions.total();
    order.push("read meanwhile");
    await search;
    expect(order).toEqual(["read meanwhile", "counted 200000"]);
    await searches.close();
  });

  test("leaves nothing of its connection behind when the store closes: the log is folded into the database", async () => {
    await using home = await tempHome();
    {
      await using store = await openTestStore(home.path);
      expect(await store.sessions.list({ search: "nothing" }, { limit: 10 })).toEqual({ items: [] });
    }
    expect(existsSync(join(home.path, `${DATABASE_FILE}-wal`))).toBe(false);
  });

  test("cannot write", async () => {
    await using home = await tempHome();
    await using _store = await openTestStore(home.path);
    const searches = createSearches({ clock: systemClock, repair: () => false }, join(home.path, DATABASE_FILE));
    const write = function* (sql: Sql): Steps<unknown> {
      return yield* sql.all((db) => db.deleteFrom("sessions"));
    };
    await expect(searches.search(write)).rejects.toThrow("readonly database");
    await searches.close();
  });
});

/** A thread that answers when the test says so. */
function playedThread() {
  const queries: ReturnType<typeof deferred<Answer>>[] = [];
  let started = 0;
  let ended = 0;
  const thread: SearchThread = {
    ask: () => {
      const answer = deferred<Answer>();
      queries.push(answer);
      return answer.promise;
    },
    end: async () => void ended++,
    kill: () => void ended++,
  };
  const start = (): SearchThread => {
    started++;
    return thread;
  };
  return { queries, start, counts: () => ({ started, ended }) };
}

const found = (...rows: unknown[]): Answer => ({ rows, count: rows.length });

function world(repair: (error: unknown) => boolean = () => false) {
  const clock = createFakeClock();
  const played = playedThread();
  return { clock, played, searches: createSearches({ clock, repair, start: played.start }, "unused.db") };
}

describe("a search in a thread", () => {
  test("that is not answered in time is told so, and the next one may be", async () => {
    const { clock, played, searches } = world();
    const slow = searches.search(asked);
    const told = slow.catch((error: { code: string }) => error.code);
    await clock.advance(SEARCH_MS);
    expect(await told).toBe("search_too_slow");
    const next = searches.search(asked);
    played.queries[1]?.resolve(found({ key: "a" }));
    expect(await next).toEqual([{ key: "a" }]);
  });

  test("beside too many others is refused at once", async () => {
    const { played, searches } = world();
    const open = Array.from({ length: MAX_SEARCHES }, () => searches.search(asked));
    await expect(searches.search(asked)).rejects.toMatchObject({ code: "queue_full" });
    for (const query of played.queries) query.resolve(found());
    expect(await Promise.all(open)).toHaveLength(MAX_SEARCHES);
    const next = searches.search(asked);
    played.queries.at(-1)?.resolve(found());
    expect(await next).toEqual([]);
  });

  test("starts it once, and it ends when nobody has searched for a minute", async () => {
    const { clock, played, searches } = world();
    const search = async () => {
      const answer = searches.search(asked);
      played.queries.at(-1)?.resolve(found());
      await answer;
    };
    expect(played.counts()).toEqual({ started: 0, ended: 0 });
    await search();
    await clock.advance(IDLE_MS - 1);
    await search();
    await clock.advance(IDLE_MS - 1);
    expect(played.counts()).toEqual({ started: 1, ended: 0 });
    await clock.advance(1);
    expect(played.counts()).toEqual({ started: 1, ended: 1 });
    await search();
    expect(played.counts()).toEqual({ started: 2, ended: 1 });
    await searches.close();
    expect(played.counts()).toEqual({ started: 2, ended: 2 });
    await expect(searches.search(asked)).rejects.toMatchObject({ code: "stopping" });
  });

  test("that found a damaged index is asked once more after the repair, and only then", async () => {
    const damage = Object.assign(new Error("malformed"), { code: "SQLITE_CORRUPT_VTAB" });
    const { played, searches } = world((error) => error === damage);
    const search = searches.search(asked);
    played.queries[0]?.reject(damage);
    await Promise.resolve();
    for (let look = 0; look < 20 && played.queries.length < 2; look++) await Promise.resolve();
    played.queries[1]?.resolve(found({ key: "b" }));
    expect(await search).toEqual([{ key: "b" }]);
    const other = searches.search(asked);
    played.queries[2]?.reject(new Error("no such column"));
    await expect(other).rejects.toMatchObject({ code: "store_failed" });
  });
});
