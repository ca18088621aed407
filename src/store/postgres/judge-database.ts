/** What is to be said about a Postgres database before or while a gateway uses it: a decision without effects. Knows no address and no password. */
import { encodingFault } from "./encoding.ts";
import { TRANSACTION_MODE } from "./pooler.ts";

/** What was seen, by the user of `store.url`. */
export interface DatabaseFacts {
  /** As in `server_version_num`: 150004 is 15.4. */
  readonly version: number;
  /** As in `server_encoding`. */
  readonly encoding: string;
  readonly answeredInMs: number;
  /** How far the clock of the server is ahead of the one here. */
  readonly clockAheadMs: number;
  /** The first schema of the search path that is there; null: none is. */
  readonly schema: string | null;
  readonly user: string;
  readonly mayCreateTables: boolean;
  readonly mayCreateRoles: boolean;
  /** The tables belong to this user, or to a role that it is a member of. Also true while there are none. */
  readonly ownsTables: boolean;
  /** Names of migrations that were applied. */
  readonly applied: readonly string[];
  readonly isHalfMoved: boolean;
  /** What a start would change until each table has its row level security. */
  readonly policyChanges: number;
  /** Another program stands in between and hands connections on. */
  readonly isPooled: boolean;
  /** Two connections were served by one process of the server at the same time. */
  readonly isShared: boolean;
}

interface DatabaseFinding {
  readonly state: "ok" | "note" | "broken";
  readonly say: string;
}

const NEEDED_VERSION = 150_000;
/** Gateways go by the clock of the database among themselves; the times that people read are of the clock here. */
const CLOCKS_APART_MS = 5_000;

/** `known`: the migrations of this version of the gateway. */
export function judgeDatabase(facts: DatabaseFacts, known: readonly string[]): readonly DatabaseFinding[] {
  return [
    judgeServer(facts),
    judgeConnection(facts),
    judgeRights(facts),
    judgeTables(facts, known),
    ...(facts.applied.length > 0 ? [judgeRowSecurity(facts)] : []),
    judgeClock(facts),
  ];
}

function judgeServer({ version, encoding, answeredInMs }: DatabaseFacts): DatabaseFinding {
  const shown = `Postgres ${Math.floor(version / 10_000)}.${version % 10_000}`;
  if (version < NEEDED_VERSION) return broken(`${shown} is too old; 15 or newer is needed.`);
  const fault = encodingFault(encoding);
  if (fault !== null) return broken(fault);
  return ok(`${shown}, answered in ${Math.round(answeredInMs)} ms`);
}

function judgeConnection({ isPooled, isShared }: DatabaseFacts): DatabaseFinding {
  if (isShared) return broken(TRANSACTION_MODE);
  return ok(isPooled ? "by way of a pooler, in session mode" : "a direct connection");
}

function judgeRights({ schema, user, mayCreateTables, mayCreateRoles, ownsTables }: DatabaseFacts): DatabaseFinding {
  if (schema === null)
    return broken(`no schema of the search path of "${user}" is there. Create one, such as: create schema gateway`);
  if (!ownsTables)
    return broken(
      `the tables in schema "${schema}" belong to another user than "${user}", so they cannot be brought up to date. Use the user that made them.`,
    );
  if (!mayCreateTables)
    return broken(
      `"${user}" may not create tables in schema "${schema}". Run as its owner: grant create on schema "${schema}" to "${user}"`,
    );
  if (!mayCreateRoles)
    return note(
      `"${user}" may not create roles, so the gateway works as the owner of its tables, under the same policies`,
    );
  return ok(`"${user}" may create tables in schema "${schema}", and roles`);
}

function judgeTables({ applied, isHalfMoved }: DatabaseFacts, known: readonly string[]): DatabaseFinding {
  if (isHalfMoved)
    return broken(
      "a move to this database is not complete, and no gateway starts on it. Run pi-gw store migrate again.",
    );
  if (applied.length === 0) return ok("there are no tables yet; they are made at the first start");
  const unknown = applied.find((name) => !known.includes(name));
  if (unknown !== undefined)
    return broken(
      `the tables were made by a newer pi-gateway (its migration ${unknown} is not known to this one). Use that version.`,
    );
  const missing = known.filter((name) => !applied.includes(name));
  if (missing.length > 0)
    return note(`the next start brings the tables up to date (${missing.join(", ")}). Make a dump before it.`);
  return ok(`the tables are those of this version (${known.at(-1)})`);
}

function judgeRowSecurity({ policyChanges, ownsTables }: DatabaseFacts): DatabaseFinding {
  if (policyChanges === 0) return ok("row level security is in force on every table");
  const say = `row level security is not complete (${policyChanges} ${policyChanges === 1 ? "change is" : "changes are"} missing): rows may be seen by whoever may read these tables.`;
  return ownsTables ? note(`${say} The next start mends it.`) : broken(say);
}

function judgeClock({ clockAheadMs }: DatabaseFacts): DatabaseFinding {
  const apart = Math.abs(clockAheadMs);
  if (apart < CLOCKS_APART_MS) return ok("its clock and the one here agree");
  const seconds = Math.round(apart / 1_000).toLocaleString("en");
  return note(
    `its clock is ${seconds} s ${clockAheadMs > 0 ? "ahead of" : "behind"} the one here. Set both by a time server: times of messages and jobs are of this machine.`,
  );
}

function ok(say: string): DatabaseFinding {
  return { state: "ok", say };
}
function note(say: string): DatabaseFinding {
  return { state: "note", say };
}
function broken(say: string): DatabaseFinding {
  return { state: "broken", say };
}
