/** `save_note` and `search_notes`: what a person wants remembered. Everybody has notes of their own; there is no way to name another's. */
import { Type } from "typebox";
import type { NoteStore } from "../../../contracts/store/notes.ts";
import type { Tool } from "../../../contracts/tools/tool.ts";
import type { Clock } from "../../../kit/clock.ts";
import type { Ids } from "../../../kit/ids.ts";
import { uuid } from "../../../kit/uuid.ts";
import { answer, closed, defineTool, MINUTE_MS } from "../define.ts";

export interface NoteToolDeps {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly notes: NoteStore;
}

const MAX_TITLE_CHARS = 200;
const MAX_CONTENT_CHARS = 50_000;
const MAX_TAGS = 20;
const MAX_TAG_CHARS = 50;
const MAX_QUERY_CHARS = 500;
const MAX_HITS = 20;
const DEFAULT_HITS = 5;

export function saveNote({ clock, ids, notes }: NoteToolDeps): Tool {
  return defineTool({
    name: "save_note",
    label: "Save note",
    description: "Saves a note for this person, to be found later with search_notes.",
    parameters: Type.Object(
      {
        title: Type.String({
          minLength: 1,
          maxLength: MAX_TITLE_CHARS,
          description: "What it is about, in a few words",
        }),
        content: Type.String({ minLength: 1, maxLength: MAX_CONTENT_CHARS, description: "What to remember" }),
        tags: Type.Optional(
          Type.Array(Type.String({ minLength: 1, maxLength: MAX_TAG_CHARS }), {
            maxItems: MAX_TAGS,
            description: "Words to find it by",
          }),
        ),
      },
      closed,
    ),
    flags: { idempotent: true }, // the same note of a turn that runs again is stored once
    limit: { calls: 30, perMs: MINUTE_MS },
    timeoutMs: 10_000,
    async run({ title, content, tags = [] }, { callId, context }) {
      const kept = await notes.save({
        id: uuid(ids),
        owner: context.principal,
        title: title.trim() || "Note",
        content,
        tags: tags.map((tag) => tag.replaceAll(/\s+/g, " ").trim()).filter((tag) => tag !== ""),
        askedBy: { turnId: context.turnId, callId },
        at: clock.now(),
      });
      if (kept.kind === "full") throw new Error(`The note was not saved: ${kept.max} notes are kept for one person.`);
      return answer({ note_id: kept.id, saved: true });
    },
  });
}

export function searchNotes({ notes }: Pick<NoteToolDeps, "notes">): Tool {
  return defineTool({
    name: "search_notes",
    label: "Search notes",
    description: "Searches the notes of this person by words and returns the best matches with a snippet of each.",
    parameters: Type.Object(
      {
        query: Type.String({ minLength: 1, maxLength: MAX_QUERY_CHARS, description: "Words to look for" }),
        limit: Type.Optional(
          Type.Integer({ minimum: 1, maximum: MAX_HITS, default: DEFAULT_HITS, description: "Notes at most" }),
        ),
      },
      closed,
    ),
    flags: { idempotent: true },
    limit: { calls: 60, perMs: MINUTE_MS },
    timeoutMs: 10_000,
    async run({ query, limit = DEFAULT_HITS }, { context }) {
      const found = await notes.search(context.principal, query, limit);
      return answer({
        notes: found.map(({ id, title, snippet, tags, createdAt }) => ({
          id,
          title,
          snippet,
          tags,
          created_at: new Date(createdAt).toISOString(),
        })),
      });
    },
  });
}
