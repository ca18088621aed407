/**
 * Reads the whole database once after an end that was not clean, and says what is wrong with it. In a thread of its own, because
 * `integrity_check` takes about a second per gigabyte and statements block the thread they run in.
 */
import { pathToFileURL } from "node:url";
import type { Clock } from "../../kit/clock.ts";
import type { Log } from "../../kit/log.ts";
import { TABLE_OF_INDEX } from "./text-indexes.ts";

/** The start, and the turns that were interrupted, come first. */
export const INTEGRITY_DELAY_MS = 10_000;
const MAX_FINDINGS = 1_000;
const MAX_SHOWN = 5;
const MAX_SHOWN_CHARS = 300;

/** As text, so that a bundle and a single executable need no second file for it. */
const WORKER = `
import { constants, Database } from "bun:sqlite";
self.onmessage = ({ data }) => {
  const db = new Database(data.url, constants.SQLITE_OPEN_READONLY | constants.SQLITE_OPEN_URI);
  db.exec("pragma trusted_schema = off");
  const check = (what) => db.prepare("pragma integrity_check(" + what + ")").values().flat().map(String);
  const names = db.prepare("select name from sqlite_schema where type = 'table'").values().flat().map(String);
  const tables = names.filter((name) => !new RegExp(data.except).test(name));
  const findings = data.except === "" ? check(data.max) : tables.flatMap((name) => check('"' + name + '"'));
  db.close();
  postMessage(findings);
};
`;

interface IntegrityCheck extends Disposable {
  /** What was found, for the owner; null while nothing was. */
  notice(): string | null;
  /** Resolves when the check has ended, or was given up. */
  readonly done: Promise<void>;
}

export function startIntegrityCheck(
  { clock, log }: { readonly clock: Clock; readonly log: Log },
  databaseFile: string,
  /** True: what was found was in a full-text index, which is new now. */
  repair: (finding: unknown) => boolean = () => false,
): IntegrityCheck {
  const closing = new AbortController();
  let notice: string | null = null;

  const run = async (): Promise<void> => {
    await clock.sleep(INTEGRITY_DELAY_MS, closing.signal);
    const startedAt = clock.elapsed();
    const first = await findingsOf(databaseFile, "", closing.signal);
    const isMended = isDamage(first) && repair(new Error(first.join("; ")));
    const findings = isMended ? await findingsOf(databaseFile, TABLE_OF_INDEX.source, closing.signal) : first;
    const ms = Math.round(clock.elapsed() - startedAt);
    if (!isDamage(findings)) return log.info("database integrity checked", { ms });
    log.error("database integrity check found damage", { ms, findings: findings.slice(0, MAX_SHOWN) });
    notice = `The database ${databaseFile} is damaged (${findings.join("; ").slice(0, MAX_SHOWN_CHARS)}). Stop the gateway, keep a copy of its state directory, and put a backup in its place.`;
  };
  const done = run().catch((error: unknown) => {
    if (!closing.signal.aborted) log.error("database integrity could not be checked", { error });
  });
  return { notice: () => notice, done, [Symbol.dispose]: () => closing.abort(new Error("the store is closing")) };
}

/** Pages that belong to nothing are room that is lost: an index that could not be read leaves them behind when it is made anew. */
function isDamage(findings: readonly string[]): boolean {
  const lines = findings.flatMap((finding) => finding.split("\n"));
  return lines.some((line) => !/^(?:ok|\*\*\* in database main \*\*\*|Page \d+: never used|)$/.test(line));
}

/** `except`: a pattern of tables that are not looked at; empty: the whole file is. */
async function findingsOf(databaseFile: string, except: string, signal: AbortSignal): Promise<readonly string[]> {
  const source = URL.createObjectURL(new Blob([WORKER], { type: "application/javascript" }));
  const worker = new Worker(source);
  try {
    return await new Promise<readonly string[]>((resolve, reject) => {
      worker.onmessage = ({ data }: MessageEvent<readonly string[]>) => resolve(data);
      worker.onerror = ({ message }) => reject(new Error(message));
      signal.addEventListener("abort", () => reject(signal.reason), { once: true });
      worker.postMessage({ url: `${pathToFileURL(databaseFile).href}?mode=ro`, max: MAX_FINDINGS, except });
    });
  } finally {
    worker.terminate();
    URL.revokeObjectURL(source);
  }
}
