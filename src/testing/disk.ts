/**
 * The database of a simulated gateway: the shipped tables and statements on memory that outlives every life, with trouble on demand. A
 * transaction runs in one go, so a killed process leaves it whole or not at all, as SQLite's log does.
 */
import { Database } from "bun:sqlite";
import { migrate } from "../store/migrate.ts";
import type { Prepared } from "../store/sql.ts";
import { createSql, type SqliteSql } from "../store/sqlite-sql.ts";
import type { Chance } from "./chance.ts";

/** `begin`, `commit`: no transaction can begin, or none can end. `statement`: some writes fail. `read`: nothing can be read. */
export type Trouble = "begin" | "commit" | "statement" | "read";

export interface Disk extends Disposable {
  readonly db: Database;
  trouble: Trouble | null;
  /** What one life holds of it; after its death nothing gets through. */
  sqlFor(alive: () => boolean): SqliteSql;
}

const FAILING_STATEMENTS = 0.4;

/** A new database with its tables, to begin any number of worlds with: making the tables takes longer than playing a short one. */
export function blankDisk(): Uint8Array {
  using db = new Database(":memory:");
  migrate(db, 0);
  return db.serialize();
}

export function createDisk(chance: Chance, blank: Uint8Array): Disk {
  const db = Database.deserialize(blank);
  db.exec("pragma foreign_keys = on");
  const sql = createSql(db);
  const known: KnownStatement[] = [];
  const disk: Disk = {
    db,
    trouble: null,
    sqlFor: (alive) => troubled(sharing(sql, known), disk, { alive, chance }),
    [Symbol.dispose]: () => db.close(),
  };
  return disk;
}

interface KnownStatement {
  readonly source: string;
  readonly prepared: Prepared<unknown, unknown>;
}

/**
 * Every life prepares the same statements in the same order: those of the life before are used again, which is half of what a life costs. So
 * what differs from life to life, such as the id of the gateway, must be a parameter of a statement, and not a value that its builder knows.
 */
function sharing(sql: SqliteSql, known: KnownStatement[]): SqliteSql {
  let asked = 0;
  return {
    ...sql,
    get inTransaction() {
      return sql.inTransaction;
    },
    prepare<P, R>(build: Parameters<typeof sql.prepare<P, R>>[0]): Prepared<P, R> {
      const place = asked++;
      const source = String(build);
      const before = known[place];
      if (before?.source === source) return before.prepared as Prepared<P, R>;
      const prepared = sql.prepare(build);
      known[place] = { source, prepared: prepared as Prepared<unknown, unknown> };
      return prepared;
    },
  };
}

function troubled(
  sql: SqliteSql,
  disk: { readonly trouble: Trouble | null },
  { alive, chance }: { readonly alive: () => boolean; readonly chance: Chance },
): SqliteSql {
  const fails = (kind: Trouble): void => {
    if (!alive()) throw new Error("a dead process writes nothing");
    if (disk.trouble === kind) throw new Error(`disk I/O error (${kind})`);
  };
  const guard = <P, R>(prepared: Prepared<P, R>): Prepared<P, R> => {
    const reading = (): void => (sql.inTransaction ? undefined : fails("read"));
    return {
      *all(values) {
        reading();
        return yield* prepared.all(values);
      },
      *first(values) {
        reading();
        return yield* prepared.first(values);
      },
      *run(values) {
        if (!alive()) return 0;
        if (disk.trouble === "statement" && chance.hits(FAILING_STATEMENTS)) fails("statement");
        return yield* prepared.run(values);
      },
    };
  };
  return {
    dialect: sql.dialect,
    get inTransaction() {
      return sql.inTransaction;
    },
    all: (build) => sql.all(build),
    prepare: (build) => guard(sql.prepare(build)),
    control(statement) {
      if (statement === "begin immediate") fails("begin");
      if (statement === "commit") fails("commit");
      sql.control(statement);
    },
    close() {}, // the memory is the disk: it stays
    abandon() {},
  };
}
