/**
 * Files that agents send: one path policy, applied to what was opened; the type by content; a copy in the media store.
 * No other module opens a path that an agent names (test/house-plan.ts keeps it so).
 */
export { fileType, mediaKind } from "./file-type.ts";
export { type OutgoingDeps, openOutgoingFiles, type OutgoingOptions } from "./outgoing-files.ts";
