/**
 * A copy of the database as it is at one moment, made while a gateway goes on writing. In a thread of its own, because statements block the
 * thread they run in. The copy is complete and synced when this resolves; it is private, and not in write-ahead mode.
 */
import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { GatewayError } from "../contracts/errors.ts";
import { deferred, orAborted } from "../kit/deferred.ts";
import { damagedLog, DATABASE_FILE } from "./inspect.ts";
import { ensurePrivateFile, syncFile } from "./private-files.ts";

/** As text, so that a bundle and a single executable need no second file for it. */
const WORKER = `
import { constants, Database } from "bun:sqlite";
self.onmessage = ({ data }) => {
  const db = new Database(data.url, constants.SQLITE_OPEN_READONLY | constants.SQLITE_OPEN_URI);
  db.exec("pragma trusted_schema = off");
  db.prepare("vacuum into ?").run(data.target);
  db.close();
  postMessage("done");
};
`;

/** False: there is no database in this state directory. `target` must not hold anything. */
export async function snapshotDatabase(home: string, target: string, signal: AbortSignal): Promise<boolean> {
  const file = join(resolve(home), DATABASE_FILE);
  if (!existsSync(file)) return false;
  const damage = await damagedLog(file);
  if (damage) throw new GatewayError("store_corrupt", "the write-ahead log is damaged", { say: damage.say });
  try {
    await ensurePrivateFile(target);
    await vacuumInto(file, target, signal);
    await syncFile(target);
    return true;
  } catch (error) {
    await rm(target, { force: true });
    throw error;
  }
}

async function vacuumInto(file: string, target: string, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  // without a log nobody has it open, and it can be read as it stands
  const how = existsSync(`${file}-wal`) ? "mode=ro" : "immutable=1";
  const source = URL.createObjectURL(new Blob([WORKER], { type: "application/javascript" }));
  const worker = new Worker(source);
  const copied = deferred<void>();
  worker.onmessage = () => copied.resolve();
  worker.onerror = ({ message }) => copied.reject(new Error(`the database could not be copied: ${message}`));
  worker.postMessage({ url: `${pathToFileURL(file).href}?${how}`, target });
  try {
    await orAborted(copied.promise, signal);
  } finally {
    worker.terminate();
    URL.revokeObjectURL(source);
  }
}
