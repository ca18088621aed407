/**
 * The full-text index of tools: an SQLite database in memory, made with the first search. Holds words and nothing else; what was taken
 * away stays in it unseen until it is made anew, because only the tools that are asked about are found.
 */
import { Database, type Statement } from "bun:sqlite";
import type { ToolIndex, ToolText } from "../contracts/tools/tool-index.ts";

/** Rows of tools that are gone, and of other callers, beside as many again as are asked about; more than that is a new index. */
const MAX_OTHER_ROWS = 2_000;
const MIN_PREFIX_CHARS = 4;
/** Of a word in the name, the label, the description, the parameters. */
const WEIGHTS = "10.0, 5.0, 3.0, 1.0";

const TABLE = `
create virtual table tools using fts5(
  name, label, description, parameters,
  content = '', tokenize = 'porter unicode61 remove_diacritics 2'
)`;
const INSERT = "insert into tools (rowid, name, label, description, parameters) values (?, ?, ?, ?, ?)";
/** The `+` keeps SQLite from walking the index once for each row id. */
const SEARCH = `
select rowid from tools
where tools match ? and +rowid in (select value from json_each(?))
order by bm25(tools, ${WEIGHTS}), rowid limit ?`;

interface OpenIndex {
  readonly db: Database;
  readonly insert: Statement;
  readonly search: Statement<{ rowid: number }, [string, string, number]>;
  readonly rowOf: WeakMap<ToolText, number>;
  rows: number;
}

export function createToolIndex(): ToolIndex {
  let opened: OpenIndex | null = null;

  const openFor = (count: number): OpenIndex => {
    if (opened && opened.rows <= 2 * count + MAX_OTHER_ROWS) return opened;
    close(opened);
    return (opened = openIndex());
  };

  return {
    search(among, words, limit) {
      if (words.length === 0 || among.length === 0) return [];
      const index = openFor(among.length);
      addMissing(index, among);
      const byRow = new Map(among.map((text) => [index.rowOf.get(text), text]));
      const found = index.search.all(matchOf(words), JSON.stringify([...byRow.keys()]), limit);
      return found.flatMap(({ rowid }) => byRow.get(rowid) ?? []);
    },
    [Symbol.dispose]() {
      close(opened);
      opened = null;
    },
  };
}

function openIndex(): OpenIndex {
  const db = new Database(":memory:");
  db.exec(TABLE);
  return { db, insert: db.prepare(INSERT), search: db.prepare(SEARCH), rowOf: new WeakMap(), rows: 0 };
}

function close(index: OpenIndex | null): void {
  index?.insert.finalize();
  index?.search.finalize();
  index?.db.close(true);
}

function addMissing(index: OpenIndex, texts: readonly ToolText[]): void {
  const missing = texts.filter((text) => !index.rowOf.has(text));
  if (missing.length === 0) return;
  const addAll = index.db.transaction(() => {
    for (const text of missing) {
      const { name, label, description, parameters } = text;
      index.rowOf.set(text, ++index.rows);
      index.insert.run(index.rows, name, label, description, parameters);
    }
  });
  addAll();
}

/** Any of the words; the beginning of a word is enough where it is long. Quoted, so that no word is read as an operator. */
function matchOf(words: readonly string[]): string {
  return words
    .map((word) => `"${word.replaceAll('"', '""')}"${word.length >= MIN_PREFIX_CHARS ? "*" : ""}`)
    .join(" OR ");
}
