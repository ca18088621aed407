/** Going back in a conversation, and going on from the same point twice. Nothing that was said is deleted by either. */
import type { TranscriptItem } from "../chat.ts";
import type { FileChange } from "./session-files.ts";
import type { Principal, SessionKey, TurnId } from "../ids.ts";

export interface SessionBranches {
  /** The turn of a message, reply or tool call that is shown in this session; null: it is not shown there. */
  place(key: SessionKey, id: string): Promise<TurnPlace | null>;
  /**
   * Goes back to before this turn: it and what came after is shown no more, and the session goes on with `file`. The conversation as it was is
   * kept like one that `/new` ended. One transaction.
   */
  rewind(key: SessionKey, to: RewindPoint): Promise<Rewound>;
  /** A new session that shows another one up to this turn and goes on with `file`. False: `key` is taken, or the turn is not shown. */
  branch(branch: NewBranch): Promise<boolean>;
}

export interface TurnPlace {
  readonly turnId: TurnId;
  /** Its session file, and how long that was before and after it; null: nobody knows, because an earlier version took the turn. */
  readonly file: string;
  readonly beganBytes: number | null;
  readonly settledBytes: number | null;
  /** Null: it has not ended. */
  readonly endedAt: number | null;
  /** What people said in it, oldest first. Empty for a run that nobody asked for. */
  readonly said: readonly TranscriptItem[];
}

/** A session file for a session to go on with. Null: it begins with an empty memory. */
export interface CopiedFile {
  readonly name: string;
  readonly bytes: number;
  /** What the database is to hold of it; absent: nothing, because session files are on the disk alone. */
  readonly change?: FileChange;
}

export interface RewindPoint {
  readonly turnId: TurnId;
  readonly file: CopiedFile | null;
  readonly at: number;
}

export type Rewound =
  /** `hidden`: ids of what is shown no more. */
  | { readonly kind: "rewound"; readonly hidden: readonly string[] }
  /** A turn runs, or a message waits. */
  | { readonly kind: "busy" }
  /** It is not shown any more. */
  | { readonly kind: "gone" }
  | { readonly kind: "too_far" };

export interface NewBranch {
  readonly from: SessionKey;
  readonly turnId: TurnId;
  readonly key: SessionKey;
  readonly channel: string;
  readonly person: Principal;
  readonly title: string;
  readonly file: CopiedFile | null;
  readonly at: number;
}
