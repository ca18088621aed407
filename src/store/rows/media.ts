/** Files people sent, described by a row. Their contents come before the row or with it, so a row always has its file. */
import type { MediaRef } from "../../contracts/chat.ts";
import { GatewayError } from "../../contracts/errors.ts";
import type { MediaId, Principal } from "../../contracts/ids.ts";
import type { MediaStore } from "../../contracts/store.ts";
import type { MediaContents } from "../files/media-contents.ts";
import type { MediaTable } from "../schema.ts";
import type { Params, Sql } from "../sql.ts";
import { isMediaId } from "./codec.ts";
import type { RowDeps } from "./row-deps.ts";
import { fileNameOf } from "./one-line.ts";

export function createMedia({ sql, read, write }: RowDeps, contents: MediaContents): MediaStore {
  const { add, byId, since, latest } = createMediaQueries(sql);
  const rowOf = (id: MediaId) =>
    read(function* () {
      return isMediaId(id) ? yield* byId.first({ id }) : null;
    });

  return {
    async put({ mediaId, owner, name, mimeType, data, at }) {
      if (!isMediaId(mediaId)) throw new GatewayError("internal", "a media id has an unsafe form");
      if (await rowOf(mediaId)) throw new GatewayError("conflict", "this media id is in use", { fields: { mediaId } });
      const ref: MediaRef = { mediaId, name: fileNameOf(name), mimeType, bytes: data.byteLength };
      const content = await contents.put(mediaId, data);
      const row = { id: mediaId, owner, name: ref.name, mime_type: mimeType, bytes: ref.bytes, at };
      try {
        await write(function* () {
          yield* add.run(row);
          yield* content.withRow();
        });
      } catch (error) {
        await content.failed();
        throw error;
      }
      await content.committed();
      return ref;
    },
    async find(mediaId) {
      const row = await rowOf(mediaId);
      return row && { ...refOf(row), owner: row.owner };
    },
    async read(mediaId) {
      const row = await rowOf(mediaId);
      return row && contents.read(row.id, row.bytes);
    },
    list: (owner, limit) =>
      read(function* () {
        return (yield* latest.all({ owner, limit })).map(refOf);
      }),
    async removeFile(mediaId) {
      if (isMediaId(mediaId)) await contents.remove(mediaId);
    },
    async removeCopies(before) {
      let removed = 0;
      for await (const id of contents.copies(before)) {
        if (!isMediaId(id) || (await rowOf(id))) continue;
        await contents.remove(id);
        removed++;
      }
      return removed;
    },
    bytesSince: (owner, from) =>
      read(function* () {
        return (yield* since.first({ owner, since: from }))?.bytes ?? 0;
      }),
  };
}

function createMediaQueries(sql: Sql) {
  return {
    add: sql.prepare((db, p: Params<MediaTable>) =>
      db.insertInto("media").values(p.row("id", "owner", "name", "mime_type", "bytes", "at")),
    ),
    byId: sql.prepare((db, p: Params<{ id: MediaId }>) => db.selectFrom("media").selectAll().where("id", "=", p("id"))),
    since: sql.prepare((db, p: Params<{ owner: Principal; since: number }>) =>
      db
        .selectFrom("media")
        .select(({ fn }) => fn.sum<number | null>("bytes").as("bytes"))
        .where("owner", "=", p("owner"))
        .where("at", ">=", p("since")),
    ),
    latest: sql.prepare((db, p: Params<{ owner: Principal; limit: number }>) =>
      db.selectFrom("media").selectAll().where("owner", "=", p("owner")).orderBy("at", "desc").limit(p("limit")),
    ),
  };
}

function refOf({ id, name, mime_type, bytes }: MediaTable): MediaRef {
  return { mediaId: id, name, mimeType: mime_type, bytes };
}
