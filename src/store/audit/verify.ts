/** Looks whether the audit log (tool calls and all other entries) is what the gateway wrote. Reads only; works beside a running gateway. */
import type { Database } from "bun:sqlite";
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { damagedLog, DATABASE_FILE, openReadOnly } from "../inspect.ts";
import { readAuditKey } from "../secret-files.ts";
import type { AuditCounts } from "../../contracts/store/tool-calls.ts";
import type { AuditEntryTable } from "../schema.ts";
import { EVERY_LINKS, readHeadFile } from "./head-file.ts";
import {
  type CallRow,
  type ChainKey,
  createChainKey,
  endContent,
  entryContent,
  intentContent,
  intentContentWithoutSeq,
  type Link,
  type LinkKind,
} from "./links.ts";

interface AuditVerdict extends AuditCounts {
  /** Plain sentences; empty when all is well. At most MAX_FINDINGS. */
  readonly findings: readonly AuditFinding[];
}

interface AuditFinding {
  /** The number of the link, when the finding is about one. */
  readonly no: number | null;
  readonly callId: string | null;
  readonly say: string;
}

interface Place {
  readonly no: number;
  readonly kind: LinkKind;
  readonly seq: number;
}

interface Mark extends Link {
  readonly mac: string;
}

const MAX_FINDINGS = 1_000;
/** Links between two pauses: a few milliseconds. */
const LINKS_AT_ONCE = 200;

export async function verifyAudit(home: string): Promise<AuditVerdict> {
  const folder = resolve(home);
  const file = join(folder, DATABASE_FILE);
  if (!existsSync(file)) return unverifiable(`There is no database in ${folder}, so there is nothing to verify.`);
  const key = readAuditKey(folder);
  if (!key)
    return unverifiable(
      `There is no audit.key in ${folder}. Without it nobody can tell whether the audit log is intact.`,
    );
  const damage = await damagedLog(file);
  if (damage) return unverifiable(damage.say);
  const head = await readHeadFile(folder); // before the rows: a gateway that runs may only have added to them since
  const db = openReadOnly(file, !existsSync(`${file}-wal`));
  try {
    db.exec("begin"); // one moment for all questions
    return await verifyRows(db, createChainKey(key), head);
  } catch (error) {
    return unverifiable(`The database cannot be read: ${error instanceof Error ? error.message : String(error)}.`);
  } finally {
    db.close();
  }
}

function unverifiable(say: string): AuditVerdict {
  return { kind: "unverifiable", calls: 0, entries: 0, links: 0, findings: [{ no: null, callId: null, say }] };
}

async function verifyRows(
  db: Database,
  key: ChainKey,
  file: Awaited<ReturnType<typeof readHeadFile>>,
): Promise<AuditVerdict> {
  const findings: AuditFinding[] = [];
  const found = (say: string, no: number | null = null, callId: string | null = null): void => {
    if (findings.length < MAX_FINDINGS) findings.push({ no, callId, say });
  };
  const places = placesOf(db, found);
  const start = markOf(db, key, "start", found);
  const head = markOf(db, key, "head", found);
  const byNumber = await walk(db, key, { places, start }, found);
  checkEnd(byNumber, { start, head }, found);
  checkFile(byNumber, key, { file, start }, found);
  const calls = db.query<{ n: number }, []>("select count(*) as n from tool_calls").get()?.n ?? 0;
  const entries = places.filter(({ kind }) => kind === "entry").length;
  return { kind: findings.length === 0 ? "intact" : "tampered", calls, entries, links: places.length, findings };
}

type Found = (say: string, no?: number | null, callId?: string | null) => void;

function placesOf(db: Database, found: Found): readonly Place[] {
  const places: Place[] = [];
  type Row = Pick<CallRow, "seq" | "id" | "status" | "intent_no" | "end_no">;
  for (const row of db.query<Row, []>("select seq, id, status, intent_no, end_no from tool_calls").iterate()) {
    const isOpen = row.status === "running" || row.status === "pending";
    if (row.intent_no === null)
      found("A call is not part of the chain: it was added behind the gateway's back.", null, row.id);
    else places.push({ no: row.intent_no, kind: "intent", seq: row.seq });
    if (row.end_no !== null) places.push({ no: row.end_no, kind: "end", seq: row.seq });
    if ((row.end_no === null) !== isOpen)
      found(
        `A call is shown as ${row.status}, but its end is ${isOpen ? "" : "not "}in the chain.`,
        row.intent_no,
        row.id,
      );
  }
  if (hasEntries(db))
    for (const { seq, no } of db
      .query<Pick<AuditEntryTable, "seq" | "no">, []>("select seq, no from audit_entries")
      .iterate())
      places.push({ no, kind: "entry", seq });
  return places.sort((a, b) => a.no - b.no);
}

/** A database that a gateway of now has not opened yet has none. */
function hasEntries(db: Database): boolean {
  return db.query("select 1 from sqlite_schema where name = 'audit_entries'").get() !== null;
}

/** One link as the walk sees it, whichever table it is in. */
interface Linked {
  readonly hash: string;
  readonly contents: readonly (readonly unknown[])[];
  /** "The end of call c1 (bash)". */
  readonly shown: string;
  readonly callId: string | null;
}

function createLinkReader(db: Database): (place: Place) => Linked | null {
  const call = db.query<CallRow, [number]>("select * from tool_calls where seq = ?");
  const entry = hasEntries(db)
    ? db.query<AuditEntryTable, [number]>("select * from audit_entries where seq = ?")
    : null;
  return ({ kind, seq }) => {
    if (kind === "entry") {
      const row = entry?.get(seq);
      if (!row) return null;
      return { hash: row.hash, contents: [entryContent(row)], shown: `Entry ${row.seq} (${row.kind})`, callId: null };
    }
    const row = call.get(seq);
    if (!row) return null;
    const hash = (kind === "intent" ? row.intent_hash : row.end_hash) ?? "";
    const shown = `The ${kind === "intent" ? "beginning" : "end"} of call ${row.id} (${row.tool})`;
    return { hash, contents: contentsOf(row, kind), shown, callId: row.id };
  };
}

/** Every number once, in order, and every hash what its content and the hash before it make. Pauses now and then: a gateway that runs goes on answering. */
async function walk(
  db: Database,
  key: ChainKey,
  { places, start }: { readonly places: readonly Place[]; readonly start: Mark },
  found: Found,
): Promise<ReadonlyMap<number, string>> {
  const read = createLinkReader(db);
  const hashes = new Map<number, string>([[start.no, start.hash]]);
  let before: Link | null = start;
  const lastSeq = { intent: Number.NEGATIVE_INFINITY, entry: Number.NEGATIVE_INFINITY };
  for (const [index, place] of places.entries()) {
    if (index % LINKS_AT_ONCE === 0) await new Promise<void>((resolve) => setImmediate(resolve));
    const { no, kind, seq } = place;
    const row = read(place);
    if (!row) continue; // in one moment of one database this cannot be
    const { hash, callId } = row;
    if (before && no <= before.no) found(`Link ${no} is there twice, or before the start of the chain.`, no, callId);
    else if (before && no > before.no + 1) found(missing(before.no + 1, no - 1), before.no + 1);
    if (kind !== "end" && seq <= lastSeq[kind])
      found(`${row.shown} is not in the place where it was written.`, no, callId);
    if (kind !== "end") lastSeq[kind] = seq;
    const follows: Link | null = before?.no === no - 1 ? before : null;
    // after a gap the link before is not known; what this one says is judged by those that follow it
    if (follows && !row.contents.some((content) => key.linkHash(follows.hash, { no, kind }, content) === hash))
      found(`${row.shown} is not what was written.`, no, callId);
    hashes.set(no, hash);
    before = { no, hash };
  }
  return hashes;
}

/** The contents that a link may have hashed: earlier versions left out `seq`. */
function contentsOf(row: CallRow, kind: LinkKind): readonly (readonly unknown[])[] {
  return kind === "intent" ? [intentContent(row), intentContentWithoutSeq(row)] : [endContent(row)];
}

function missing(from: number, to: number): string {
  return from === to
    ? `Link ${from} is missing: a call or an entry was taken away.`
    : `Links ${from} to ${to} are missing: calls or entries were taken away.`;
}

function markOf(db: Database, key: ChainKey, name: "start" | "head", found: Found): Mark {
  const mark = db.query<Mark, [string]>("select no, hash, mac from audit_marks where name = ?").get(name);
  if (!mark) {
    found(`The mark of the ${name} of the chain is gone.`);
    return { no: 0, hash: "", mac: "" };
  }
  const untouched = mark.no === 0 && mark.hash === "" && mark.mac === "";
  if (!untouched && mark.mac !== key.markMac(name, mark))
    found(`The mark of the ${name} of the chain was changed.`, mark.no);
  return mark;
}

function checkEnd(
  hashes: ReadonlyMap<number, string>,
  { start, head }: { readonly start: Mark; readonly head: Mark },
  found: Found,
): void {
  const last = Math.max(start.no, ...lastOf(hashes));
  if (last < head.no)
    found(`The chain ends at link ${last}, but ${head.no} were written: its end was cut off.`, last + 1);
  else if (last > head.no) found(`The chain goes on to link ${last}, but only ${head.no} were written.`, head.no + 1);
  else if (hashes.get(last) !== head.hash) found("The last link is not the one that was written.", last);
}

/** A map keeps the order of insertion, which is the order of the links. */
function lastOf(hashes: ReadonlyMap<number, string>): readonly number[] {
  let last: number | null = null;
  for (const no of hashes.keys()) last = Math.max(last ?? 0, no);
  return last === null ? [] : [last];
}

function checkFile(
  hashes: ReadonlyMap<number, string>,
  key: ChainKey,
  { file, start }: { readonly file: Awaited<ReturnType<typeof readHeadFile>>; readonly start: Mark },
  found: Found,
): void {
  // it is written a moment after the first link; a young log may be without it
  if (file === null)
    return hashes.size > EVERY_LINKS
      ? found("audit-head.json is gone: it is not known how long the audit log was.")
      : undefined;
  if (file === "unreadable" || file.mac !== key.markMac("file", file)) return found("audit-head.json was changed.");
  if (file.no <= start.no || file.no === 0) return; // what it names was taken away for its age
  const hash = hashes.get(file.no);
  if (hash === undefined)
    found(
      `audit-head.json knows of link ${file.no}, which is not there: the audit log was cut off or replaced.`,
      file.no,
    );
  else if (hash !== file.hash)
    found(`Link ${file.no} is not the one noted in audit-head.json: the audit log was replaced.`, file.no);
}
