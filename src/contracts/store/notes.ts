/** Notes that people asked to have saved. A note belongs to one person; only their search finds it. */
import type { Principal, TurnId } from "../ids.ts";

export interface NoteStore {
  /** `full`: the person has as many notes as are kept for one. The same note saved again by the same work is one note. */
  save(note: NewNote): Promise<Kept>;
  /** Best match first. Every character of `query` is plain text: there is no query language to break. */
  search(owner: Principal, query: string, limit: number): Promise<readonly NoteHit[]>;
  /** Newest first. */
  list(owner: Principal, limit: number): Promise<readonly NoteTitle[]>;
  /** Null: this person has no such note. */
  get(owner: Principal, id: string): Promise<Note | null>;
}

export type Kept =
  { readonly kind: "kept"; readonly id: string } | { readonly kind: "full"; readonly max: number; readonly id?: never };

/** Which call asked for it. A turn that is tried again after a crash says the same once more, under another call id. */
export interface AskedBy {
  readonly turnId: TurnId;
  readonly callId: string;
}

export interface NewNote {
  readonly id: string; // a UUID
  readonly owner: Principal;
  readonly title: string;
  readonly content: string;
  readonly tags: readonly string[];
  readonly askedBy: AskedBy;
  readonly at: number;
}

interface NoteTitle {
  readonly id: string;
  readonly title: string;
  readonly createdAt: number;
}

export interface Note extends NoteTitle {
  readonly content: string;
  readonly tags: readonly string[];
}

export interface NoteHit {
  readonly id: string;
  readonly title: string;
  /** The passage that fits best, with … where it was cut. */
  readonly snippet: string;
  readonly tags: readonly string[];
  readonly createdAt: number;
}
