/**
 * The full-text indexes of an SQLite file. Everything in them is in other tables too, so a damaged one is made anew and no message is lost by it:
 * that of notes at once, that of messages empty, to be filled again in the background.
 */
import type { Database } from "bun:sqlite";
import { firstColumn } from "../migrate.ts";
import { NOTES_INDEX } from "../migrations/early/009-notes-and-tasks.ts";
import { MESSAGE_INDEX } from "../migrations/037-session-care.ts";
import { INDEX_TRIGGERS, MARK_INDEXED } from "../migrations/051-index-later.ts";

const TEXT_INDEXES = ["message_index", "notes_index"] as const;
export type TextIndex = (typeof TEXT_INDEXES)[number];

/** Before the name of an index that was put aside because its pages could not be given back. */
const ASIDE = "damaged_";
/** An index, and the tables in which it keeps itself. */
export const TABLE_OF_INDEX = /^(?:damaged_)?(?:message|notes)_index(?:_|$)/;

/** So far the refill has to go, newest first. What comes later is put in as always. */
export const FILL_MESSAGE_INDEX = `${MARK_INDEXED}
  insert or replace into meta (key, value)
  select 'index_inbox', coalesce(max(seq), 0) from inbox union all select 'index_outbox', coalesce(max(seq), 0) from outbox`;

/** What makes an index anew. `triggers`: what fills it from now on. */
const PARTS: Readonly<
  Record<TextIndex, { readonly create: string; readonly triggers: readonly string[]; readonly fill: string }>
> = {
  message_index: {
    create: `${MESSAGE_INDEX}\n${INDEX_TRIGGERS}`,
    triggers: [...INDEX_TRIGGERS.matchAll(/^create trigger (\w+)/gm)].map(([, name = ""]) => name),
    fill: FILL_MESSAGE_INDEX,
  },
  notes_index: {
    create: NOTES_INDEX,
    triggers: [],
    fill: "insert into notes_index (notes_index) values ('rebuild')",
  },
};

/** Those that are damaged. Reads all of them: about a second per gigabyte. */
export function damagedIndexes(db: Database): readonly TextIndex[] {
  const tables = tableNames(db);
  return TEXT_INDEXES.filter((index) =>
    tables.some((table) => table.startsWith(index) && quickFindings(db, table) !== "ok"),
  );
}

/** `indexes`: what is damaged can be made anew. `none`: pages that belong to nothing are room that is lost, and no damage. */
type Damage = "none" | "indexes" | "tables";

/** What a quick check of the whole file means. A list of free pages that is wrong may give away pages of any table. */
export function damageOf(db: Database, quickCheck: string): Damage {
  if (quickCheck === "ok") return "none";
  if (/freelist/i.test(quickCheck)) return "tables";
  const others = tableNames(db).filter((name) => !TABLE_OF_INDEX.test(name));
  if (others.some((table) => quickFindings(db, table) !== "ok")) return "tables";
  return damagedIndexes(db).length > 0 ? "indexes" : "none";
}

/** "ok", or what is wrong. Of the whole file, or of one table. */
export function quickFindings(db: Database, table?: string): string {
  try {
    return firstColumn(db, table === undefined ? "pragma quick_check" : `pragma quick_check("${table}")`).join("\n");
  } catch (error) {
    return error instanceof Error ? error.message : String(error); // a page that cannot be read ends the check
  }
}

function tableNames(db: Database): readonly string[] {
  return firstColumn(db, "select name from sqlite_schema where type = 'table'").map(String);
}

/** The caller is in no transaction. */
export function resetIndexes(db: Database, indexes: readonly TextIndex[]): void {
  for (const index of indexes) {
    const { create, fill, triggers } = PARTS[index];
    const replace = (removal: string) =>
      db
        .transaction(() => {
          for (const trigger of triggers) db.exec(`drop trigger if exists ${trigger}`);
          for (const statement of [removal, create, fill]) db.exec(statement);
        })
        .immediate();
    try {
      replace(`drop table ${index}`);
    } catch {
      replace(`alter table ${index} rename to ${nameAside(db, index)}`);
    }
  }
}

/** A page that cannot be read cannot be given back either: such an index is put aside until the next start empties and removes it. */
function nameAside(db: Database, index: TextIndex): string {
  const taken = new Set(tableNames(db));
  const name = [1, 2, 3, 4].map((n) => `${ASIDE}${index}_${n}`).find((one) => !taken.has(one));
  if (name === undefined) throw new Error(`${index} was damaged too often`);
  return name;
}

export function hasIndexAside(db: Database): boolean {
  return (
    firstColumn(db, `select 1 from sqlite_schema where type = 'table' and name glob '${ASIDE}*' limit 1`).length > 0
  );
}

/** What was put aside, once its tables are empty. */
export function dropAside(db: Database): void {
  const names = firstColumn(
    db,
    `select name from sqlite_schema where sql like 'create virtual table%' and name glob '${ASIDE}*'`,
  );
  for (const name of names) db.exec(`drop table "${String(name)}"`);
}
