/** The door to session files: in the database, or nowhere but on the disk of this machine. */
import { GatewayError } from "../../contracts/errors.ts";
import type { SessionFileStore } from "../../contracts/store/session-files.ts";
import type { RowDeps } from "../rows/row-deps.ts";
import type { StoredFiles } from "./stored-files.ts";

/** `files`: null: the engine keeps none. */
export function createSessionFiles({ read }: Pick<RowDeps, "read">, files: StoredFiles | null): SessionFileStore {
  if (files === null) return LOCAL;
  return {
    isLocal: false,
    find: (name) => read(() => files.find(name)),
    read: files.read,
    remove: files.remove,
  };
}

const LOCAL: SessionFileStore = {
  isLocal: true,
  find: async () => null,
  read() {
    throw new GatewayError("internal", "session files are on the disk of this machine alone");
  },
  remove: async () => undefined,
};
