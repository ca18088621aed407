/**
 * Session files that are in the database as well. Before a turn the local file has to begin with what the last finished turn left there,
 * whichever gateway that was on; otherwise it is replaced by it. After a turn, what the file grew by is handed to whoever ends the turn.
 */
import { constants } from "node:fs";
import { type FileHandle, mkdir, open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { GatewayError, isGatewayError } from "../../contracts/errors.ts";
import type { FileChange, SessionFileStore, StoredFile } from "../../contracts/store/session-files.ts";
import type { Ids } from "../../kit/ids.ts";
import type { Log } from "../../kit/log.ts";
import { writeWhole } from "../../kit/write-whole.ts";
import { inspectSessionFile, isStartedOver } from "../setup/damaged-session.ts";
import { downloadPath, sizeOf } from "./session-file.ts";

const READ_BYTES = 1024 * 1024;
/** A change is held in memory until the turn has ended. Larger files stay on this machine alone. */
const MAX_CHANGE_BYTES = 256 * 1024 * 1024;
/** Files whose digest is remembered; others are read once more. */
const MAX_KNOWN = 10_000;

export interface StoredSessions {
  /** Throws `store_failed` while the database cannot be asked: a conversation does not go on without what was said before. */
  restore(file: LocalFile): Promise<Restored>;
  /** Of the file at the end of a turn. Null: it is too large to be stored. */
  changeOf(file: LocalFile, grownFrom: StoredFile | null): Promise<FileChange | null>;
}

interface LocalFile {
  readonly name: string;
  readonly path: string;
  readonly settledBytes: number;
}

export interface Restored {
  /** As it is in the database; null: it is not there. */
  readonly stored: StoredFile | null;
  /** The local file was another one. */
  readonly isReplaced: boolean;
}

interface StoredSessionDeps {
  readonly log: Log;
  readonly ids: Ids;
  readonly files: SessionFileStore;
}

export function createStoredSessions({ log, ids, files }: StoredSessionDeps): StoredSessions {
  /** By name, the digest that the local file had when this gateway last looked: between turns nobody else changes it. */
  const known = new Map<string, string>();
  const know = (name: string, digest: string): void => {
    known.delete(name); // to the end of the line
    known.set(name, digest);
    const [oldest] = known.keys();
    if (known.size > MAX_KNOWN && oldest !== undefined) known.delete(oldest);
  };

  const download = async (name: string, path: string, stored: StoredFile): Promise<boolean> => {
    try {
      await writeDurably(path, downloadPath(path, ids.next("part")), { pieces: files.read(name, stored), stored });
      return true;
    } catch (error) {
      if (!isGatewayError(error) || error.code !== "store_corrupt") throw error;
      log.error("the session file in the database is damaged", { file: name, error });
      return false;
    }
  };

  return {
    async restore({ name, path, settledBytes }) {
      if (settledBytes === 0) return { stored: null, isReplaced: false };
      const stored = await files.find(name);
      // an earlier version of the gateway has ended turns without it
      if (stored?.bytes !== settledBytes) return { stored, isReplaced: false };
      const found = await judgeLocal(path, stored, known.get(name) === stored.digest);
      if (found !== "same") log.info("session file is loaded from the database", { file: name, because: found });
      const isReplaced = found !== "same" && (await download(name, path, stored));
      if (isReplaced || found === "same") know(name, stored.digest);
      return { stored, isReplaced };
    },
    async changeOf({ name, path, settledBytes }, stored) {
      const change = await readChange(path, settledBytes, stored);
      if (change === null) log.error("session file is too large for the database", { file: name, settledBytes });
      else know(name, change.digest);
      return change && { name, ...change };
    },
  };
}

/** `isKnown`: this gateway left the file so. Otherwise: why it is not what was stored. */
async function judgeLocal(
  path: string,
  stored: StoredFile,
  isKnown: boolean,
): Promise<"same" | "missing" | "shorter" | "different"> {
  const size = sizeOf(path);
  if (size >= stored.bytes && (isKnown || (await digestOf(path, stored.bytes)) === stored.digest)) return "same";
  // one that takes the place of a file that could not be read, and has not seen the end of a turn: what is stored could not be read either
  const { header } = await inspectSessionFile(path, size);
  if (isStartedOver(header, stored.bytes)) return "same";
  if (size === 0) return "missing";
  return size < stored.bytes ? "shorter" : "different";
}

type Change = Omit<FileChange, "name">;

/** The file was in reach of an agent: it has grown only if it still begins with what was stored. */
async function readChange(path: string, settledBytes: number, stored: StoredFile | null): Promise<Change | null> {
  await using opened = await openPlain(path);
  const hasher = new Bun.CryptoHasher("sha256");
  const mayGrow = stored !== null && stored.canGrow && stored.bytes <= settledBytes;
  if (mayGrow) for await (const chunk of chunksOf(opened.file, 0, stored.bytes)) hasher.update(chunk);
  const hasGrown = mayGrow && hasher.copy().digest("hex") === stored.digest;
  const from = hasGrown ? stored.bytes : 0;
  if (settledBytes - from > MAX_CHANGE_BYTES) return null;
  const data = Buffer.concat(
    await Array.fromAsync(chunksOf(opened.file, from, settledBytes), (chunk) => Buffer.from(chunk)),
  );
  if (from + data.byteLength !== settledBytes)
    throw new GatewayError("internal", "a session file became shorter while it was read");
  const whole = hasGrown ? hasher : new Bun.CryptoHasher("sha256");
  return { grownFrom: hasGrown ? stored.digest : null, from, data, digest: whole.update(data).digest("hex") };
}

async function digestOf(path: string, bytes: number): Promise<string> {
  await using opened = await openPlain(path);
  const hasher = new Bun.CryptoHasher("sha256");
  for await (const chunk of chunksOf(opened.file, 0, bytes)) hasher.update(chunk);
  return hasher.digest("hex");
}

interface Download {
  readonly pieces: AsyncIterable<Uint8Array>;
  readonly stored: StoredFile;
}

/** The digest is compared before the file gets its name: after a crash there is the old file or the whole new one. */
async function writeDurably(path: string, draft: string, { pieces, stored }: Download): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const hasher = new Bun.CryptoHasher("sha256");
  try {
    const file = await open(draft, "wx", 0o600);
    try {
      let position = 0;
      for await (const piece of pieces) {
        hasher.update(piece);
        position = await writeWhole(file, piece, position);
      }
      await file.sync();
    } finally {
      await file.close();
    }
    if (hasher.digest("hex") !== stored.digest)
      throw new GatewayError("store_corrupt", "a session file has another digest than was stored");
    await rename(draft, path);
    await syncFolder(dirname(path));
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** A link is no session file: an agent may have made it. */
async function openPlain(path: string) {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  return { file, [Symbol.asyncDispose]: () => file.close() };
}

async function* chunksOf(file: FileHandle, from: number, end: number): AsyncGenerator<Uint8Array, void> {
  const buffer = Buffer.alloc(Math.max(1, Math.min(READ_BYTES, end - from)));
  for (let at = from; at < end;) {
    const { bytesRead } = await file.read(buffer, 0, Math.min(buffer.length, end - at), at);
    if (bytesRead === 0) return;
    at += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}
