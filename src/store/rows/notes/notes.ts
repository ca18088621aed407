/** Notes and their search. A query is taken apart into words and put together again as quoted ones, so no text from outside is syntax. */
import type { Principal } from "../../../contracts/ids.ts";
import type { Kept, NewNote, NoteHit, NoteStore } from "../../../contracts/store/notes.ts";
import type { NoteTable } from "../../schema.ts";
import type { Params, Sql } from "../../sql.ts";
import type { Steps } from "../../steps.ts";
import { sql as raw } from "kysely";
import { createOnce } from "./once.ts";
import type { RowDeps } from "../row-deps.ts";
import { containing } from "../one-line.ts";

const MAX_NOTES_PER_PERSON = 10_000;
const MAX_QUERY_CHARS = 1_000;
const MAX_QUERY_WORDS = 24;
const SNIPPET_WORDS = 24;
const SNIPPET_CHARS = 240;
const OWNER_KEY_CHARS = 32;
/** How much a match in owner_key, title, content and tags counts. */
const WEIGHTS = "bm25(0.0, 6.0, 1.0, 4.0)";
const CONTENT_COLUMN = 2;

type Found = Pick<NoteTable, "id" | "title" | "tags" | "created_at"> & { readonly snippet: string };

export function createNotes({ sql, read, write }: RowDeps): NoteStore {
  const once = createOnce(sql);
  const { known, newest, add, index } = saving(sql);
  const { byWords, byText } = searching(sql);
  const { latest, byId } = reading(sql);

  function* keep(note: NewNote): Steps<Kept> {
    const { owner, title, content } = note;
    const tags = note.tags.join("\n");
    const key = { owner, once: yield* once(note.askedBy, [title, content, tags]) };
    const before = yield* known.first(key);
    if (before) return { kind: "kept", id: before.id };
    const number = ((yield* newest.first({ owner }))?.number ?? 0) + 1;
    if (number > MAX_NOTES_PER_PERSON) return { kind: "full", max: MAX_NOTES_PER_PERSON };
    const row = { ...key, number, id: note.id, owner_key: ownerKey(owner), title, content, tags, created_at: note.at };
    yield* add.run(row);
    yield* index.run({ id: note.id });
    return { kind: "kept", id: note.id };
  }

  return {
    save: (note) => write(() => keep(note)),
    search: (owner, words, limit) =>
      read(function* () {
        const text = words.slice(0, MAX_QUERY_CHARS);
        const query = matchQuery(owner, text);
        const found = query === null ? [] : yield* byWords.all({ owner, query, limit });
        // Languages without spaces have no words to match, and neither has "C++": then any place in the text will do.
        const hits = found.length > 0 ? found : yield* byPlace(byText, { owner, text: text.trim(), limit });
        return hits.map(toHit);
      }),
    list: (owner, limit) =>
      read(function* () {
        return (yield* latest.all({ owner, limit })).map(({ id, title, created_at }) => ({
          id,
          title,
          createdAt: created_at,
        }));
      }),
    get: (owner, id) =>
      read(function* () {
        const row = yield* byId.first({ owner, id });
        if (!row) return null;
        const { title, content, tags, created_at } = row;
        return { id, title, content, tags: tagsOf(tags), createdAt: created_at };
      }),
  };
}

function reading(sql: Sql) {
  return {
    latest: sql.prepare((db, p: Params<{ owner: Principal; limit: number }>) =>
      db
        .selectFrom("notes")
        .select(["id", "title", "created_at"])
        .where("owner", "=", p("owner"))
        .orderBy("number", "desc")
        .limit(p("limit")),
    ),
    byId: sql.prepare((db, p: Params<{ owner: Principal; id: string }>) =>
      db.selectFrom("notes").selectAll().where("id", "=", p("id")).where("owner", "=", p("owner")),
    ),
  };
}

/** `"word"*` for each word: quoted, so that nothing in it has a meaning, and open at the end. Null: there is no word in it. */
function matchQuery(owner: Principal, text: string): string | null {
  const words = text
    .toWellFormed()
    .split(/[\s\p{Cc}]+/u)
    .filter((word) => /[\p{L}\p{N}]/u.test(word))
    .slice(0, MAX_QUERY_WORDS);
  if (words.length === 0) return null;
  const either = words.map((word) => `"${word.replaceAll('"', '""')}"*`).join(" OR ");
  return `owner_key : "${ownerKey(owner)}" AND (${either})`;
}

function ownerKey(owner: Principal): string {
  return `o${new Bun.CryptoHasher("sha256").update(owner).digest("hex").slice(0, OWNER_KEY_CHARS)}`;
}

function saving(sql: Sql) {
  return {
    known: sql.prepare((db, p: Params<Pick<NoteTable, "owner" | "once">>) =>
      db.selectFrom("notes").select("id").where("owner", "=", p("owner")).where("once", "=", p("once")),
    ),
    newest: sql.prepare((db, p: Params<{ owner: Principal }>) =>
      db.selectFrom("notes").select("number").where("owner", "=", p("owner")).orderBy("number", "desc").limit(1),
    ),
    add: sql.prepare((db, p: Params<Omit<NoteTable, "seq">>) =>
      db
        .insertInto("notes")
        .values(p.row("id", "owner", "number", "owner_key", "once", "title", "content", "tags", "created_at")),
    ),
    index: sql.prepare((db, p: Params<{ id: string }>) =>
      db
        .insertInto("notes_index")
        .columns(["rowid", "owner_key", "title", "content", "tags"])
        .expression((eb) =>
          eb.selectFrom("notes").select(["seq", "owner_key", "title", "content", "tags"]).where("id", "=", p("id")),
        ),
    ),
  };
}

function searching(sql: Sql) {
  return {
    byWords: sql.prepare((db, p: Params<{ owner: Principal; query: string; limit: number }>) =>
      db
        .selectFrom("notes_index")
        .innerJoin("notes", "notes.seq", "notes_index.rowid")
        .select(["notes.id", "notes.title", "notes.tags", "notes.created_at"])
        .select(
          raw<string>`snippet(notes_index, ${raw.lit(CONTENT_COLUMN)}, '', '', '…', ${raw.lit(SNIPPET_WORDS)})`.as(
            "snippet",
          ),
        )
        .where(raw<boolean>`notes_index match ${p("query")}`)
        .where(raw<boolean>`rank match ${raw.lit(WEIGHTS)}`)
        .where("notes.owner", "=", p("owner"))
        .orderBy(raw`rank`)
        .limit(p("limit")),
    ),
    byText: sql.prepare((db, p: Params<{ owner: Principal; like: string; limit: number }>) =>
      db
        .selectFrom("notes")
        .select(["id", "title", "tags", "created_at", "content as snippet"])
        .where("owner", "=", p("owner"))
        .where(raw<boolean>`lower(title || char(10) || content || char(10) || tags) like ${p("like")} escape '\\'`)
        .limit(p("limit")),
    ),
  };
}

type ByText = ReturnType<typeof searching>["byText"];

function* byPlace(
  byText: ByText,
  { owner, text, limit }: { readonly owner: Principal; readonly text: string; readonly limit: number },
): Steps<readonly Found[]> {
  if (text === "") return [];
  const rows = yield* byText.all({ owner, like: containing(text), limit });
  return rows.map((row) => ({ ...row, snippet: around(row.snippet, text) }));
}

function around(content: string, text: string): string {
  const at = Math.max(0, content.toLowerCase().indexOf(text.toLowerCase()));
  const from = Math.max(0, at - SNIPPET_CHARS / 4);
  const cut = content.slice(from, from + SNIPPET_CHARS).toWellFormed();
  return `${from > 0 ? "…" : ""}${cut}${from + SNIPPET_CHARS < content.length ? "…" : ""}`;
}

function toHit(row: Found): NoteHit {
  return { id: row.id, title: row.title, snippet: row.snippet, tags: tagsOf(row.tags), createdAt: row.created_at };
}

function tagsOf(stored: string): readonly string[] {
  return stored === "" ? [] : stored.split("\n");
}
