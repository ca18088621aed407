/** The sessions that runs of jobs and heartbeats leave behind, one for each: dropped when they are old, with the files of their memory. */
import type { SessionKey } from "../ids.ts";

export interface RunSessionStore {
  /**
   * Drops sessions in which nothing happened since `before`, except the newest ones of each job. One that runs, that has something under way,
   * that a person has spoken in or named, or whose memory is used elsewhere stays. Looks at a few in one go, oldest first: there may be
   * hundreds of thousands. One transaction.
   */
  drop(rule: DropRule): Promise<DroppedSessions>;
  /** Names of files whose session is gone, until they are gone too. */
  deadFiles(limit: number): Promise<readonly string[]>;
  fileGone(file: string): Promise<void>;
}

export interface DropRule {
  readonly before: number;
  readonly keepPerJob: number;
  /** Looked at in one go. */
  readonly limit: number;
  /** Where the last go ended; null: from the oldest. */
  readonly from: OldSession | null;
}

export interface OldSession {
  readonly at: number;
  readonly key: SessionKey;
}

export interface DroppedSessions {
  readonly dropped: number;
  /** Where to go on; null: that was all. */
  readonly next: OldSession | null;
}
