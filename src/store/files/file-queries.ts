/** The queries of stored files. */
import { sql as raw } from "kysely";
import type { Params, Sql } from "../sql.ts";
import type { FileChunkTable, FileTable } from "./file-tables.ts";

/** A file after it grew, and the chunk that it grew by. */
interface GrownFile
  extends Pick<FileTable, "bytes" | "digest" | "at">, Pick<FileChunkTable, "position" | "data" | "object"> {
  readonly file: string;
  readonly grownFrom: string;
  readonly chunkBytes: number;
  readonly chunkDigest: string;
}

type File = Pick<FileChunkTable, "file">;
type Generation = Pick<FileChunkTable, "file" | "generation">;

export type FileQueries = ReturnType<typeof createFileQueries>;

export function createFileQueries(sql: Sql) {
  return {
    chunks: createChunkQueries(sql),
    file: sql.prepare((db, p: Params<Pick<FileTable, "name">>) =>
      db.selectFrom("files").selectAll().where("name", "=", p("name")),
    ),
    put: sql.prepare((db, p: Params<FileTable>) =>
      db
        .insertInto("files")
        .values(p.row("name", "generation", "bytes", "digest", "chunks", "staged", "at"))
        .onConflict((conflict) =>
          conflict.column("name").doUpdateSet(({ ref }) => ({
            staged: ref("excluded.staged"),
            generation: ref("excluded.generation"),
            bytes: ref("excluded.bytes"),
            digest: ref("excluded.digest"),
            chunks: ref("excluded.chunks"),
            at: ref("excluded.at"),
          })),
        ),
    ),
    drop: sql.prepare((db, p: Params<Pick<FileTable, "name">>) => db.deleteFrom("files").where("name", "=", p("name"))),
    /** Adds one chunk to a file that is what it grew from and has nothing behind its end, with a single question. */
    grow: sql.prepare((db, p: Params<GrownFile>) =>
      db
        .with("grown", (inner) =>
          inner
            .updateTable("files")
            .set({ bytes: p("bytes"), digest: p("digest"), at: p("at"), chunks: raw<number>`chunks + 1` })
            .where("name", "=", p("file"))
            .where("digest", "=", p("grownFrom"))
            .where("staged", "=", raw.lit(false))
            .returning("generation"),
        )
        .insertInto("file_chunks")
        .columns(["file", "generation", "position", "bytes", "digest", "data", "object"])
        .expression((inner) =>
          inner
            .selectFrom("grown")
            .select([
              raw<string>`${p("file")}::text`.as("file"),
              "grown.generation",
              raw<number>`${p("position")}::bigint`.as("position"),
              raw<number>`${p("chunkBytes")}::bigint`.as("bytes"),
              raw<string>`${p("chunkDigest")}::text`.as("digest"),
              raw<Uint8Array | null>`${p("data")}::bytea`.as("data"),
              raw<string | null>`${p("object")}::text`.as("object"),
            ]),
        ),
    ),
    /** Notes that chunks of a file are being stored. */
    begin: sql.prepare((db, p: Params<FileTable>) =>
      db
        .insertInto("files")
        .values(p.row("name", "generation", "bytes", "digest", "chunks", "staged", "at"))
        .onConflict((conflict) => conflict.column("name").doUpdateSet({ staged: raw.lit(true) })),
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

function createChunkQueries(sql: Sql) {
  return {
    add: sql.prepare((db, p: Params<FileChunkTable>) =>
      db.insertInto("file_chunks").values(p.row("file", "generation", "position", "bytes", "digest", "data", "object")),
    ),
    next: sql.prepare((db, p: Params<Generation & { from: number; end: number; limit: number }>) =>
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
    drop: sql.prepare((db, p: Params<File>) => db.deleteFrom("file_chunks").where("file", "=", p("file"))),
  };
}
