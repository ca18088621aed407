/** The door to what is old: each method is one short transaction. */
import type { DatabaseSizes, RetentionStore } from "../../../contracts/store/retention.ts";
import { folderSizes } from "../../folder-sizes.ts";
import type { RowDeps } from "../row-deps.ts";
import { createOldMedia } from "./old-media.ts";
import { createOldConversations, createOldSessions } from "./old-sessions.ts";
import { createOldTurns } from "./old-turns.ts";

type DatabaseLook = (signal: AbortSignal) => Promise<DatabaseSizes>;

/** `home`: the state directory. */
export function createRetention({ sql, write }: RowDeps, database: DatabaseLook, home: string): RetentionStore {
  const turns = createOldTurns(sql);
  const dropSessions = createOldSessions(sql, turns);
  const dropConversations = createOldConversations(sql);
  const dropMedia = createOldMedia(sql);
  return {
    // what a power cut brings back is deleted by the next step
    dropTurns: (rule) => write(() => turns.drop(rule), "with the next"),
    dropSessions: (rule) => write(() => dropSessions(rule)),
    dropConversations: (rule) => write(() => dropConversations(rule), "with the next"),
    dropMedia: (rule) => write(() => dropMedia(rule)),
    async sizes(signal) {
      const [sizes, folders] = await Promise.all([database(signal), folderSizes(home, signal)]);
      return { ...sizes, folders };
    },
  };
}
