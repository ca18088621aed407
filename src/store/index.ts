/**
 * Everything the gateway remembers: messages, turns, replies, tool calls, media and sign-ins, in one SQLite file of the state directory, or in
 * a Postgres database. `openStateDirectory` takes the directory for this process and comes first; `openStore` opens the database and brings it
 * up to date. `checkStore` only looks; `snapshotDatabase` copies an SQLite file while it is in use; `moveStore` moves everything between the engines; `openSecretFiles` keeps the token and keys beside it. What a store can do is written in
 * contracts/store.ts; nothing of either engine is visible outside this folder.
 */
export { diskFacts } from "./health/disk-facts.ts";
export { makeOnePrivate, makePrivate } from "./private-modes.ts";
export { createAuditVerifier } from "./audit/verifier.ts";
export { verifyAudit } from "./audit/verify.ts";
export { holdFile } from "./file-lock.ts";
export { checkStore } from "./inspect.ts";
export { checkPostgres } from "./check-postgres.ts";
export { moveStore, type MoveProgress } from "./move/move-store.ts";
export { openStateDirectory } from "./state-directory.ts";
export { openMemoryStore } from "./memory-store.ts";
export { newSessionFile } from "./rows/new-session.ts";
export { openStore } from "./open.ts";
export { readPrivateJson, removePrivateFolder, writePrivateJson } from "./private-json.ts";
export { openPushKey, openSecretFiles } from "./secret-files.ts";
export { snapshotDatabase } from "./snapshot.ts";
export { createToolIndex } from "./tool-index.ts";
export { returnDatabase } from "./upgrade-return.ts";
