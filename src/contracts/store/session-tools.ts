/** Tools that are switched on for a session beside those that every session has: what `tool_search` found there and what was called. */
import type { SessionKey } from "../ids.ts";

export interface SessionTool {
  readonly tool: string;
  /** Where it stands among the others. Never changes while the tool is on, so that providers keep what they have cached. */
  readonly position: number;
  /** When it was found or called last. */
  readonly at: number;
}

export interface SessionToolStore {
  /** By position. */
  list(sessionKey: SessionKey): Promise<readonly SessionTool[]>;
  /** Writes the rows of `on`, new or changed, and removes those of `off`, in one transaction. */
  save(sessionKey: SessionKey, change: SessionToolChange): Promise<void>;
  /** Removes some of what was neither found nor called since `before`; gives the number of rows. 0: there are none left. */
  prune(before: number): Promise<number>;
}

export interface SessionToolChange {
  readonly on: readonly SessionTool[];
  readonly off: readonly string[];
}
