/** Where session files and media are, on either side of a move: on the disk of this machine, or in the database. */
import { constants, existsSync, readdirSync } from "node:fs";
import { mkdir, open, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { isGatewayError } from "../../contracts/errors.ts";
import type { MediaId } from "../../contracts/ids.ts";
import { copyMark } from "../../kit/copy-mark.ts";
import { writeWhole } from "../../kit/write-whole.ts";
import { mediaPath } from "../files/media-contents.ts";
import type { StoredFiles } from "../files/stored-files.ts";
import { PRIVATE_FILE, PRIVATE_FOLDER, syncFolder } from "../private-files.ts";
import type { Steps } from "../steps.ts";

/** A file as the rows of the source speak of it. */
export interface NamedFile {
  /** Of a session file, or `media/` and the id of media. */
  readonly name: string;
  /** Those of finished turns: a session file may be longer. */
  readonly bytes: number;
}

export interface FilePlace {
  /** Of what is really there; null: it is not there, or not so long. */
  digest(file: NamedFile): Promise<string | null>;
  read(file: NamedFile): AsyncIterable<Uint8Array>;
  /** Takes the place of what is there. */
  write(file: NamedFile, content: FileContent): Promise<void>;
}

interface FileContent {
  readonly digest: string;
  readonly pieces: AsyncIterable<Uint8Array>;
}

const READ_BYTES = 1024 * 1024;
const MEDIA = "media/";

export function filesOnDisk(home: string): FilePlace {
  const read = (file: NamedFile) => piecesOf(pathOf(home, file.name), file.bytes);
  return {
    read,
    digest: async (file) => (existsSync(pathOf(home, file.name)) ? digestOf(read(file), file.bytes) : null),
    async write({ name }, { pieces }) {
      const path = pathOf(home, name);
      const draft = `${path}.moving`;
      await mkdir(dirname(path), { recursive: true, mode: PRIVATE_FOLDER });
      await rm(draft, { force: true }); // of a move that was stopped
      const handle = await open(draft, "wx", PRIVATE_FILE);
      try {
        let position = 0;
        for await (const piece of pieces) position = await writeWhole(handle, piece, position);
        await handle.sync();
      } finally {
        await handle.close();
      }
      await rename(draft, path);
      await syncFolder(dirname(path));
    },
  };
}

/** `commit` runs work in a transaction. */
export function filesInDatabase(files: StoredFiles, commit: <T>(run: () => Steps<T>) => Promise<T>): FilePlace {
  async function* read({ name }: NamedFile): AsyncGenerator<Uint8Array, void> {
    const stored = await commit(() => files.find(name));
    if (stored) yield* files.read(name, stored);
  }
  return {
    read,
    digest: async (file) => {
      const stored = await commit(() => files.find(file.name));
      return stored?.bytes === file.bytes ? digestOf(read(file), file.bytes).catch(nullIfDamaged) : null;
    },
    async write({ name }, { digest, pieces }) {
      const data = Buffer.concat(await Array.fromAsync(pieces));
      const staged = await files.stage({ name, grownFrom: null, from: 0, data, digest });
      await files.discard(await commit(() => files.keep(staged)));
    },
  };
}

/** What is damaged is not there. */
function nullIfDamaged(error: unknown): null {
  if (isGatewayError(error) && error.code === "store_corrupt") return null;
  throw error;
}

async function digestOf(pieces: AsyncIterable<Uint8Array>, bytes: number): Promise<string | null> {
  const hasher = new Bun.CryptoHasher("sha256");
  let length = 0;
  for await (const piece of pieces) {
    hasher.update(piece);
    length += piece.byteLength;
  }
  return length === bytes ? hasher.digest("hex") : null;
}

/** A gateway that was killed has left session files in the folders of its processes. */
function pathOf(home: string, name: string): string {
  if (name.startsWith(MEDIA)) return mediaPath(home, name.slice(MEDIA.length) as MediaId);
  const path = join(home, "sessions", name);
  if (existsSync(path)) return path;
  const visits = join(home, "run", "sessions");
  const folders = existsSync(visits) ? readdirSync(visits) : [];
  return (
    folders
      .map((folder) => join(visits, folder, name))
      .find((visiting) => existsSync(visiting) && !existsSync(copyMark(visiting))) ?? path
  );
}

async function* piecesOf(path: string, bytes: number): AsyncGenerator<Uint8Array, void> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    for (let at = 0; at < bytes;) {
      const buffer = Buffer.alloc(Math.min(READ_BYTES, bytes - at));
      const { bytesRead } = await file.read(buffer, 0, buffer.length, at);
      if (bytesRead === 0) return;
      at += bytesRead;
      yield buffer.subarray(0, bytesRead);
    }
  } finally {
    await file.close();
  }
}
