/** The Postgres store against the promises of every store. */
import { describe } from "bun:test";
import type { Store } from "../../contracts/store.ts";
import { systemClock } from "../../kit/clock.ts";
import { secret } from "../../kit/secret.ts";
import { storeContract } from "../../testing/contracts/store/store-contract.ts";
import type { OpenStoreWorld } from "../../testing/contracts/store/store-world.ts";
import { createTestDatabase, testPostgres } from "../../testing/postgres/database.ts";
import { STORE_TABLES } from "../../testing/postgres/store-tables.ts";
import { recordingLog } from "../../testing/recording-log.ts";
import { createSeqIds } from "../../testing/seq-ids.ts";
import { tempHome } from "../../testing/temp-home.ts";
import { openStore } from "../index.ts";

const openWorld: OpenStoreWorld = async (more = {}) => {
  await using building = new AsyncDisposableStack(); // a store that does not open leaves nothing behind
  const home = building.use(await tempHome());
  const database = building.use(await createTestDatabase(STORE_TABLES));
  const deps = { clock: systemClock, ids: createSeqIds(), log: recordingLog(), ...more }; // each gateway has an id of its own
  const open = (): Promise<Store> => openStore(deps, { home: home.path, url: secret(database.url) });
  let store = await open();
  const rest = building.move();
  return {
    store,
    async reopen() {
      await store[Symbol.asyncDispose]();
      store = await open();
      return store;
    },
    async openSecond() {
      return rest.use(await open());
    },
    async [Symbol.asyncDispose]() {
      await store[Symbol.asyncDispose]();
      await rest.disposeAsync();
    },
  };
};

describe.skipIf((await testPostgres()) === null)("on Postgres", () => storeContract("a Postgres store", openWorld));
