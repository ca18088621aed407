/**
 * Makes a backup of a state directory while its gateway runs: the database as it is at one moment, then everything else. Session files come after the
 * database, so they are never behind it; what they have more is cut off when the session is opened. The backup gets its name when it is complete.
 */
import { constants } from "node:fs";
import { copyFile, mkdir, open, readdir, rename, rm, stat, statfs } from "node:fs/promises";
import { join, resolve } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import { GatewayError } from "../contracts/errors.ts";
import type { Clock } from "../kit/clock.ts";
import type { Ids } from "../kit/ids.ts";
import type { Secret } from "../kit/secret.ts";
import { snapshotDatabase } from "../store/index.ts";
import { archiveBytes } from "./archive/write-archive.ts";
import { AUDIT_HEAD, isInside, sizeOf, sourcesOf } from "./contents.ts";
import { type Manifest, manifestOf } from "./manifest.ts";
import { backupName } from "./names.ts";
import { SALT_BYTES } from "./seal/header.ts";
import { sealed } from "./seal/seal.ts";

/** Beyond what the backup is expected to take. */
const SPARE_BYTES = 64 * 1024 * 1024;
const UNFINISHED = ".making-";
const LEFTOVER_MS = 24 * 3_600_000;
const PRIVATE_FILE = 0o600;
const PRIVATE_FOLDER = 0o700;
/** A backup should not keep a processor busy that agents need. */
const GZIP_LEVEL = 3;

export interface CreateOptions {
  readonly home: string;
  /** Where backups are kept; made when it is missing. */
  readonly folder: string;
  readonly version: string;
  /** The configuration file in use, wherever it is. */
  readonly config: string | null;
  readonly passphrase: Secret | null;
  progress?(doneBytes: number, allBytes: number): void;
}

export interface CreatedBackup {
  readonly file: string;
  readonly bytes: number;
  readonly manifest: Manifest;
}

export async function createBackup(
  deps: { readonly clock: Clock; readonly ids: Ids },
  options: CreateOptions,
  signal: AbortSignal,
): Promise<CreatedBackup> {
  const home = resolve(options.home);
  const folder = resolve(options.folder);
  const at = deps.clock.now();
  await mkdir(folder, { recursive: true, mode: PRIVATE_FOLDER });
  const target = join(folder, backupName(at, options.passphrase !== null));
  const work = join(folder, `${UNFINISHED}${deps.ids.next("backup")}`); // here, so that the end is a rename
  await dropLeftovers(folder, at);
  await mkdir(work, { mode: PRIVATE_FOLDER });
  try {
    const auditHead = await copyIfThere(join(home, AUDIT_HEAD), join(work, AUDIT_HEAD));
    const database = join(work, "gateway.db");
    const hasDatabase = await snapshotDatabase(home, database, signal);
    const config = options.config === null || isInside(home, resolve(options.config)) ? null : options.config;
    const sources = await sourcesOf(
      { home, database: hasDatabase ? database : null, auditHead, config, backups: folder },
      signal,
    );
    const allBytes = await sizeOf(sources);
    await requireRoom(folder, allBytes);
    let doneBytes = 0;
    let manifest: Manifest | null = null;
    const archive = archiveBytes(
      {
        sources,
        manifest: (files, gone) => {
          const createdAt = new Date(at).toISOString();
          manifest = manifestOf({ version: options.version, createdAt, home }, files, gone);
          return manifest;
        },
        progress: (bytes) => options.progress?.((doneBytes += bytes), allBytes),
      },
      signal,
    );
    const salt = Buffer.from(deps.ids.secret(SALT_BYTES), "base64url");
    const bytes = await writeStream(join(work, "backup"), archive, { passphrase: options.passphrase, salt, signal });
    if (manifest === null) throw new GatewayError("internal", "a backup ended without its manifest");
    await putInPlace(join(work, "backup"), target, folder);
    return { file: target, bytes, manifest };
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

/** Of processes that were killed. One that still runs made its folder less than a day ago. */
async function dropLeftovers(folder: string, now: number): Promise<void> {
  for (const name of await readdir(folder)) {
    if (!name.startsWith(UNFINISHED)) continue;
    const found = await stat(join(folder, name)).catch(() => null); // finished in this moment
    if (found && now - found.mtimeMs > LEFTOVER_MS) await rm(join(folder, name), { recursive: true, force: true });
  }
}

async function copyIfThere(from: string, to: string): Promise<string | null> {
  try {
    await copyFile(from, to, constants.COPYFILE_EXCL);
    return to;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return null; // no tool was called yet
    throw error;
  }
}

/** What it holds is assumed to be as large as before: media and pictures do not get smaller. */
async function requireRoom(folder: string, neededBytes: number): Promise<void> {
  const { bavail, bsize } = await statfs(folder);
  if (bavail * bsize >= neededBytes + SPARE_BYTES) return;
  const mb = (bytes: number): number => Math.ceil(bytes / 1024 / 1024);
  throw new GatewayError("store_failed", "no room for a backup", {
    fields: { folder, neededBytes },
    say: `There is no room for a backup in ${folder}: it may take ${mb(neededBytes + SPARE_BYTES)} MB, and ${mb(bavail * bsize)} MB are free.`,
  });
}

async function writeStream(
  file: string,
  bytes: AsyncIterable<Uint8Array>,
  how: { readonly passphrase: Secret | null; readonly salt: Uint8Array; readonly signal: AbortSignal },
): Promise<number> {
  await using handle = await open(file, "wx", PRIVATE_FILE);
  const { passphrase, salt, signal } = how;
  let written = 0;
  await pipeline(
    Readable.from(bytes, { objectMode: false }),
    createGzip({ level: GZIP_LEVEL }),
    async function* (packed: AsyncIterable<Uint8Array>) {
      yield* passphrase === null ? packed : sealed(packed, { passphrase, salt });
    },
    async (output: AsyncIterable<Uint8Array>) => {
      for await (const piece of output) {
        await handle.writeFile(piece); // goes on where the last one ended
        written += piece.length;
      }
    },
    { signal },
  );
  await handle.sync();
  return written;
}

async function putInPlace(from: string, target: string, folder: string): Promise<void> {
  await rename(from, target);
  await using parent = await open(folder, constants.O_RDONLY | constants.O_DIRECTORY);
  await parent.sync();
}
