/** The queries of stored files. */
import { sql as raw } from "kysely";
import type { Params, Sql } from "../sql.ts";
import type { FileChunkTable, FileTable } from "./file-tables.ts";

type File = Pick<FileChunkTable, "file">;
type Generation = Pick<FileChunkTable, "file" | "generation">;

export type FileQueries = ReturnType<typeof createFileQueries>;

export function createFileQueries(sql: Sql) {
  return {
    file: sql.prepare((db, p: Params<Pick<FileTable, "name">>) =>
      db.selectFrom("files").selectAll().where("name", "=", p("name")),
    ),
    put: sql.prepare((db, p: Params<FileTable>) =>
      db
        .insertInto("files")
        .values(p.row("name", "generation", "bytes", "digest", "chunks", "at"))
        .onConflict((conflict) =>
          conflict.column("name").doUpdateSet(({ ref }) => ({
            generation: ref("excluded.generation"),
            bytes: ref("excluded.bytes"),
            digest: ref("excluded.digest"),
            chunks: ref("excluded.chunks"),
            at: ref("excluded.at"),
          })),
        ),
    ),
    drop: sql.prepare((db, p: Params<Pick<FileTable, "name">>) => db.deleteFrom("files").where("name", "=", p("name"))),
    addChunk: sql.prepare((db, p: Params<FileChunkTable>) =>
      db.insertInto("file_chunks").values(p.row("file", "generation", "position", "bytes", "digest", "data", "object")),
    ),
    chunks: sql.prepare((db, p: Params<Generation & { from: number; end: number; limit: number }>) =>
      db
        .selectFrom("file_chunks")
        .selectAll()
        .where("file", "=", p("file"))
        .where("generation", "=", p("generation"))
        .where("position", ">=", p("from"))
        .where("position", "<", p("end"))
        .orderBy("position")
        .limit(p("limit")),
    ),
    staged: sql.prepare((db, p: Params<Generation & { from: number }>) =>
      db
        .selectFrom("file_chunks")
        .select(({ fn }) => [fn.countAll<number>().as("chunks"), fn.sum<number>("bytes").as("bytes")])
        .where("file", "=", p("file"))
        .where("generation", "=", p("generation"))
        .where("position", ">=", p("from")),
    ),
    /** What a change that was never finished has left behind the end. */
    dropBehind: sql.prepare((db, p: Params<Generation & { end: number }>) =>
      db
        .deleteFrom("file_chunks")
        .where("file", "=", p("file"))
        .where("generation", "=", p("generation"))
        .where("position", ">=", p("end")),
    ),
    dropOthers: sql.prepare((db, p: Params<Generation>) =>
      db
        .deleteFrom("file_chunks")
        .where("file", "=", p("file"))
        .where("generation", "<>", p("generation"))
        .returning("object"),
    ),
    dropChunks: sql.prepare((db, p: Params<File>) => db.deleteFrom("file_chunks").where("file", "=", p("file"))),
    /** Notes that the first chunks of a file are being stored. */
    begin: sql.prepare((db, p: Params<FileTable>) =>
      db
        .insertInto("files")
        .values(p.row("name", "generation", "bytes", "digest", "chunks", "at"))
        .onConflict((conflict) => conflict.doNothing()),
    ),
    unfinished: sql.prepare((db, p: Params<{ before: number; limit: number }>) =>
      db
        .selectFrom("files")
        .select("name")
        .where("generation", "=", raw.lit(0))
        .where("at", "<", p("before"))
        .limit(p("limit")),
    ),
  };
}
