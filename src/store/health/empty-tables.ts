/**
 * Empties tables of a full-text index whose pages cannot be read. SQLite frees the pages of a table by reading them, so it can neither empty nor drop
 * such a table. Here its first page becomes that of an empty table, written into the file while nobody has it open. The other pages are
 * lost to the file until it is copied.
 */
import { Database } from "bun:sqlite";
import { open } from "node:fs/promises";
import { quickFindings, TABLE_OF_INDEX } from "./text-indexes.ts";

interface UnreadableTable {
  readonly name: string;
  readonly rootPage: number;
  readonly pageBytes: number;
  /** A table without row ids is an index to SQLite. */
  readonly isIndex: boolean;
}

const ROOT_OF_TABLE = 0x0d;
const ROOT_OF_INDEX = 0x0a;
/** Of a page without children: kind, first free block, number of cells, where the cells begin, lost bytes. */
const PAGE_HEADER_BYTES = 8;

/** Only tables in which an index keeps what can be made anew. Its settings are not among them: without those it cannot be dropped. */
function unreadableTables(file: string): readonly UnreadableTable[] {
  using db = new Database(file, { readwrite: true });
  db.exec("pragma wal_checkpoint(truncate)"); // a page in the log would count instead of the one in the file
  const found = db
    .query<{ name: string; rootpage: number; sql: string }, []>(
      "select name, rootpage, sql from sqlite_schema where type = 'table' and rootpage > 1",
    )
    .all();
  const pageBytes = db.query<{ page_size: number }, []>("pragma page_size").get()?.page_size ?? 0;
  return found
    .filter(({ name }) => TABLE_OF_INDEX.test(name) && /_(?:data|idx|docsize)$/.test(name))
    .filter(({ name }) => quickFindings(db, name) !== "ok")
    .map(({ name, rootpage: rootPage, sql }) => ({ name, rootPage, pageBytes, isIndex: /without rowid/i.test(sql) }));
}

/** The caller knows that no process has the file open. */
export async function emptyUnreadable(file: string): Promise<void> {
  const tables = unreadableTables(file);
  if (tables.length === 0) return;
  const handle = await open(file, "r+");
  try {
    for (const { rootPage, pageBytes, isIndex } of tables)
      await handle.write(emptyPage(pageBytes, isIndex), 0, pageBytes, (rootPage - 1) * pageBytes);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

function emptyPage(pageBytes: number, isIndex: boolean): Uint8Array {
  const page = new Uint8Array(pageBytes);
  const header = new DataView(page.buffer, 0, PAGE_HEADER_BYTES);
  header.setUint8(0, isIndex ? ROOT_OF_INDEX : ROOT_OF_TABLE);
  header.setUint16(5, pageBytes % 65_536); // 0 stands for 65536
  return page;
}
