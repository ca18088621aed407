/** Bugs in the store. */
import type { SimulatedBug } from "../seeded-bug.ts";

export const STORE_BUGS: readonly SimulatedBug[] = [
  {
    what: "A repeat is recognised by its event id alone, whatever its channel.",
    file: "src/store/rows/inbox.ts",
    in: "createQueries",
    find: '.select(["id", "fingerprint"]) .where("channel", "=", p("channel"))',
    replace: '.select(["id", "fingerprint"])',
  },
  {
    what: "A late attempt may end its turn.",
    file: "src/store/rows/turns.ts",
    in: "createTurns",
    find: "|| turn.attempt !== end.attempt",
    replace: "",
  },
  {
    what: "Reply parts are written after the transaction.",
    file: "src/store/rows/turns.ts",
    in: "endTurn",
    find: "for (const row of replyRows(turn, end, queries.mask)) queries.addReply.run(row);",
    replace:
      "setImmediate(() => { for (const row of replyRows(turn, end, queries.mask)) queries.addReply.run(row); });",
  },
  {
    what: "Reply parts are stored in reverse.",
    file: "src/store/rows/turns.ts",
    in: "replyRows",
    find: "a.part - b.part",
    replace: "b.part - a.part",
  },
  {
    what: "The end of a turn leaves its messages open.",
    file: "src/store/rows/turns.ts",
    in: "endTurn",
    find: "queries.endMessages.run({ turnId: turn.id });",
    replace: "",
  },
  {
    what: "The end of a turn does not note how long its session is.",
    file: "src/store/rows/turns.ts",
    in: "endTurn",
    find: "queries.settle.run({ key: turn.session_key, file: turn.file, settledBytes: end.settledBytes });",
    replace: "",
  },
  {
    what: "A tool that must not run twice leaves no mark.",
    file: "src/store/tool-calls/tool-calls.ts",
    in: "intend",
    find: "if (!call.waiting && !call.idempotent) queries.markUnsafe.run({ id: call.turnId });",
    replace: "",
  },
  {
    what: "A failed commit is reported as done.",
    file: "src/store/group-commit.ts",
    in: "tryCommit",
    find: "outcomes: batch.map(() => ({ ok: false, error }))",
    replace: 'outcomes: batch.map(() => ({ ok: true, value: { kind: "stored" } }))',
  },
  {
    what: "A write that fails in company is not undone.",
    file: "src/store/group-commit.ts",
    in: "commitEachGuarded",
    find: 'sql.control("rollback to one_write");',
    replace: "",
    seed: 525,
  },
  {
    what: "The end of a turn forgets what joined it and could not be noted before.",
    file: "src/store/rows/turns.ts",
    in: "createTurns",
    find: "for (const inboxId of end.joined ?? [])",
    replace: "for (const inboxId of [])",
  },
  {
    what: "A second attempt forgets what joined the first and could not be noted then.",
    file: "src/store/rows/turns.ts",
    in: "beginAgain",
    find: "for (const inboxId of turn.inboxIds) queries.claim.run({ inboxId, turnId: known.id, key: known.session_key });",
    replace: "",
  },
  {
    what: "Overflow that is only counted is never finished.",
    file: "src/store/rows/turns.ts",
    in: "createTurns",
    find: "if (!known && turn.overflow) overflow.claim({ ...turn, ...turn.overflow });",
    replace: "",
  },
  {
    what: "A crash counts against turns that were not at work.",
    file: "src/store/rows/turn-queries.ts",
    in: "beginning",
    find: "when at_work = 1 and crashes + 1 <",
    replace: "when at_work < 2 and crashes + 1 <",
  },
];
