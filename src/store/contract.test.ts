/** The SQLite store against the promises of every store, and the promises against the doors: each method is in one of them. */
import { expect, test } from "bun:test";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Store } from "../contracts/store.ts";
import { systemClock } from "../kit/clock.ts";
import { storeContract } from "../testing/contracts/store/store-contract.ts";
import type { OpenStoreWorld } from "../testing/contracts/store/store-world.ts";
import { blankDisk } from "../testing/disk.ts";
import { recordingLog } from "../testing/recording-log.ts";
import { createSeqIds } from "../testing/seq-ids.ts";
import { tempHome } from "../testing/temp-home.ts";
import { openStore } from "./index.ts";

/** Tables that are made once: making them is most of what an empty store costs. */
let blank: Uint8Array | null = null;

const openWorld: OpenStoreWorld = async (more = {}) => {
  await using building = new AsyncDisposableStack(); // a store that does not open leaves no folder behind
  const home = building.use(await tempHome());
  await writeFile(join(home.path, "gateway.db"), (blank ??= blankDisk()), { mode: 0o600 });
  const deps = { clock: systemClock, ids: createSeqIds(), log: recordingLog(), ...more }; // each gateway has an id of its own
  const open = (): Promise<Store> => openStore(deps, { home: home.path });
  let store = await open();
  const rest = building.move();
  return {
    store,
    isShared: false,
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

storeContract("a SQLite store", openWorld);

test("every method of every door has promises that another engine can be held to", async () => {
  const contracts = join(import.meta.dir, "../testing/contracts");
  const files = [...new Bun.Glob("**/*-contract.ts").scanSync(contracts)];
  const text = (await Promise.all(files.map((file) => Bun.file(join(contracts, file)).text()))).join("\n");
  await using world = await openWorld();
  const methods = Object.entries(world.store).flatMap(([door, methodsOf]) =>
    typeof methodsOf === "object" ? Object.keys(methodsOf as object).map((method) => `${door}.${method}`) : [],
  );
  expect(methods.length).toBeGreaterThan(140);
  const isNamed = (method: string) => new RegExp(`\\b${method.replace(".", "\\.")}\\b`).test(text); // not only as the beginning of another one
  expect(methods.filter((method) => !isNamed(method))).toEqual([]);
});
