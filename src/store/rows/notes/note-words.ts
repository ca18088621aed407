/**
 * Notes by their words, in the full-text index of each engine. A query is taken apart into words and put together again as quoted ones, so no
 * text from outside is syntax. Endings and accents do not matter; the beginning of a word is enough.
 */
import { sql as raw } from "kysely";
import type { Principal } from "../../../contracts/ids.ts";
import type { NoteTable } from "../../schema.ts";
import type { Params, Sql } from "../../sql.ts";
import type { Steps } from "../../steps.ts";

const MAX_QUERY_WORDS = 24;
const SNIPPET_WORDS = 24;
const SNIPPET_CHARS = 240;
/** Shorter beginnings say nothing. */
const MIN_STEM_CHARS = 4;
const OWNER_KEY_CHARS = 32;

export type Found = Pick<NoteTable, "id" | "title" | "tags" | "created_at"> & { readonly snippet: string };

interface NoteWords {
  /** Inside the write that adds the note. */
  index(note: Pick<NoteTable, "id" | "title" | "content" | "tags">): Steps<void>;
  /** Best first; none where there is no word in the text. */
  among(owner: Principal, text: string, limit: number): Steps<readonly Found[]>;
}

export function createNoteWords(sql: Sql): NoteWords {
  return sql.dialect.wordSearch === "fts5" ? createFts5Words(sql) : createVectorWords(sql);
}

/** The owner as one word of the index. */
export function ownerKey(owner: Principal): string {
  return `o${new Bun.CryptoHasher("sha256").update(owner).digest("hex").slice(0, OWNER_KEY_CHARS)}`;
}

function wordsOf(text: string): readonly string[] {
  return text
    .toWellFormed()
    .split(/[\s\p{Cc}]+/u)
    .filter((word) => /[\p{L}\p{N}]/u.test(word))
    .slice(0, MAX_QUERY_WORDS);
}

/** How much a match in owner_key, title, content and tags counts. */
const WEIGHTS = "bm25(0.0, 6.0, 1.0, 4.0)";
const CONTENT_COLUMN = 2;

function createFts5Words(sql: Sql): NoteWords {
  const index = sql.prepare((db, p: Params<{ id: string }>) =>
    db
      .insertInto("notes_index")
      .columns(["rowid", "owner_key", "title", "content", "tags"])
      .expression((eb) =>
        eb.selectFrom("notes").select(["seq", "owner_key", "title", "content", "tags"]).where("id", "=", p("id")),
      ),
  );
  const byWords = sql.prepare((db, p: Params<{ owner: Principal; query: string; limit: number }>) =>
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
  );
  return {
    *index({ id }) {
      yield* index.run({ id });
    },
    *among(owner, text, limit) {
      const words = wordsOf(text).map((word) => `"${word.replaceAll('"', '""')}"*`);
      if (words.length === 0) return [];
      const query = `owner_key : "${ownerKey(owner)}" AND (${words.join(" OR ")})`;
      return yield* byWords.all({ owner, query, limit });
    },
  };
}

/** The column \`words\` is there on Postgres alone. */
function createVectorWords(sql: Sql): NoteWords {
  const index = sql.prepare((db, p: Params<{ id: string; title: string; content: string; tags: string }>) =>
    db
      .updateTable("notes")
      .set({
        words: raw<string>`setweight(to_tsvector('english', ${p("title")}), 'A')
          || setweight(to_tsvector('english', ${p("tags")}), 'B')
          || setweight(to_tsvector('english', ${p("content")}), 'D')`,
      })
      .where("id", "=", p("id")),
  );
  const byWords = sql.prepare((db, p: Params<{ owner: Principal; query: string; limit: number }>) =>
    db
      .selectFrom("notes")
      .innerJoin(raw<{ query: string }>`to_tsquery('english', ${p("query")})`.as("asked"), (join) => join.onTrue())
      .select(["notes.id", "notes.title", "notes.tags", "notes.created_at"])
      .select("notes.content as snippet")
      .where("notes.owner", "=", p("owner"))
      .where(raw<boolean>`notes.words @@ asked`)
      .orderBy(raw`ts_rank(notes.words, asked)`, "desc")
      .orderBy("notes.seq", "desc")
      .limit(p("limit")),
  );
  return {
    *index({ id, title, content, tags }) {
      yield* index.run({
        id,
        title: withoutAccents(title),
        content: withoutAccents(content),
        tags: withoutAccents(tags),
      });
    },
    *among(owner, text, limit) {
      const words = wordsOf(withoutAccents(text)).map((word) => `'${word.replaceAll(/['\\]/g, "$&$&")}':*`);
      if (words.length === 0) return [];
      const found = yield* byWords.all({ owner, query: words.join(" | "), limit });
      return found.map((row) => ({ ...row, snippet: around(row.snippet, firstOf(wordsOf(text), row.snippet)) }));
    },
  };
}

/** The first of the words that the content has; endings may differ, so the beginning of a word is looked for as well. */
function firstOf(words: readonly string[], content: string): string {
  const plain = withoutAccents(content).toLowerCase();
  const beginnings = words.map((word) => withoutAccents(word).toLowerCase());
  const whole = beginnings.find((word) => plain.includes(word));
  return whole ?? beginnings.map((word) => word.slice(0, MIN_STEM_CHARS)).find((word) => plain.includes(word)) ?? "";
}

export function around(content: string, text: string): string {
  const at = Math.max(0, withoutAccents(content).toLowerCase().indexOf(withoutAccents(text).toLowerCase()));
  const from = Math.max(0, at - SNIPPET_CHARS / 4);
  const cut = content.slice(from, from + SNIPPET_CHARS).toWellFormed();
  return `${from > 0 ? "…" : ""}${cut}${from + SNIPPET_CHARS < content.length ? "…" : ""}`;
}

function withoutAccents(text: string): string {
  return text.normalize("NFD").replaceAll(/\p{Mn}/gu, "");
}
