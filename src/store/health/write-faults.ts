/** What an error of SQLite means for the writes that come after it. A decision without state; `group-commit.ts` acts on it. */

/**
 * `statement`: this write alone is wrong. `wait`: nothing was written and nothing is lost; a later write may succeed. `exit`: what was
 * acknowledged may not be on the disk, or this process cannot write any more. Trying again in the same process is no answer then: after a
 * failed fsync the system takes the pages for written, so the next fsync succeeds without them. A new process reads what is really there.
 */
type FaultMeaning = "statement" | "wait" | "exit";

/** By result code; an extended code (`SQLITE_IOERR_FSYNC`) means what the longest beginning of it in this table means. */
export const FAULTS: Readonly<Record<string, FaultMeaning>> = {
  SQLITE_ERROR: "statement",
  SQLITE_CONSTRAINT: "statement",
  SQLITE_MISMATCH: "statement",
  SQLITE_TOOBIG: "statement",
  SQLITE_RANGE: "statement",
  SQLITE_MISUSE: "statement",
  SQLITE_SCHEMA: "statement",
  SQLITE_ABORT: "statement",

  SQLITE_FULL: "wait",
  SQLITE_BUSY: "wait",
  SQLITE_LOCKED: "wait",
  SQLITE_PROTOCOL: "wait",
  SQLITE_INTERRUPT: "wait",
  SQLITE_NOMEM: "wait",
  SQLITE_IOERR_NOMEM: "wait",

  SQLITE_IOERR: "exit",
  SQLITE_CORRUPT: "exit",
  SQLITE_NOTADB: "exit",
  SQLITE_READONLY: "exit",
  SQLITE_CANTOPEN: "exit",
  SQLITE_PERM: "exit",
  SQLITE_AUTH: "exit",
  SQLITE_FORMAT: "exit",
  SQLITE_NOLFS: "exit",
  SQLITE_INTERNAL: "exit",
};

/** `code` is undefined for an error that is not SQLite's. A code of SQLite that is not in the table means `exit`. */
export function faultMeaning(code: string | undefined): FaultMeaning {
  if (code === undefined || !code.startsWith("SQLITE_")) return "statement";
  for (let part = code; part !== "SQLITE"; part = part.slice(0, part.lastIndexOf("_"))) {
    const meaning = FAULTS[part];
    if (meaning) return meaning;
  }
  return "exit";
}

/** Pages say what no program of ours wrote. */
export function isDamage(error: unknown): boolean {
  return sqliteCode(error)?.startsWith("SQLITE_CORRUPT") ?? false;
}

export function sqliteCode(error: unknown): string | undefined {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;
}
