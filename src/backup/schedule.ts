/**
 * Backups by the clock. When the newest one is older than the settings ask, a new one is made and the oldest are deleted. A failure is told to the
 * owner once, stands in the status until a backup succeeds, and is tried again within the hour.
 */
import { rm } from "node:fs/promises";
import { isGatewayError } from "../contracts/errors.ts";
import type { BackupReport } from "../contracts/wire.ts";
import type { Clock } from "../kit/clock.ts";
import type { Ids } from "../kit/ids.ts";
import type { Log } from "../kit/log.ts";
import type { Secret } from "../kit/secret.ts";
import type { CreatedBackup, CreateOptions } from "./create.ts";
import { createBackup } from "./loaded-late.ts";
import { backupFolder, listBackups, outdated } from "./names.ts";

/** Pause after the start, so that the start and the turns that were interrupted come first. */
const FIRST_MS = 60_000;
/** A changed setting takes effect within this time. */
const LOOK_MS = 60_000;
const RETRY_MS = 3_600_000;

interface BackupSettings {
  readonly every?: number;
  readonly keep: number;
  readonly folder?: string;
  readonly passphrase?: Secret;
}

interface BackupsDeps {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  settings(): BackupSettings;
  /** The configuration file in use. */
  config(): string | null;
  tellOwner(id: string, text: string): Promise<void>;
  /** Default: a backup as `pi-gw backup` makes it. */
  create?(options: CreateOptions, signal: AbortSignal): Promise<CreatedBackup>;
}

interface BackupsOptions {
  readonly home: string;
  readonly userHome: string;
  readonly version: string;
}

export interface Backups {
  /** What the owner should know; empty while all is well. */
  notices(): readonly string[];
  report(): BackupReport;
  /** Makes one now, also when none is made by the clock; resolves with the reason when it failed, otherwise null. */
  makeNow(): Promise<string | null>;
  start(): AsyncDisposable;
}

interface Attempt {
  readonly at: number;
  /** Null: it succeeded. */
  readonly failure: string | null;
}

/** When the next one is due. `last` is what this process tried, `newestAt` what lies in the folder. */
export function dueAt(
  every: number,
  known: { readonly startedAt: number; readonly last: Attempt | null; readonly newestAt: number | null },
): number {
  const { startedAt, last, newestAt } = known;
  if (last !== null && last.failure !== null) return last.at + Math.min(every, RETRY_MS);
  const newest = Math.max(newestAt ?? Number.NEGATIVE_INFINITY, last?.at ?? Number.NEGATIVE_INFINITY);
  return Math.max(startedAt + FIRST_MS, newest + every);
}

export function createBackups(deps: BackupsDeps, options: BackupsOptions): Backups {
  const { clock, log } = deps;
  const stopping = new AbortController();
  const attempts = createAttempts(deps, options, stopping.signal);
  let newestAt: number | null = null;

  const attempt = async (folder: string): Promise<void> => {
    await attempts.make(folder);
    const last = attempts.last();
    if (last?.failure === null) newestAt = last.at;
  };

  /** Makes a backup when one is due. Returns how long to sleep. */
  const look = async (startedAt: number): Promise<number> => {
    const { every, folder: wanted } = deps.settings();
    if (every === undefined) return LOOK_MS;
    const folder = backupFolder(wanted, options.home, options.userHome);
    newestAt = (await listBackups(folder))[0]?.createdAt ?? null;
    const leftMs = dueAt(every, { startedAt, last: attempts.last(), newestAt }) - clock.now();
    if (leftMs > 0) return Math.min(LOOK_MS, leftMs);
    await attempt(folder);
    return LOOK_MS;
  };

  const run = async (signal: AbortSignal): Promise<void> => {
    const startedAt = clock.now();
    while (!signal.aborted) {
      const pauseMs = await look(startedAt).catch((error: unknown) => {
        log.error("could not check whether a backup is due", { error });
        return LOOK_MS;
      });
      await clock.sleep(pauseMs, signal).catch(() => undefined); // the abort is the normal end
    }
  };

  return {
    notices() {
      const failure = attempts.last()?.failure ?? null;
      return failure === null ? [] : [failureText(failure)];
    },
    report() {
      const { every, folder } = deps.settings();
      return {
        everyMs: every ?? null,
        folder: backupFolder(folder, options.home, options.userHome),
        newestAt,
        failure: attempts.last()?.failure ?? null,
      };
    },
    async makeNow() {
      await attempt(backupFolder(deps.settings().folder, options.home, options.userHome));
      return attempts.last()?.failure ?? null;
    },
    start() {
      const done = run(stopping.signal);
      return {
        async [Symbol.asyncDispose]() {
          stopping.abort(new Error("the gateway is stopping"));
          await Promise.all([done, attempts.running()]);
        },
      };
    },
  };
}

interface Attempts {
  /** One at a time: who asks while one is made waits for that one. */
  make(folder: string): Promise<void>;
  last(): Attempt | null;
  running(): Promise<void> | null;
}

/** The owner is told of the first of several failures in a row. */
function createAttempts(deps: BackupsDeps, options: BackupsOptions, signal: AbortSignal): Attempts {
  const make = createMaker(deps, options);
  let last: Attempt | null = null;
  let running: Promise<void> | null = null;

  const attempt = async (folder: string): Promise<void> => {
    const at = deps.clock.now();
    const failedBefore = last !== null && last.failure !== null;
    try {
      await make(folder, signal);
      last = { at, failure: null };
    } catch (error) {
      if (signal.aborted) return;
      const failure = isGatewayError(error) ? error.say : `${error instanceof Error ? error.message : String(error)}.`;
      last = { at, failure };
      deps.log.error("backup failed", { folder, error });
      if (!failedBefore) await deps.tellOwner(`backup-failed-${at}`, failureText(failure));
    }
  };
  return {
    make(folder) {
      running ??= attempt(folder).finally(() => {
        running = null;
      });
      return running;
    },
    last: () => last,
    running: () => running,
  };
}

/** Makes one backup, and deletes those that are too many then. */
function createMaker(
  deps: BackupsDeps,
  { home, version }: BackupsOptions,
): (folder: string, signal: AbortSignal) => Promise<void> {
  const create = deps.create ?? ((wanted: CreateOptions, signal: AbortSignal) => createBackup(deps, wanted, signal));
  return async (folder, signal) => {
    const startedAt = deps.clock.elapsed();
    const { passphrase, keep } = deps.settings();
    const made = await create({ home, folder, version, config: deps.config(), passphrase: passphrase ?? null }, signal);
    const old = outdated(await listBackups(folder), keep);
    for (const { file } of old) await rm(file, { force: true });
    const ms = Math.round(deps.clock.elapsed() - startedAt);
    deps.log.info("backup made", { file: made.file, bytes: made.bytes, deleted: old.length, ms });
  };
}

function failureText(because: string): string {
  return `The last backup failed: ${because} It is tried again within the hour.`;
}
