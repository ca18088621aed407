/** Tests that `npm test -- --store postgres` leaves out, each with the reason. They are about SQLite itself, or Postgres has a test of its own for the same. */

export interface LeftOut {
  readonly file: string;
  /** The sentence of one test as it stands in the file, `%s` included. Without it, the whole file is left out. */
  readonly test?: string;
  readonly reason: string;
}

const FULL_DISK =
  "fills the disk under the SQLite file; on Postgres that is the server's, and both disks are filled by `npm run nodes`";

export const SQLITE_ONLY: readonly LeftOut[] = [
  {
    file: "src/delivery/outbox-claims.test.ts",
    test: "a send that %s is not recorded after another gateway took the part over",
    reason:
      "plays a takeover by opening one file twice; on Postgres the database refuses the first one (src/store/postgres/takeover.test.ts)",
  },
  {
    file: "src/retention/bounded.test.ts",
    test: "a database under constant writes stops growing, and what is left of the audit log verifies",
    reason: "measures the SQLite file; Postgres gives room back when it vacuums, at times of its own",
  },
  { file: "src/store/turn-writes.test.ts", reason: "counts how often SQLite waits for the disk" },
  {
    file: "examples/irc-channel/channel.test.ts",
    test: "cannot smuggle in a line of its own",
    reason: "its words hold U+0000, which Postgres stores as U+FFFD (docs/postgres.md, Limits)",
  },
  { file: "test/backup.test.ts", reason: "the archive holds the SQLite file; Postgres is backed up by its own means" },
  {
    file: "test/damaged-session.test.ts",
    reason: "with Postgres a damaged session file is loaded again from the database (test/stored-files.test.ts)",
  },
  { file: "test/disk-faults.test.ts", reason: "faults of the disk under the SQLite file and its log" },
  {
    file: "test/start-trouble.test.ts",
    test: "refuses messages in a sentence and takes them again when there is room (needs the right to mount a tmpfs)",
    reason: FULL_DISK,
  },
  {
    file: "test/start-trouble.test.ts",
    test: "in the middle of a turn keeps the answer for later and says what was wrong",
    reason: FULL_DISK,
  },
  { file: "test/start-trouble.test.ts", test: "stops a start in a sentence that names it", reason: FULL_DISK },
  {
    file: "test/docs.test.ts",
    test: "of %s run as written against a real gateway",
    reason: "the pages show what a gateway on its SQLite file prints",
  },
  { file: "test/old-home.test.ts", reason: "a state directory of the first version holds an SQLite file" },
];
