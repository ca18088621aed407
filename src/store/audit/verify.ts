/** Looks whether the audit log (tool calls and all other entries) is what the gateway wrote. Reads only; works beside a running gateway. */
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { type AskRows, askSqlite, placeholders } from "../ask-rows.ts";
import { damagedLog, DATABASE_FILE, openReadOnly } from "../inspect.ts";
import type { Clock } from "../../kit/clock.ts";
import type { Secret } from "../../kit/secret.ts";
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
  storableContent,
} from "./links.ts";

export interface AuditVerdict extends AuditCounts {
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
/** Links between two pauses: a few milliseconds. Their rows are read together. */
const LINKS_AT_ONCE = 200;
const PLACES_AT_ONCE = 5_000;

/** A database elsewhere, instead of the file in the state directory. */
interface AuditDatabase {
  readonly clock: Clock;
  readonly url: Secret;
}

/** Of all gateways on a Postgres database: they write one log. */
export async function verifyAudit(home: string, database: AuditDatabase | null = null): Promise<AuditVerdict> {
  const folder = resolve(home);
  const file = join(folder, DATABASE_FILE);
  if (!database && !existsSync(file))
    return unverifiable(`There is no database in ${folder}, so there is nothing to verify.`);
  const key = readAuditKey(folder);
  if (!key)
    return unverifiable(
      `There is no audit.key in ${folder}. Without it nobody can tell whether the audit log is intact.`,
    );
  if (database) return verifyPostgres(folder, key, database);
  const damage = await damagedLog(file);
  if (damage) return unverifiable(damage.say);
  const head = await readHeadFile(folder); // before the rows: a gateway that runs may only have added to them since
  const db = openReadOnly(file, !existsSync(`${file}-wal`));
  try {
    db.exec("begin"); // one moment for all questions
    const ask = askSqlite(db);
    // a database that a gateway of now has not opened yet has no table for them
    const hasEntries = (await ask("select 1 from sqlite_schema where name = 'audit_entries'")).length > 0;
    return await verifyRows({ ask, hasEntries }, createChainKey(key), head);
  } catch (error) {
    return unverifiable(`The database cannot be read: ${error instanceof Error ? error.message : String(error)}.`);
  } finally {
    db.close();
  }
}

async function verifyPostgres(folder: string, key: Uint8Array, { clock, url }: AuditDatabase): Promise<AuditVerdict> {
  const { askAudit } = await import("../postgres/ask-audit.ts"); // nothing of Postgres is loaded for SQLite
  const head = await readHeadFile(folder); // before the rows, as above
  try {
    return await askAudit({ clock, url }, async (ask) =>
      typeof ask === "string" ? unverifiable(ask) : verifyRows({ ask, hasEntries: true }, createChainKey(key), head),
    );
  } catch (error) {
    return unverifiable(`Postgres cannot be read: ${error instanceof Error ? error.message : String(error)}.`);
  }
}

function unverifiable(say: string): AuditVerdict {
  return { kind: "unverifiable", calls: 0, entries: 0, links: 0, findings: [{ no: null, callId: null, say }] };
}

/** Where the rows are. */
interface AuditRows {
  readonly ask: AskRows;
  readonly hasEntries: boolean;
}

/** The rows of an open database against the key and the newest link that the state directory knows. `ask` sees one moment. */
export async function verifyRows(
  rows: AuditRows,
  key: ChainKey,
  file: Awaited<ReturnType<typeof readHeadFile>>,
): Promise<AuditVerdict> {
  const findings: AuditFinding[] = [];
  const found = (say: string, no: number | null = null, callId: string | null = null): void => {
    if (findings.length < MAX_FINDINGS) findings.push({ no, callId, say });
  };
  const { places, calls } = await placesOf(rows, found);
  const start = await markOf(rows, key, "start", found);
  const head = await markOf(rows, key, "head", found);
  const byNumber = await walk(rows, key, { places, start }, found);
  checkEnd(byNumber, { start, head }, found);
  checkFile(byNumber, key, { file, start }, found);
  const entries = places.filter(({ kind }) => kind === "entry").length;
  return { kind: findings.length === 0 ? "intact" : "tampered", calls, entries, links: places.length, findings };
}

type Found = (say: string, no?: number | null, callId?: string | null) => void;

async function placesOf(
  { ask, hasEntries }: AuditRows,
  found: Found,
): Promise<{ readonly places: readonly Place[]; readonly calls: number }> {
  const places: Place[] = [];
  let calls = 0;
  type Row = Pick<CallRow, "seq" | "id" | "status" | "intent_no" | "end_no">;
  for await (const row of bySeq<Row>(ask, "select seq, id, status, intent_no, end_no from tool_calls")) {
    calls++;
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
  if (hasEntries)
    for await (const { seq, no } of bySeq<Pick<AuditEntryTable, "seq" | "no">>(
      ask,
      "select seq, no from audit_entries",
    ))
      places.push({ no, kind: "entry", seq });
  return { places: places.sort((a, b) => a.no - b.no), calls };
}

async function* bySeq<R extends { readonly seq: number }>(ask: AskRows, select: string): AsyncGenerator<R> {
  let after = Number.MIN_SAFE_INTEGER;
  for (;;) {
    const rows = await ask<R>(`${select} where seq > $1 order by seq limit $2`, [after, PLACES_AT_ONCE]);
    for (const row of rows) yield row;
    const last = rows.at(-1);
    if (last === undefined) return;
    after = last.seq;
  }
}

/** One link as the walk sees it, whichever table it is in. */
interface Linked {
  readonly hash: string;
  readonly contents: readonly (readonly unknown[])[];
  /** "The end of call c1 (bash)". */
  readonly shown: string;
  readonly callId: string | null;
}

/** The links of these places, in their order; null: in one moment of one database this cannot be. */
async function readLinks({ ask }: AuditRows, places: readonly Place[]): Promise<readonly (Linked | null)[]> {
  const rowsOf = async <R extends { readonly seq: number }>(table: string, isOf: (place: Place) => boolean) => {
    const seqs = [...new Set(places.filter(isOf).map(({ seq }) => seq))];
    if (seqs.length === 0) return new Map<number, R>();
    const rows = await ask<R>(`select * from ${table} where seq in (${placeholders(seqs.length)})`, seqs);
    return new Map(rows.map((row) => [row.seq, row]));
  };
  const entries = await rowsOf<AuditEntryTable>("audit_entries", ({ kind }) => kind === "entry");
  const calls = await rowsOf<CallRow>("tool_calls", ({ kind }) => kind !== "entry");
  return places.map(({ kind, seq }) => {
    const [call, entry] = [calls.get(seq), entries.get(seq)];
    if (kind === "entry") return entry ? linkOfEntry(entry) : null;
    return call ? linkOfCall(call, kind) : null;
  });
}

function linkOfEntry(row: AuditEntryTable): Linked {
  return { hash: row.hash, contents: [entryContent(row)], shown: `Entry ${row.seq} (${row.kind})`, callId: null };
}

function linkOfCall(row: CallRow, kind: "intent" | "end"): Linked {
  const hash = (kind === "intent" ? row.intent_hash : row.end_hash) ?? "";
  const shown = `The ${kind === "intent" ? "beginning" : "end"} of call ${row.id} (${row.tool})`;
  return { hash, contents: contentsOf(row, kind), shown, callId: row.id };
}

/** Every number once, in order, and every hash what its content and the hash before it make. Pauses now and then: a gateway that runs goes on answering. */
async function walk(
  rows: AuditRows,
  key: ChainKey,
  { places, start }: { readonly places: readonly Place[]; readonly start: Mark },
  found: Found,
): Promise<ReadonlyMap<number, string>> {
  const hashes = new Map<number, string>([[start.no, start.hash]]);
  let before: Link | null = start;
  const lastSeq = { intent: Number.NEGATIVE_INFINITY, entry: Number.NEGATIVE_INFINITY };
  for await (const { place, row } of linksOf(rows, places)) {
    const { no, kind, seq } = place;
    const { hash, callId } = row;
    if (before && no <= before.no) found(`Link ${no} is there twice, or before the start of the chain.`, no, callId);
    else if (before && no > before.no + 1) found(missing(before.no + 1, no - 1), before.no + 1);
    if (kind !== "end" && seq <= lastSeq[kind])
      found(`${row.shown} is not in the place where it was written.`, no, callId);
    if (kind !== "end") lastSeq[kind] = seq;
    const follows: Link | null = before?.no === no - 1 ? before : null;
    // after a gap the link before is not known; what this one says is judged by those that follow it
    const fits = (content: readonly unknown[]) => follows && key.linkHash(follows.hash, { no, kind }, content) === hash;
    // as it is stored: earlier versions made the hash of that, also where another engine would store it in another form
    if (follows && !row.contents.some((content) => fits(content) || fits(storableContent(content))))
      found(`${row.shown} is not what was written.`, no, callId);
    hashes.set(no, hash);
    before = { no, hash };
  }
  return hashes;
}

async function* linksOf(
  rows: AuditRows,
  places: readonly Place[],
): AsyncGenerator<{ readonly place: Place; readonly row: Linked }> {
  for (let from = 0; from < places.length; from += LINKS_AT_ONCE) {
    await new Promise<void>((resolve) => setImmediate(resolve));
    const some = places.slice(from, from + LINKS_AT_ONCE);
    const links = await readLinks(rows, some);
    for (const [index, place] of some.entries()) {
      const row = links[index];
      if (row) yield { place, row };
    }
  }
}

/** The contents that a link may have hashed: earlier versions left out `seq`. */
function contentsOf(row: CallRow, kind: "intent" | "end"): readonly (readonly unknown[])[] {
  return kind === "intent" ? [intentContent(row), intentContentWithoutSeq(row)] : [endContent(row)];
}

function missing(from: number, to: number): string {
  return from === to
    ? `Link ${from} is missing: a call or an entry was taken away.`
    : `Links ${from} to ${to} are missing: calls or entries were taken away.`;
}

async function markOf({ ask }: AuditRows, key: ChainKey, name: "start" | "head", found: Found): Promise<Mark> {
  const [mark] = await ask<Mark>("select no, hash, mac from audit_marks where name = $1", [name]);
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
