/**
 * Files. Those that agents send: one path policy, applied to what was opened; the type by content; a copy in the media store. Those that
 * people send (`inbound/`): capped, typed by content, within what models take, voice as words.
 * No other module opens a path that an agent names (test/house-plan.ts keeps it so).
 */
export { fileType } from "./file-type.ts";
export { type AttachedDeps, createAttachedFiles } from "./inbound/attached-files.ts";
export { createInboundFiles } from "./inbound/inbound-files.ts";
export { inboundSettings } from "./inbound/inbound-settings.ts";
export { createShrinker } from "./inbound/shrink.ts";
export { openOutgoingFiles, type OutgoingOptions } from "./outgoing-files.ts";
