/** Stores on Postgres for the contract suites. A database and the gateway on it are used again by the next test, after they were made blank. */
import type { InboxId } from "../../contracts/ids.ts";
import type { Store } from "../../contracts/store.ts";
import { systemClock } from "../../kit/clock.ts";
import { secret } from "../../kit/secret.ts";
import { openStore } from "../../store/index.ts";
import type { OpenStoreWorld, StoreWorld } from "../contracts/store/store-world.ts";
import { recordingLog } from "../recording-log.ts";
import { createSeqIds } from "../seq-ids.ts";
import { tempHome } from "../temp-home.ts";
import { createTestDatabase } from "./database.ts";
import { STORE_TABLES } from "./store-tables.ts";

interface PostgresWorlds extends AsyncDisposable {
  readonly open: OpenStoreWorld;
}

/** For one test file: everything goes when it is disposed of. */
export function createPostgresWorlds(): PostgresWorlds {
  const all = new AsyncDisposableStack();
  const free: Place[] = [];
  return {
    async open(more) {
      const place = more ? null : free.pop();
      if (!place) return worldIn(all.use(await createPlace(more ?? {})), more ? null : free);
      await place.blank();
      return worldIn(place, free);
    },
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
}

/** A database, a state directory, and the gateway that is open on them. */
interface Place extends AsyncDisposable {
  current: Store;
  open(): Promise<Store>;
  blank(): Promise<void>;
}

async function createPlace(more: NonNullable<Parameters<OpenStoreWorld>[0]>): Promise<Place> {
  await using building = new AsyncDisposableStack(); // a store that does not open leaves nothing behind
  const home = building.use(await tempHome());
  const database = building.use(await createTestDatabase(STORE_TABLES));
  const deps = { clock: systemClock, ids: createSeqIds(), log: recordingLog(), ...more }; // each gateway has an id of its own
  let opened = 0;
  const open = (): Promise<Store> => {
    const beside = { stateDirectory: `directory ${opened++}` }; // each gateway as if it were on a machine of its own
    return openStore(deps, { home: home.path, url: secret(database.url), beside });
  };
  const cleaner = building.use(new Bun.SQL(database.url, { max: 1 }));
  const current = await open();
  const rest = building.move();
  const place: Place = {
    current,
    open,
    async blank() {
      await cleaner`select blank()`;
    },
    async [Symbol.asyncDispose]() {
      await place.current[Symbol.asyncDispose]();
      await rest.disposeAsync();
    },
  };
  return place;
}

/** `free`: where the place goes when the test has ended; null: nowhere. */
function worldIn(place: Place, free: Place[] | null): StoreWorld {
  const seconds = new AsyncDisposableStack();
  return {
    store: place.current,
    isShared: true,
    async reopen() {
      await place.current[Symbol.asyncDispose]();
      place.current = await place.open();
      return place.current;
    },
    async openSecond() {
      return seconds.use(await place.open());
    },
    async [Symbol.asyncDispose]() {
      await seconds.disposeAsync();
      const isOpen = await place.current.inbox.senderOf("nobody" as InboxId).then(
        () => true,
        () => false,
      );
      if (isOpen) free?.push(place);
    },
  };
}
