/**
 * A real Postgres database for a simulated world. Every life opens the shipped store over a wire of its own; its death ends the wire and the processes of
 * the server that served it, and is over before anybody looks at the rows. Time at the server is real.
 */
import type { Chance } from "../../../src/testing/chance.ts";
import { systemClock } from "../../../src/kit/clock.ts";
import { secret } from "../../../src/kit/secret.ts";
import { openStore } from "../../../src/store/index.ts";
import type { Trouble } from "../../../src/testing/disk.ts";
import { createTestDatabase } from "../../../src/testing/postgres/database.ts";
import { STORE_TABLES } from "../../../src/testing/postgres/store-tables.ts";
import { tempHome } from "../../../src/testing/temp-home.ts";
import type { SimDatabase } from "../database.ts";
import { openReader } from "./reader.ts";
import { openWire, type Wire } from "./wire.ts";

const END_ALL =
  "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()";
const COUNT_OTHERS =
  "select count(*) as count from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()";
const MAX_LOOKS = 10_000;

export async function openSimPostgres(chance: Chance): Promise<SimDatabase> {
  const home = await tempHome();
  const database = await createTestDatabase(STORE_TABLES);
  const reader = await openReader(database.url);
  const lives = new Map<object, { readonly wire: Wire; store: AsyncDisposable | null }>();
  let trouble: Trouble | null = null;

  const endProcesses = (): void => {
    reader.rows(END_ALL);
    for (let looks = 0; looks < MAX_LOOKS; looks++)
      if (reader.rows<{ count: number }>(COUNT_OTHERS)[0]?.count === 0) return;
    throw new Error("processes of Postgres do not end");
  };

  return {
    gathers: false,
    get trouble() {
      return trouble;
    },
    set trouble(next) {
      trouble = next;
    },
    rows: reader.rows,
    async open(deps, life) {
      const wire = openWire(database.url, { chance, trouble: () => trouble });
      const own: { readonly wire: Wire; store: AsyncDisposable | null } = { wire, store: null };
      lives.set(life, own);
      const clock = { ...systemClock, now: () => deps.clock.now() }; // connections wait for a real server
      const store = await openStore({ ...deps, clock }, { home: home.path, url: secret(wire.url) });
      own.store = store;
      return store;
    },
    killed(life) {
      const own = lives.get(life);
      if (!own) return;
      lives.delete(life);
      own.wire.end();
      endProcesses();
      void Promise.resolve(own.store?.[Symbol.asyncDispose]()).catch(() => undefined); // its timers end; it reaches nothing
    },
    async [Symbol.asyncDispose]() {
      for (const { wire, store } of lives.values()) {
        await store?.[Symbol.asyncDispose]();
        wire.end();
      }
      reader[Symbol.dispose]();
      await database[Symbol.asyncDispose]();
      await home[Symbol.asyncDispose]();
    },
  };
}
