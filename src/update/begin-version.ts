/**
 * The part of a start that an update is: a new version on trial counts from the moment in which it could accept its first message, and not before;
 * an old version that is started after a trial puts the database back that the new one has changed. The caller holds the state directory.
 */
import { readFileSync } from "node:fs";
import { copyFile, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { GatewayError } from "../contracts/errors.ts";
import type { Clock } from "../kit/clock.ts";
import type { Log } from "../kit/log.ts";
import { returnDatabase } from "../store/index.ts";
import { startRole } from "./start-role.ts";
import { type Trial, versionFiles, type VersionFiles } from "./version-files.ts";

export interface RunningVersion {
  /** Whether the old version may still return after this start. */
  isOnTrial(): boolean;
  /** Writes into the log what this start found; it begins before the log is open. */
  tell(log: Log): void;
  /** Makes this version the one that stays. Called once, right before the first message can be accepted; does not wait for anything. */
  count(): void;
  /** The start has failed, and why: whoever updates is told, and the old version is started next. */
  failed(why: string): void;
}

interface BeginOptions {
  readonly home: string;
  /** As the launcher says: PI_GATEWAY_RUNS and PI_GATEWAY_LAUNCHER. */
  readonly runs: string | undefined;
  readonly launcher: string | undefined;
}

const AUDIT_HEAD = "audit-head.json";
const NOTHING = (): void => undefined;
const ORDINARY: RunningVersion = { isOnTrial: () => false, tell: NOTHING, count: NOTHING, failed: NOTHING };

/** Throws `update_restart` when another version is to be started, and what `returnDatabase` throws. */
export async function beginVersion(
  deps: { readonly clock: Clock },
  { home, runs, launcher }: BeginOptions,
): Promise<RunningVersion> {
  if (runs === undefined || launcher === undefined) return ORDINARY;
  const files = versionFiles(home);
  const [trial, current] = [files.trial(), files.current()];
  if (trial === null && current === null && runs === "base") return ORDINARY; // nothing was ever updated here
  const role = startRole({ runs, installed: installedVersion(launcher), trial, current });
  switch (role.kind) {
    case "ordinary":
      return ORDINARY;
    case "wrong":
      throw new GatewayError("update_restart", "another version is to run here", { fields: { wanted: role.wanted } });
    case "return":
      return { ...ORDINARY, tell: await goBack(deps, files, { home, trial: role.trial }) };
    case "trial":
      await keepAuditHead(home, files.folder);
      return onTrial(deps, files, role.trial);
  }
}

function onTrial(
  { clock }: { readonly clock: Clock },
  files: VersionFiles,
  { before, next, over }: Trial,
): RunningVersion {
  let counts = false;
  return {
    isOnTrial: () => !counts,
    tell: (log) => log.info("new version is on trial", { version: next, before }),
    count() {
      if (counts) return; // a gateway that restarts without another process
      files.setCurrent(next, over);
      files.writeOutcome({ from: before, to: next, at: clock.now(), kind: "updated", why: null });
      files.endTrial();
      counts = true;
    },
    failed: (why) => files.writeFailure(why),
  };
}

/** Every step may be done again: a kill between two of them makes the next start begin here once more. */
async function goBack(
  { clock }: { readonly clock: Clock },
  files: VersionFiles,
  { home, trial }: { readonly home: string; readonly trial: Trial },
): Promise<RunningVersion["tell"]> {
  const { before, next, over, switchedAt } = trial;
  const restored = await returnDatabase(home, switchedAt);
  if (restored !== null) await putAuditHeadBack(home, files.folder);
  const why = files.failure();
  files.setCurrent(before, over);
  files.writeOutcome({ from: before, to: next, at: clock.now(), kind: "returned", why });
  files.endTrial();
  return (log) => {
    log.error("new version did not serve, the old one goes on", { version: before, failed: next, why });
    if (restored !== null) log.warn("database put back as it was before its upgrade", { copy: restored });
  };
}

/** It goes with the rows of the database: with a database of before, a newer one would look as if rows had been removed. */
async function keepAuditHead(home: string, folder: string): Promise<void> {
  const kept = join(folder, AUDIT_HEAD);
  await rm(kept, { force: true });
  await copyIfThere(join(home, AUDIT_HEAD), kept);
}

async function putAuditHeadBack(home: string, folder: string): Promise<void> {
  const draft = join(home, `${AUDIT_HEAD}.new`);
  if (await copyIfThere(join(folder, AUDIT_HEAD), draft)) await rename(draft, join(home, AUDIT_HEAD));
}

async function copyIfThere(from: string, to: string): Promise<boolean> {
  return copyFile(from, to).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return false; // nothing was ever written into the log
      throw error;
    },
  );
}

function installedVersion(launcher: string): string {
  return readFileSync(join(dirname(launcher), "..", "dist", "version"), "utf8").trim();
}
