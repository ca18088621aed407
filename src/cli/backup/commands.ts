/** `pi-gw backup create|list|verify` and `pi-gw restore`. None of them needs a running gateway, and none disturbs one. */
import { resolve } from "node:path";
import {
  backupFolder,
  createBackup,
  isEncrypted,
  listBackups,
  restoreBackup,
  verifyBackup,
} from "../../backup/index.ts";
import { silentLog } from "../../kit/log.ts";
import type { Secret } from "../../kit/secret.ts";
import { visible } from "../../observe/index.ts";
import { EXIT_OK } from "../exit-code.ts";
import { homeOf } from "../state-directory.ts";
import { durationText } from "../status.ts";
import { type CliWorld, type CommonFlags, onInterrupt } from "../world.ts";
import { passphraseOf } from "./passphrase.ts";
import { createProgress, sizeText } from "./progress.ts";

export interface VerifyFlags extends CommonFlags {
  readonly passphraseFile?: string;
}

export interface BackupFlags extends VerifyFlags {
  readonly folder?: string;
  readonly encrypt?: boolean;
  readonly config?: string;
}

export interface RestoreFlags extends VerifyFlags {
  readonly replace?: boolean;
}

const ELSEWHERE =
  "The database is not in this backup: it is in Postgres (store.url). Back it up with pg_dump first, and then this.\n";

export async function backupCreate(world: CliWorld, flags: BackupFlags): Promise<number> {
  const encrypt = flags.encrypt === true || flags.passphraseFile !== undefined;
  const { file, bytes, files, isElsewhere } = await makeBackup(world, flags, () => encrypt);
  if (flags.json) world.stdout(`${JSON.stringify({ file, bytes, files, encrypted: encrypt })}\n`);
  else
    world.stdout(
      `${visible(file)}\n${files} files, ${sizeText(bytes)}${encrypt ? ", encrypted: keep the passphrase elsewhere" : ". It holds your keys and everything that was said: keep it private"}.\n`,
    );
  if (isElsewhere) world.stderr(ELSEWHERE);
  return EXIT_OK;
}

interface MadeBackup {
  readonly file: string;
  readonly bytes: number;
  readonly files: number;
  /** The database is in Postgres, and not in it. */
  readonly isElsewhere: boolean;
}

/** `encrypts` is asked with whether the configuration has a passphrase. Prints nothing but its progress. */
export async function makeBackup(
  world: CliWorld,
  flags: BackupFlags,
  encrypts: (hasPassphrase: boolean) => boolean,
): Promise<MadeBackup> {
  const { home, folder, config, configured, isElsewhere } = await placesOf(world, flags);
  const passphrase = encrypts(configured !== undefined)
    ? await passphraseOf(world, { file: flags.passphraseFile, configured, isNew: true })
    : null;
  const { file, bytes, manifest } = await withProgress(world, flags, "Packing", (progress, signal) =>
    createBackup(world, { home, folder, version: world.version, config, passphrase, progress }, signal),
  );
  return { file, bytes, files: manifest.files.length, isElsewhere };
}

export async function backupList(world: CliWorld, flags: BackupFlags): Promise<number> {
  const { folder } = await placesOf(world, flags);
  const found = await listBackups(folder);
  const now = world.clock.now();
  for (const backup of found) {
    const { file, createdAt, bytes, encrypted } = backup;
    const age = durationText(Math.max(0, now - createdAt));
    const line = `${new Date(createdAt).toISOString().slice(0, 19)}Z  ${age} ago  ${sizeText(bytes)}${encrypted ? "  encrypted" : ""}  ${file}`;
    world.stdout(`${flags.json ? JSON.stringify(backup) : visible(line)}\n`);
  }
  if (found.length === 0 && !flags.json)
    world.stdout(`${visible(`There are no backups in ${folder}. Make one with: pi-gw backup`)}\n`);
  return EXIT_OK;
}

export async function backupVerify(world: CliWorld, given: string, flags: VerifyFlags): Promise<number> {
  const file = resolve(world.cwd, given);
  const passphrase = await passphraseFor(world, file, flags);
  const manifest = await withProgress(world, flags, "Checking", (progress, signal) =>
    verifyBackup(file, { passphrase, progress }, signal),
  );
  const { createdAt, version, home, files, gone } = manifest;
  const answer = { file, ok: true, createdAt, version, home, files: files.length, gone: gone.length };
  world.stdout(
    flags.json
      ? `${JSON.stringify(answer)}\n`
      : visible(`The backup is whole: ${files.length} files of ${home}, made ${createdAt} by version ${version}.`) +
          "\n",
  );
  return EXIT_OK;
}

export async function restore(world: CliWorld, given: string, flags: RestoreFlags): Promise<number> {
  const file = resolve(world.cwd, given);
  const home = homeOf(flags.home, world.environment);
  const passphrase = await passphraseFor(world, file, flags);
  const replace = flags.replace === true;
  const { manifest, before, auditLinks } = await withProgress(world, flags, "Restoring", (progress, signal) =>
    restoreBackup(world, file, { home, passphrase, replace, progress }, signal),
  );
  const files = manifest.files.length;
  if (flags.json)
    world.stdout(`${JSON.stringify({ home, files, createdAt: manifest.createdAt, before, auditLinks })}\n`);
  else {
    const kept = before === null ? "" : `\nWhat was there before is in ${before}.`;
    world.stdout(
      `${visible(`${home} is as it was at ${manifest.createdAt}: ${files} files, the database and the audit log (${auditLinks} links) are in order.`)}${kept}\n`,
    );
  }
  return EXIT_OK;
}

async function passphraseFor(world: CliWorld, file: string, flags: VerifyFlags): Promise<Secret | null> {
  if (!(await isEncrypted(file))) return null;
  return passphraseOf(world, { file: flags.passphraseFile, configured: undefined, isNew: false });
}

interface Places {
  readonly home: string;
  readonly folder: string;
  /** The configuration file in use. */
  readonly config: string | null;
  readonly configured: Secret | undefined;
  /** Whether the database is in Postgres. */
  readonly isElsewhere: boolean;
}

async function placesOf(world: CliWorld, flags: BackupFlags): Promise<Places> {
  const { loadConfig } = await import("../../config/index.ts");
  const home = homeOf(flags.home, world.environment);
  const { environment, cwd } = world;
  const { config, path } = await loadConfig({ log: silentLog }, { home, flag: flags.config, cwd, environment });
  const { folder, passphrase } = config.backup;
  return {
    home,
    folder: flags.folder === undefined ? backupFolder(folder, home, environment.userHome) : resolve(cwd, flags.folder),
    config: path,
    configured: passphrase,
    isElsewhere: config.store.url !== undefined,
  };
}

type ShowProgress = (doneBytes: number, allBytes: number) => void;

/** Ctrl-C ends the work, and nothing half-made stays behind. */
async function withProgress<T>(
  world: CliWorld,
  flags: CommonFlags,
  what: string,
  work: (progress: ShowProgress, signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const stopping = new AbortController();
  using _listening = onInterrupt(world, () => stopping.abort(new Error("It was interrupted. Nothing was changed.")));
  using progress = createProgress(world, what, flags.json === true);
  return await work((done, all) => progress.show(done, all), stopping.signal);
}
