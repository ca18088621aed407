/** The door to session files: in the database, or nowhere but on the disk of this machine. */
import { GatewayError } from "../../contracts/errors.ts";
import type { SessionFileStore } from "../../contracts/store/session-files.ts";
import type { RowDeps } from "../rows/row-deps.ts";
import type { Builder } from "../sql.ts";
import type { StoredFiles } from "./stored-files.ts";

/** `files`: null: the engine keeps none. */
export function createSessionFiles(
  { sql, read }: Pick<RowDeps, "sql" | "read">,
  files: StoredFiles | null,
): SessionFileStore {
  if (files === null) return LOCAL;
  return {
    isLocal: false,
    find: (name) => read(() => files.find(name)),
    read: files.read,
    remove: files.remove,
    async unknownOf(names) {
      if (names.length === 0) return [];
      const known = await read(() => sql.all((db) => filesInUse(db, names)));
      const inUse = new Set(known.map(({ file }) => file));
      return names.filter((name) => !inUse.has(name));
    },
  };
}

function filesInUse(db: Builder, names: readonly string[]) {
  return db
    .selectFrom("sessions")
    .select("file")
    .where("file", "in", names)
    .union(db.selectFrom("conversations").select("file").where("file", "in", names))
    .union(db.selectFrom("turns").select("file").where("state", "=", "running").where("file", "in", names));
}

const LOCAL: SessionFileStore = {
  isLocal: true,
  find: async () => null,
  read() {
    throw new GatewayError("internal", "session files are on the disk of this machine alone");
  },
  remove: async () => undefined,
  unknownOf: async () => [],
};
