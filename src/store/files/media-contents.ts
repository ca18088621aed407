/** The bytes of media: on the disk of this machine, or in the database with the disk as cache. Names on the disk are our own. */
import { mkdir, open, readdir, readFile, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import type { MediaId } from "../../contracts/ids.ts";
import type { Ids } from "../../kit/ids.ts";
import type { Log } from "../../kit/log.ts";
import { storeFailed } from "../group-commit.ts";
import { PRIVATE_FILE, PRIVATE_FOLDER, syncFolder } from "../private-files.ts";
import type { RowDeps } from "../rows/row-deps.ts";
import type { Steps } from "../steps.ts";
import { sha256 } from "./file-contents.ts";
import type { StoredFiles } from "./stored-files.ts";

export interface MediaContents {
  /** Before its row is written. */
  put(id: MediaId, data: Uint8Array): Promise<PutContent>;
  /** Null: there is none of this size. */
  read(id: MediaId, bytes: number): Promise<Uint8Array | null>;
  /** One that is gone already is fine. */
  remove(id: MediaId): Promise<void>;
  /** On this disk and older than that, where others may have deleted them; none where this disk is all there is. */
  copies(before: number): AsyncIterable<MediaId>;
}

interface PutContent {
  /** In the transaction that adds the row. */
  withRow(): Steps<void>;
  /** When that transaction was committed. Never rejects. */
  committed(): Promise<void>;
  /** When it was not. */
  failed(): Promise<void>;
}

interface DiskDeps {
  readonly ids: Ids;
  readonly log: Log;
  /** The state directory. */
  readonly home: string;
}

/** The file comes before the row, so a row always has its file. */
export function createMediaOnDisk({ ids, log, home }: DiskDeps): MediaContents {
  const remove = (id: MediaId) => rm(fileOf(home, id).path, { force: true });
  return {
    async put(id, data) {
      await writeDurably(fileOf(home, id), data, ids.next("part")).catch((error) => {
        throw storeFailed(error);
      });
      return { *withRow() {}, committed: async () => undefined, failed: () => remove(id) };
    },
    async read(id, bytes) {
      const data = await readFile(fileOf(home, id).path).catch(() => null); // told to the caller as missing, and to the log below
      if (data?.byteLength === bytes) return data;
      log.error("media file is missing or damaged", { mediaId: id, bytes: data?.byteLength ?? null, expected: bytes });
      return null;
    },
    remove,
    async *copies() {},
  };
}

interface VaultDeps extends DiskDeps {
  readonly files: StoredFiles;
  readonly read: RowDeps["read"];
  readonly write: RowDeps["write"];
}

/** The chunks come with the row. Another gateway, or this one when its disk has lost the file, gets it from the database. */
export function createMediaInDatabase({ files, read, write, ...disk }: VaultDeps): MediaContents {
  const { ids, log, home } = disk;
  const onDisk = createMediaOnDisk(disk);
  const nameOf = (id: MediaId): string => `media/${id}`;
  const changeOf = (id: MediaId, data: Uint8Array) => ({
    name: nameOf(id),
    grownFrom: null,
    from: 0,
    data,
    digest: sha256(data),
  });
  /** Never rejects: the next read gets it from the database again. */
  const cache = (id: MediaId, data: Uint8Array): Promise<void> =>
    writeDurably(fileOf(home, id), data, ids.next("part")).catch((error: unknown) =>
      log.warn("media could not be kept on this disk as well", { mediaId: id, error }),
    );
  /** One that an earlier version has kept on this disk alone. */
  const adopt = async (id: MediaId, data: Uint8Array): Promise<void> => {
    const staged = await files.stage(changeOf(id, data));
    await write(() => files.keep(staged));
  };

  return {
    async put(id, data) {
      const staged = await files.stage(changeOf(id, data));
      return {
        *withRow() {
          yield* files.keep(staged);
        },
        committed: () => cache(id, data),
        failed: async () => undefined, // a later start removes what was stored of it
      };
    },
    async read(id, bytes) {
      const stored = await read(() => files.find(nameOf(id)));
      if (stored === null) {
        const data = await onDisk.read(id, bytes);
        if (data !== null)
          await adopt(id, data).catch((error) => log.warn("media could not be stored", { mediaId: id, error }));
        return data;
      }
      const cached = await readFile(fileOf(home, id).path).catch(() => null); // not here yet, or not any more
      if (cached?.byteLength === stored.bytes && sha256(cached) === stored.digest) return cached;
      const data = Buffer.concat(await Array.fromAsync(files.read(nameOf(id), stored)));
      await cache(id, data);
      return data;
    },
    async remove(id) {
      await onDisk.remove(id);
      await files.remove(nameOf(id));
    },
    copies: (before) => copiesIn(join(home, "media"), before),
  };
}

interface MediaFile {
  readonly folder: string;
  readonly path: string;
}

export function mediaPath(home: string, mediaId: MediaId): string {
  return fileOf(home, mediaId).path;
}

/** Spread over 256 folders by digest: ids made in the same hour begin alike. */
function fileOf(home: string, mediaId: MediaId): MediaFile {
  const spread = new Bun.CryptoHasher("sha256").update(mediaId).digest("hex").slice(0, 2);
  const folder = join(home, "media", spread);
  return { folder, path: join(folder, mediaId) };
}

async function* copiesIn(folder: string, before: number): AsyncGenerator<MediaId, void> {
  const spread = await readdir(folder).catch(() => []); // there is no folder before the first file
  for (const name of spread)
    for (const file of await readdir(join(folder, name)).catch(() => [])) {
      const found = await stat(join(folder, name, file)).catch(() => null); // removed just now
      if (found && found.mtimeMs < before) yield file as MediaId;
    }
}

async function writeDurably({ folder, path }: MediaFile, data: Uint8Array, draftName: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: PRIVATE_FOLDER });
  const draft = join(folder, `.${draftName}`);
  try {
    const handle = await open(draft, "wx", PRIVATE_FILE);
    try {
      await handle.writeFile(data);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(draft, path);
    await syncFolder(folder);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}
