/** A real store in a folder of its own, for tests of whatever stands on it: SQLite, or the engine that the run of tests is about. `reopen` is a crash: the old one is simply forgotten. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Store } from "../contracts/store.ts";
import type { Clock } from "../kit/clock.ts";
import { systemIds } from "../kit/ids.ts";
import { openStore } from "../store/index.ts";
import { counted } from "./outside-work.ts";
import { recordingLog } from "./recording-log.ts";
import { blankDisk } from "./disk.ts";
import { storeClock, storeUrlOf } from "./postgres/home-database.ts";
import { tempHome } from "./temp-home.ts";

export interface RealStore extends AsyncDisposable {
  readonly store: Store;
  readonly home: string;
  reopen(): Promise<Store>;
  /** Another gateway on the same database, beside the one that is open. On SQLite, where there can be none, it opens the file a second time. */
  openBeside(): Promise<Store>;
}

/** Tables as a new database has them, made once for all tests of a process: making them is most of what a store costs. */
let blank: Uint8Array | null = null;

/** `own`: what the store itself waits by. */
export async function realStore(clock: Clock, own: Clock = storeClock(clock)): Promise<RealStore> {
  const home = await tempHome();
  const url = await storeUrlOf(home.path);
  if (!url) await writeFile(join(home.path, "gateway.db"), (blank ??= blankDisk()), { mode: 0o600 });
  const deps = { clock: own, ids: systemIds, log: recordingLog() };
  const open = async (beside?: { readonly stateDirectory: string }) => {
    const store = await openStore(deps, { home: home.path, url, ...(beside && { beside }) });
    return url ? counted(store) : store;
  };
  const opened = [await open()];
  const others: Store[] = [];
  return {
    get store() {
      return opened.at(-1) as Store;
    },
    home: home.path,
    async reopen() {
      const next = await open();
      opened.push(next);
      return next;
    },
    async openBeside() {
      const other = await open({ stateDirectory: `directory ${others.length}` });
      others.push(other);
      return other;
    },
    async [Symbol.asyncDispose]() {
      for (const store of [...others, ...opened]) await store[Symbol.asyncDispose]();
      await home[Symbol.asyncDispose]();
    },
  };
}
