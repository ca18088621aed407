/**
 * The state directory: private to its owner, and held by one gateway at a time. The hold is a lock of the operating system, so it ends
 * with the process however that dies; the file with the process number beside it only helps to say who holds it.
 */
import { constants } from "node:fs";
import { access, chmod, lstat, mkdir, open, readFile, rename, rm } from "node:fs/promises";
import { join, resolve } from "node:path";
import { GatewayError } from "../contracts/errors.ts";
import type { Log } from "../kit/log.ts";
import { holdFile } from "./file-lock.ts";
import { PRIVATE_FILE, PRIVATE_FOLDER } from "./private-files.ts";

interface StateDirectory extends AsyncDisposable {
  /** Absolute. */
  readonly path: string;
}

const LOCK_FILE = "lock.db";
const PID_FILE = "gateway.pid";
const OTHERS = 0o077;
const MAX_PID_DIGITS = 10;
const ELSEWHERE = "or start with --home and another folder.";

/** Takes the state directory for this process. Throws `home_taken` while another gateway has it, `home_unusable` when it cannot be used. */
export async function openStateDirectory(deps: { readonly log: Log }, home: string): Promise<StateDirectory> {
  const path = await prepareStateDirectory(deps, home);
  const lock = await takeLock(path);
  try {
    await writePrivate(join(path, PID_FILE), `${process.pid}\n`);
  } catch (error) {
    lock[Symbol.dispose]();
    throw unusable(
      path,
      `The state directory ${path} cannot be written to. Make room or give write access, ${ELSEWHERE}`,
      error,
    );
  }
  let held = true;
  return {
    path,
    async [Symbol.asyncDispose]() {
      if (!held) return;
      held = false;
      await rm(join(path, PID_FILE), { force: true });
      lock[Symbol.dispose]();
    },
  };
}

/** Makes the directory when it is missing, closes it to others, and refuses one that somebody else could control. */
export async function prepareStateDirectory({ log }: { readonly log: Log }, home: string): Promise<string> {
  const path = resolve(home); // also drops a trailing slash, behind which a link would look like a folder
  try {
    await mkdir(path, { recursive: true, mode: PRIVATE_FOLDER });
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST"))
      throw unusable(
        path,
        `The state directory ${path} cannot be created. Give write access to its parent folder, ${ELSEWHERE}`,
        error,
      );
  }
  const found = await lstat(path);
  if (found.isSymbolicLink())
    throw unusable(path, `The state directory ${path} is a symbolic link. Name the real folder, ${ELSEWHERE}`);
  if (!found.isDirectory())
    throw unusable(path, `The state directory ${path} is a file, not a folder. Move that file away, ${ELSEWHERE}`);
  const me = process.getuid?.() ?? found.uid;
  if (found.uid !== me)
    throw unusable(
      path,
      `The state directory ${path} belongs to another user (uid ${found.uid}). Start the gateway as that user, ${ELSEWHERE}`,
    );
  if ((found.mode & OTHERS) !== 0) {
    await chmod(path, PRIVATE_FOLDER);
    log.warn("state directory was open to others and is private now", { path, mode: (found.mode & 0o777).toString(8) });
  }
  try {
    await access(path, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    throw unusable(
      path,
      `The state directory ${path} cannot be written to. Give yourself write access, ${ELSEWHERE}`,
      error,
    );
  }
  return path;
}

async function takeLock(path: string): Promise<Disposable> {
  let lock: Disposable | null;
  try {
    lock = await holdFile(join(path, LOCK_FILE));
  } catch (error) {
    throw unusable(
      path,
      `The state directory ${path} cannot be locked. Make room if its disk is full, use a folder on a local disk, ${ELSEWHERE}`,
      error,
    );
  }
  if (lock !== null) return lock;
  const holder = await readHolder(path);
  const who = holder === null ? "Another gateway" : `Another gateway (process ${holder})`;
  throw new GatewayError("home_taken", "the state directory is locked", {
    fields: { path, holder },
    say: `${who} is already running on ${path}. Stop it first, or start this one with --home and another folder.`,
  });
}

async function readHolder(path: string): Promise<number | null> {
  const text = await readFile(join(path, PID_FILE), "utf8").catch(() => ""); // the sentence works without it
  const digits = text.trim();
  return /^\d+$/.test(digits) && digits.length <= MAX_PID_DIGITS ? Number(digits) : null;
}

async function writePrivate(file: string, text: string): Promise<void> {
  const temporary = `${file}.new`;
  await rm(temporary, { force: true });
  const handle = await open(temporary, "wx", PRIVATE_FILE);
  try {
    await handle.writeFile(text);
  } finally {
    await handle.close();
  }
  await rename(temporary, file);
}

export function unusable(path: string, say: string, cause?: unknown): GatewayError {
  return new GatewayError("home_unusable", "the state directory cannot be used", { cause, fields: { path }, say });
}
