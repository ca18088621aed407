/** What each error of SQLite means for later writes, and that acknowledging ends for good where it must. */
import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { faultMeaning, FAULTS } from "./write-faults.ts";

/** From https://sqlite.org/rescode.html: all that are errors. */
const CODES: Readonly<Record<string, readonly string[]>> = {
  statement: ["ERROR", "ERROR_MISSING_COLLSEQ", "CONSTRAINT", "CONSTRAINT_UNIQUE", "CONSTRAINT_FOREIGNKEY", "MISMATCH"],
  wait: ["FULL", "BUSY", "BUSY_RECOVERY", "BUSY_SNAPSHOT", "LOCKED_SHAREDCACHE", "NOMEM", "IOERR_NOMEM", "INTERRUPT"],
  exit: [
    ...["IOERR", "IOERR_READ", "IOERR_SHORT_READ", "IOERR_WRITE", "IOERR_FSYNC", "IOERR_DIR_FSYNC", "IOERR_TRUNCATE"],
    ...["IOERR_FSTAT", "IOERR_UNLOCK", "IOERR_RDLOCK", "IOERR_DELETE", "IOERR_ACCESS", "IOERR_CHECKRESERVEDLOCK"],
    ...["IOERR_LOCK", "IOERR_CLOSE", "IOERR_SHMOPEN", "IOERR_SHMSIZE", "IOERR_SHMLOCK", "IOERR_SHMMAP", "IOERR_SEEK"],
    ...["IOERR_MMAP", "IOERR_CORRUPTFS", "IOERR_DATA", "IOERR_IN_PAGE"],
    ...["CORRUPT", "CORRUPT_VTAB", "CORRUPT_INDEX", "NOTADB", "READONLY", "READONLY_RECOVERY", "READONLY_DBMOVED"],
    ...["READONLY_CANTINIT", "CANTOPEN", "CANTOPEN_FULLPATH", "PERM", "AUTH", "FORMAT", "NOLFS", "INTERNAL"],
  ],
};

for (const [meaning, names] of Object.entries(CODES))
  test.each(names)(`SQLITE_%s means: ${meaning}`, (name) => {
    expect<string>(faultMeaning(`SQLITE_${name}`)).toBe(meaning);
  });

test("a code of SQLite that nobody has judged ends acknowledging, and an error that is not SQLite's does not", () => {
  expect(["SQLITE_NEW", "SQLITE_NEW_KIND"].map(faultMeaning)).toEqual(["exit", "exit"]);
  expect([undefined, "ENOENT", "conflict"].map(faultMeaning)).toEqual(["statement", "statement", "statement"]);
});

test("each entry of the table is reached by its own code", () => {
  expect(Object.keys(FAULTS).map(faultMeaning)).toEqual(Object.values(FAULTS));
});

test("real errors of SQLite carry the codes that the table knows", () => {
  using db = new Database(":memory:");
  db.exec("create table t (x integer unique); insert into t values (1)");
  const codeOf = (text: string): unknown => {
    try {
      db.exec(text);
      return "no error";
    } catch (error) {
      return (error as { code?: unknown }).code;
    }
  };
  expect(codeOf("insert into t values (1)")).toBe("SQLITE_CONSTRAINT_UNIQUE");
  db.exec("pragma query_only = on");
  expect(codeOf("insert into t values (2)")).toBe("SQLITE_READONLY");
});
