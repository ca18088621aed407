/** Files people sent: on disk under names of our own, described by a row. The row comes last, so a row always has its file. */
import { mkdir, open, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import type { MediaRef } from "../../contracts/chat.ts";
import { GatewayError } from "../../contracts/errors.ts";
import type { MediaId, Principal } from "../../contracts/ids.ts";
import type { MediaStore } from "../../contracts/store.ts";
import { storeFailed } from "../group-commit.ts";
import { PRIVATE_FILE, PRIVATE_FOLDER, syncFolder } from "../private-files.ts";
import type { MediaTable } from "../schema.ts";
import type { Params } from "../sql.ts";
import { isMediaId } from "./codec.ts";
import type { RowDeps } from "./row-deps.ts";
import { fileNameOf } from "./one-line.ts";

export function createMedia({ sql, read, write, ids, log }: RowDeps, { home }: { readonly home: string }): MediaStore {
  const add = sql.prepare((db, p: Params<MediaTable>) =>
    db.insertInto("media").values(p.row("id", "owner", "name", "mime_type", "bytes", "at")),
  );
  const byId = sql.prepare((db, p: Params<{ id: MediaId }>) =>
    db.selectFrom("media").selectAll().where("id", "=", p("id")),
  );
  const since = sql.prepare((db, p: Params<{ owner: Principal; since: number }>) =>
    db
      .selectFrom("media")
      .select(({ fn }) => fn.sum<number | null>("bytes").as("bytes"))
      .where("owner", "=", p("owner"))
      .where("at", ">=", p("since")),
  );
  const latest = sql.prepare((db, p: Params<{ owner: Principal; limit: number }>) =>
    db.selectFrom("media").selectAll().where("owner", "=", p("owner")).orderBy("at", "desc").limit(p("limit")),
  );
  const rowOf = (id: MediaId) =>
    read(function* () {
      return isMediaId(id) ? yield* byId.first({ id }) : null;
    });

  return {
    async put({ mediaId, owner, name, mimeType, data, at }) {
      if (!isMediaId(mediaId)) throw new GatewayError("internal", "a media id has an unsafe form");
      if (await rowOf(mediaId)) throw new GatewayError("conflict", "this media id is in use", { fields: { mediaId } });
      const ref: MediaRef = { mediaId, name: fileNameOf(name), mimeType, bytes: data.byteLength };
      const file = fileOf(home, mediaId);
      await writeDurably(file, data, ids.next("part")).catch((error) => {
        throw storeFailed(error);
      });
      try {
        await write(() => add.run({ id: mediaId, owner, name: ref.name, mime_type: mimeType, bytes: ref.bytes, at }));
      } catch (error) {
        await rm(file.path, { force: true });
        throw error;
      }
      return ref;
    },
    async find(mediaId) {
      const row = await rowOf(mediaId);
      return row && { ...refOf(row), owner: row.owner };
    },
    async read(mediaId) {
      const row = await rowOf(mediaId);
      if (!row) return null;
      const data = await readFile(fileOf(home, row.id).path).catch(() => null); // told to the caller as missing, and to the log below
      if (data?.byteLength === row.bytes) return data;
      log.error("media file is missing or damaged", { mediaId, bytes: data?.byteLength ?? null, expected: row.bytes });
      return null;
    },
    list: (owner, limit) =>
      read(function* () {
        return (yield* latest.all({ owner, limit })).map(refOf);
      }),
    async removeFile(mediaId) {
      if (isMediaId(mediaId)) await rm(fileOf(home, mediaId).path, { force: true });
    },
    bytesSince: (owner, from) =>
      read(function* () {
        return (yield* since.first({ owner, since: from }))?.bytes ?? 0;
      }),
  };
}

function refOf({ id, name, mime_type, bytes }: MediaTable): MediaRef {
  return { mediaId: id, name, mimeType: mime_type, bytes };
}

interface MediaFile {
  readonly folder: string;
  readonly path: string;
}

/** Spread over 256 folders by digest: ids made in the same hour begin alike. */
function fileOf(home: string, mediaId: MediaId): MediaFile {
  const spread = new Bun.CryptoHasher("sha256").update(mediaId).digest("hex").slice(0, 2);
  const folder = join(home, "media", spread);
  return { folder, path: join(folder, mediaId) };
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
