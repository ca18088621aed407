/** The database that all lives of a simulated gateway share: a simulated disk with SQLite's memory, or a real Postgres server (`postgres/`). */
import type { Store } from "../../src/contracts/store.ts";
import { assemble, type StoreDeps } from "../../src/store/assemble.ts";
import type { Chance } from "../../src/testing/chance.ts";
import { createDisk, type Trouble } from "../../src/testing/disk.ts";

export interface SimDatabase extends AsyncDisposable {
  trouble: Trouble | null;
  /** Writes that may be lost wait for others here, so that time passes while they are under way. */
  readonly gathers: boolean;
  /** Past every door of the store, committed rows only, before anything else happens. Values stand for each `?`. */
  rows<Row>(text: string, ...values: readonly (string | number)[]): readonly Row[];
  /** The store of one life. Throws when the database does not let it begin. Its end does not end the database. */
  open(deps: StoreDeps, life: { readonly alive: boolean }): Store | Promise<Store>;
  /** That life is gone, as after kill -9: nothing of it is written from here on. */
  killed(life: { readonly alive: boolean }): void;
}

/** `chance` draws which writes fail while there is trouble. */
export function createSimDisk(chance: Chance, blank: Uint8Array): SimDatabase {
  const disk = createDisk(chance, blank);
  return {
    gathers: true,
    get trouble() {
      return disk.trouble;
    },
    set trouble(trouble) {
      disk.trouble = trouble;
    },
    rows: <Row>(text: string, ...values: readonly (string | number)[]) =>
      disk.db.query<Row, (string | number)[]>(text).all(...values),
    open: (deps, life) =>
      assemble(
        deps,
        disk.sqlFor(() => life.alive),
        "",
      ),
    killed() {
      if (disk.db.inTransaction) disk.db.exec("rollback"); // as the end of the process does
    },
    async [Symbol.asyncDispose]() {
      disk[Symbol.dispose]();
    },
  };
}
