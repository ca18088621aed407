/**
 * A copy of the database, made before its tables are brought up to date: the way back to the version that was used before. It lies beside the
 * database, named by the version of its tables and the moment. Without a copy there is no upgrade.
 */
import { readdir, rename, rm, stat, statfs } from "node:fs/promises";
import { join } from "node:path";
import { GatewayError, isGatewayError } from "../contracts/errors.ts";
import type { Clock } from "../kit/clock.ts";
import type { Log } from "../kit/log.ts";
import { DATABASE_FILE } from "./inspect.ts";
import { syncFolder } from "./private-files.ts";
import { snapshotDatabase } from "./snapshot.ts";

const COPY = /^gateway\.db\.before-upgrade-v\d+-(\d{8}T\d{6}Z)$/;
/** With the newest one. */
const MAX_COPIES = 3;
/** Beyond the copy: what the upgrade itself writes. */
const SPARE_BYTES = 64 * 1024 * 1024;
const MIB = 1024 * 1024;
const NEVER = new AbortController().signal;

interface CopyDeps {
  readonly clock: Clock;
  readonly log: Log;
  /** Default: of the disk. */
  readonly freeBytes?: (folder: string) => Promise<number>;
}

/** Returns the path of the copy, which is complete and on the disk. Throws `store_failed`, and has changed nothing then. */
export async function copyBeforeUpgrade(deps: CopyDeps, home: string, version: number): Promise<string> {
  const { clock, log, freeBytes = freeOnDisk } = deps;
  const startedAt = clock.elapsed();
  const copy = join(home, `${DATABASE_FILE}.before-upgrade-v${version}-${momentText(clock.now())}`);
  const draft = `${copy}.new`;
  try {
    const neededBytes = (await databaseBytes(home)) + SPARE_BYTES;
    const free = await freeBytes(home);
    if (free < neededBytes) throw noRoom(home, neededBytes, free);
    await rm(draft, { force: true });
    await snapshotDatabase(home, draft, NEVER);
    await rename(draft, copy);
    await syncFolder(home);
  } catch (error) {
    if (isGatewayError(error)) throw error;
    throw new GatewayError("store_failed", "the database could not be copied before its upgrade", {
      cause: error,
      say: `The database has to be brought up to date, and a copy of it could not be made before that (${messageOf(error)}). Nothing was changed. Make room or give write access in ${home}, then start again.`,
    });
  }
  const { size: bytes } = await stat(copy);
  const ms = Math.round(clock.elapsed() - startedAt);
  log.info("database copied before its upgrade", { copy, version, bytes, ms });
  await dropOldCopies(home);
  return copy;
}

/** When a file of this name was copied; null: it is no such copy. */
export function copyMoment(name: string): number | null {
  const text = COPY.exec(name)?.[1];
  if (text === undefined) return null;
  return Date.parse(text.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, "$1-$2-$3T$4:$5:$6Z"));
}

/** For an upgrade that failed: its transaction was rolled back, so the database is as it was. */
export function upgradeFailed(error: unknown, copy: string): GatewayError {
  return new GatewayError("store_failed", "the database could not be brought up to date", {
    cause: error,
    fields: { copy },
    say: `The database could not be brought up to date (${messageOf(error)}). It was left as it was, and ${copy} is a copy of it. If its disk is full, make room and start again; else go back to the version of pi-gateway that you used before, and report this.`,
  });
}

/** Those beyond the newest `MAX_COPIES`, and drafts of a start that was killed. Names of anything else are left alone. */
async function dropOldCopies(home: string): Promise<void> {
  const names = await readdir(home);
  const drafts = names.filter((name) => name.endsWith(".new") && COPY.test(name.slice(0, -".new".length)));
  const momentOf = (name: string): string => COPY.exec(name)?.[1] ?? "";
  const copies = names.filter((name) => COPY.test(name));
  const newestFirst = copies.toSorted((a, b) => momentOf(b).localeCompare(momentOf(a)));
  for (const name of [...drafts, ...newestFirst.slice(MAX_COPIES)]) await rm(join(home, name), { force: true });
}

async function databaseBytes(home: string): Promise<number> {
  const file = join(home, DATABASE_FILE);
  const { size } = await stat(file);
  const log = await stat(`${file}-wal`).catch(() => null); // closed in order, it has none
  return size + (log?.size ?? 0);
}

async function freeOnDisk(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
}

function noRoom(home: string, neededBytes: number, freeBytes: number): GatewayError {
  const mb = (bytes: number): number => Math.ceil(bytes / MIB);
  return new GatewayError("store_failed", "no room for a copy of the database before its upgrade", {
    fields: { neededBytes, freeBytes },
    say: `The database has to be brought up to date, and there is no room for a copy of it before that: ${home} needs ${mb(neededBytes)} MB, and ${mb(freeBytes)} MB are free. Nothing was changed. Make room, then start again.`,
  });
}

/** "20260301T000100Z": sorts by time. */
function momentText(at: number): string {
  return new Date(at).toISOString().replaceAll(/[-:]|\.\d+/g, "");
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
