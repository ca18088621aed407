/** What people do with their conversations besides talking: find what was said, pin, archive and delete them. */
import type { InboxId, Principal, SessionKey } from "../ids.ts";
import type { Listed, Page } from "../paging.ts";
import type { SessionReach } from "../session-reach.ts";

export interface SessionFilter {
  /** Matches title and key. */
  readonly search?: string;
  readonly channel?: string;
  readonly agent?: string;
  /** Who alone speaks there. */
  readonly person?: string;
  readonly pinned?: boolean;
  /** Absent: those that are not archived, or with `search` all of them. */
  readonly archived?: boolean;
  readonly within?: SessionReach | null;
}

export interface SessionCare {
  /** What is left out stays as it is. False: no such session. */
  mark(key: SessionKey, marks: SessionMarks, at: number): Promise<boolean>;
  /** Messages that wait for a turn, oldest first. */
  waiting(key: SessionKey): Promise<readonly WaitingMessage[]>;
  /**
   * Deletes the session with everything that was said in it, its files, and what the assistant remembers of it. Tool calls, the rest of the audit
   * log, and what was spent stay. One transaction; the files are deleted after it, and listed as dead until they are.
   */
  remove(key: SessionKey): Promise<SessionRemoval>;
  /** Messages and replies that have all the words, newest first. Known secrets are neither shown nor found. */
  searchMessages(query: MessageQuery, page: Page): Promise<Listed<MessageHit>>;
}

interface SessionMarks {
  readonly pinned?: boolean;
  readonly archived?: boolean;
}

interface WaitingMessage {
  readonly id: InboxId;
  readonly sender: Principal;
}

export type SessionRemoval =
  | {
      readonly kind: "removed";
      readonly messages: number;
      readonly media: number;
      /** Files to delete: of the session, and `media/ID`. */
      readonly files: readonly string[];
    }
  /** A turn runs, a message waits, or a reply is being sent. */
  | { readonly kind: "busy" }
  | { readonly kind: "unknown" };

export interface MessageQuery {
  readonly words: string;
  readonly session?: SessionKey;
  readonly channel?: string;
  readonly within?: SessionReach | null;
}

export interface MessageHit {
  /** As in the transcript. */
  readonly id: string;
  readonly sessionKey: SessionKey;
  readonly title: string;
  readonly channel: string;
  readonly role: "user" | "assistant";
  readonly at: number;
  /** The words with some of the text around them, in one line. */
  readonly snippet: string;
}
