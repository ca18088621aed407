/** Notes of people, and their search. */
import type { Principal } from "../../../contracts/ids.ts";
import type { Kept, NewNote, NoteHit, NoteStore } from "../../../contracts/store/notes.ts";
import type { NoteTable } from "../../schema.ts";
import type { Params, Sql } from "../../sql.ts";
import type { Steps } from "../../steps.ts";
import { sql as raw } from "kysely";
import { around, createNoteWords, type Found, ownerKey } from "./note-words.ts";
import { createOnce } from "./once.ts";
import type { RowDeps } from "../row-deps.ts";
import { containing } from "../one-line.ts";

const MAX_NOTES_PER_PERSON = 10_000;
const MAX_QUERY_CHARS = 1_000;

export function createNotes({ sql, read, write }: RowDeps): NoteStore {
  const once = createOnce(sql);
  const words = createNoteWords(sql);
  const { known, newest, add } = saving(sql);
  const { byText } = searching(sql);
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
    yield* words.index(row);
    return { kind: "kept", id: note.id };
  }

  return {
    save: (note) => write(() => keep(note)),
    search: (owner, asked, limit) =>
      read(function* () {
        const text = asked.slice(0, MAX_QUERY_CHARS);
        const found = yield* words.among(owner, text, limit);
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

function saving(sql: Sql) {
  return {
    known: sql.prepare((db, p: Params<Pick<NoteTable, "owner" | "once">>) =>
      db.selectFrom("notes").select("id").where("owner", "=", p("owner")).where("once", "=", p("once")),
    ),
    newest: sql.prepare((db, p: Params<{ owner: Principal }>) =>
      db.selectFrom("notes").select("number").where("owner", "=", p("owner")).orderBy("number", "desc").limit(1),
    ),
    add: sql.prepare((db, p: Params<Omit<NoteTable, "seq" | "words">>) =>
      db
        .insertInto("notes")
        .values(p.row("id", "owner", "number", "owner_key", "once", "title", "content", "tags", "created_at")),
    ),
  };
}

function searching(sql: Sql) {
  return {
    byText: sql.prepare((db, p: Params<{ owner: Principal; like: string; limit: number }>) =>
      db
        .selectFrom("notes")
        .select(["id", "title", "tags", "created_at", "content as snippet"])
        .where("owner", "=", p("owner"))
        .where(
          raw<boolean>`lower(title || ${raw.lit("\n")} || content || ${raw.lit("\n")} || tags) like ${p("like")} escape '\\'`,
        )
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

function toHit(row: Found): NoteHit {
  return { id: row.id, title: row.title, snippet: row.snippet, tags: tagsOf(row.tags), createdAt: row.created_at };
}

function tagsOf(stored: string): readonly string[] {
  return stored === "" ? [] : stored.split("\n");
}
