/** Takes old calls away from the beginning of the chain, never from its middle: what is left still verifies, from the mark that is set here. */
import { sql as raw } from "kysely";
import type { Chain } from "../audit/chain.ts";
import type { Params, Sql } from "../sql.ts";
import type { Steps } from "../steps.ts";

/** Calls in one transaction: about ten milliseconds. */
const MAX_AT_ONCE = 2_000;
const AFTER_ALL = Number.MAX_SAFE_INTEGER;

/** Gives the number of calls and entries it took away. Runs inside a transaction. */
export function createPruning(sql: Sql, chain: Chain): (before: number) => Steps<number> {
  const { firstSince, firstOpen, someWay, beginsAt, endsAfter, linkNumbered, drop } = statements(sql);
  const entries = entryStatements(sql);

  return function* (before) {
    const youngEntry = (yield* entries.firstSince.first({ before }))?.no ?? AFTER_ALL;
    /** The links of everything below the boundary end before the first link of the call at the boundary, and before the first young entry. */
    function* lastLinkBelow(boundary: number): Steps<number> {
      const next = (yield* beginsAt.first({ boundary }))?.intent_no ?? (yield* chain.head()).no + 1;
      return Math.min(next, youngEntry) - 1;
    }
    const found = [
      (yield* firstSince.first({ before }))?.seq,
      (yield* firstOpen.first({}))?.seq,
      (yield* someWay.first({ offset: MAX_AT_ONCE }))?.seq,
    ];
    let boundary = Math.min(...found.map((seq) => seq ?? AFTER_ALL));
    // a call whose end is linked behind the boundary stays, and so does all that was linked after its beginning
    for (;;) {
      const later = yield* endsAfter.first({ boundary, no: yield* lastLinkBelow(boundary) });
      if (!later) break;
      boundary = later.seq;
    }
    const no = yield* lastLinkBelow(boundary);
    const call = yield* linkNumbered.first({ boundary, no });
    const hash = call
      ? call.end_no === no
        ? call.end_hash
        : call.intent_hash
      : (yield* entries.numbered.first({ no }))?.hash;
    if (hash === undefined) return 0;
    yield* chain.startAfter({ no, hash: hash ?? "" });
    return (yield* drop.run({ boundary })) + (yield* entries.drop.run({ no }));
  };
}

/** Entries that are no calls share the chain, so they go and stay with the links around them. */
function entryStatements(sql: Sql) {
  return {
    firstSince: sql.prepare((db, p: Params<{ before: number }>) =>
      db
        .selectFrom("audit_entries")
        .select((eb) => eb.fn.min("no").as("no"))
        .where("at", ">=", p("before")),
    ),
    numbered: sql.prepare((db, p: Params<{ no: number }>) =>
      db.selectFrom("audit_entries").select("hash").where("no", "=", p("no")),
    ),
    drop: sql.prepare((db, p: Params<{ no: number }>) => db.deleteFrom("audit_entries").where("no", "<=", p("no"))),
  };
}

function statements(sql: Sql) {
  type Boundary = { boundary: number };
  return {
    firstSince: sql.prepare((db, p: Params<{ before: number }>) =>
      db
        .selectFrom("tool_calls")
        .select((eb) => eb.fn.min("seq").as("seq"))
        .where("at", ">=", p("before")),
    ),
    firstOpen: sql.prepare((db) =>
      db
        .selectFrom("tool_calls")
        .select((eb) => eb.fn.min("seq").as("seq"))
        .where(raw<boolean>`status in ('running', 'pending')`),
    ),
    someWay: sql.prepare((db, p: Params<{ offset: number }>) =>
      db.selectFrom("tool_calls").select("seq").where("seq", ">", 0).orderBy("seq").limit(1).offset(p("offset")),
    ),
    beginsAt: sql.prepare((db, p: Params<Boundary>) =>
      db.selectFrom("tool_calls").select("intent_no").where("seq", ">=", p("boundary")).orderBy("seq").limit(1),
    ),
    endsAfter: sql.prepare((db, p: Params<Boundary & { no: number }>) =>
      db
        .selectFrom("tool_calls")
        .select("seq")
        .where("seq", "<", p("boundary"))
        .where("end_no", ">", p("no"))
        .orderBy("seq")
        .limit(1),
    ),
    linkNumbered: sql.prepare((db, p: Params<Boundary & { no: number }>) =>
      db
        .selectFrom("tool_calls")
        .select(["intent_no", "intent_hash", "end_no", "end_hash"])
        .where("seq", "<", p("boundary"))
        .where((eb) => eb.or([eb("intent_no", "=", p("no")), eb("end_no", "=", p("no"))]))
        .limit(1),
    ),
    drop: sql.prepare((db, p: Params<Boundary>) => db.deleteFrom("tool_calls").where("seq", "<", p("boundary"))),
  };
}
