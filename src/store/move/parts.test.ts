/** The parts of a move that need no second engine: which tables, in which pieces, and what counts as equal. */
import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { askSqlite } from "../ask-rows.ts";
import { migrate } from "../migrate.ts";
import { canonicalRow, createDigest } from "./digest.ts";
import { judgeMark } from "./mark.ts";
import { nextPieceRows, pieceQuery, readPieces } from "./pieces.ts";
import { LEFT_TABLES, MOVED_TABLES } from "./tables.ts";

interface KnownTable {
  readonly name: string;
  readonly key: readonly string[];
  readonly refersTo: readonly string[];
}

function tablesOfSqlite(): readonly KnownTable[] {
  using db = new Database(":memory:");
  migrate(db, 0);
  const names = db.query<{ name: string }, []>("select name from sqlite_schema where type = 'table'").all();
  return names.map(({ name }) => ({
    name,
    key: db
      .query<{ name: string }, [string]>("select name from pragma_table_info(?) where pk > 0 order by pk")
      .all(name)
      .map((column) => column.name),
    refersTo: db
      .query<{ table: string }, [string]>(`select "table" from pragma_foreign_key_list(?)`)
      .all(name)
      .map(({ table }) => table),
  }));
}

/** The tables that a full-text index of SQLite is made of. */
const partOf = (name: string): string => name.replace(/^(\w+_index)_(?:data|idx|docsize|config)$/, "$1");

describe("the tables of a move", () => {
  test("are all tables of the store but those that are named with a reason", () => {
    const known = tablesOfSqlite().map(({ name }) => partOf(name));
    const planned = [...MOVED_TABLES.map(({ name }) => name), ...Object.keys(LEFT_TABLES)];
    const ofPostgresAlone = ["batches", "node_letters", "files", "file_chunks", "person_logins"];
    expect([...new Set(known), ...ofPostgresAlone].toSorted()).toEqual(planned.toSorted());
  });

  test("are read by their primary keys, and each comes after those that it refers to", () => {
    const known = new Map(tablesOfSqlite().map((table) => [table.name, table]));
    const before = new Set<string>();
    for (const { name, key } of MOVED_TABLES) {
      expect([name, known.get(name)?.key]).toEqual([name, key]);
      expect([name, known.get(name)?.refersTo.filter((table) => !before.has(table))]).toEqual([name, []]);
      before.add(name);
    }
  });
});

describe("a piece of a table", () => {
  const reactions = { name: "reactions", key: ["message_id", "principal"] } as const;

  test("begins behind the last row of the piece before, by the whole key", () => {
    expect(pieceQuery(reactions, ["emoji"], { after: null, limit: 5 })).toEqual({
      text: 'select "emoji" from reactions order by "message_id", "principal" limit $1',
      values: [5],
    });
    expect(pieceQuery(reactions, ["emoji"], { after: ["m", "p"], limit: 5 })).toEqual({
      text: 'select "emoji" from reactions where ("message_id", "principal") > ($1, $2) order by "message_id", "principal" limit $3',
      values: ["m", "p", 5],
    });
  });

  test.each([
    ["small rows", 100, 500],
    ["rows of a hundred thousand characters", 100_000, 41],
    ["rows larger than a piece", 9_000_000, 1],
  ])("has as many rows as fit: %s", (_what, chars, rows) => {
    const row = { text: "x".repeat(chars) };
    expect(nextPieceRows([row, row], 500)).toBe(rows);
  });

  test("is never missing and never read twice, wherever the reading begins", async () => {
    using db = new Database(":memory:");
    migrate(db, 0);
    for (const [message, person] of ["aa", "ab", "ba", "bb", "bc"].map((both) => [...both]))
      db.run("insert into reactions values (?, ?, 'n', 's', 'e', 1, null)", [message ?? "", person ?? ""]);
    const columns = ["message_id", "principal"];
    const read: string[] = [];
    for await (const { rows, last } of readPieces(askSqlite(db), reactions, { columns, after: ["a", "a"], maxRows: 2 }))
      read.push([...rows.map((row) => `${row["message_id"]}${row["principal"]}`), `last ${last.join("")}`].join(" "));
    expect(read).toEqual(["ab last ab", "ba bb last bb", "bc last bc"]);
  });
});

describe("the digest of a table", () => {
  const digestOf = (...rows: Record<string, unknown>[]) => {
    const digest = createDigest(["a", "b"]);
    for (const row of rows) digest.add(row);
    return digest.result();
  };

  test("does not depend on the order of rows or columns", () => {
    expect(digestOf({ a: 1, b: "x" }, { a: 2, b: null })).toEqual(digestOf({ b: null, a: 2 }, { b: "x", a: 1 }));
  });

  test("tells every other value, place of a value, and number of rows apart", () => {
    const digests = [
      digestOf(),
      digestOf({ a: 1, b: "x" }),
      digestOf({ a: 1, b: "x" }, { a: 1, b: "x" }),
      digestOf({ a: "1", b: "x" }),
      digestOf({ a: "x", b: 1 }),
      digestOf({ a: 1, b: "" }),
      digestOf({ a: 1, b: null }),
      digestOf({ a: 0.1 + 0.2, b: null }),
      digestOf({ a: 0.3, b: null }),
    ];
    expect(new Set(digests.map(({ digest }) => digest)).size).toBe(digests.length);
    expect(digests.every(({ digest }) => /^[0-9a-f]{64}$/.test(digest))).toBe(true);
  });

  test("takes a text as Postgres keeps it", () => {
    expect(canonicalRow({ a: "x\0y", b: "\ud800" }, ["a", "b"])).toBe('["x\ufffdy","\ufffd"]');
  });
});

test.each([
  ["has no mark", null, "new"],
  ["has the mark of the same state of the same source", { source: "s", epoch: 3 }, "resume"],
  ["has the mark of a source on which a gateway ran since", { source: "s", epoch: 2 }, "again"],
  ["has the mark of another source", { source: "t", epoch: 3 }, "foreign"],
] as const)("a target that %s", (_what, mark, judged) => {
  expect(judgeMark(mark, { source: "s", epoch: 3 })).toBe(judged);
});
