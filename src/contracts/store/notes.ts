/** What people asked to have remembered. A note belongs to one person; nobody else's search finds it. */
import type { Principal, TurnId } from "../ids.ts";

export interface NoteStore {
  /** `full`: the person has as many notes as are kept for one. The same words saved again by the same work are one note. */
  save(note: NewNote): Promise<Kept>;
  /** Best match first. Every character of `words` is plain text: there is no query language to break. */
  search(owner: Principal, words: string, limit: number): Promise<readonly NoteHit[]>;
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

export interface NoteHit {
  readonly id: string;
  readonly title: string;
  /** The place that fits best, with … where it was cut. */
  readonly snippet: string;
  readonly tags: readonly string[];
  readonly createdAt: number;
}
