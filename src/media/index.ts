/**
 * Files. Those that agents send: one path policy, applied to what was opened; the type by content; a copy in the media store. Those that
 * people send (`inbound/`): capped, typed by content, within what models take, voice as words.
 * No other module opens a path that an agent names (test/house-plan.ts keeps it so).
 */
export { fileType, mediaKind } from "./file-type.ts";
export { type AttachedDeps, createAttachedFiles } from "./inbound/attached-files.ts";
export { createInboundFiles, type InboundDeps, type InboundSettings } from "./inbound/inbound-files.ts";
export { inboundSettings } from "./inbound/inbound-settings.ts";
export { createShrinker, type Shrinker } from "./inbound/shrink.ts";
export { type OutgoingDeps, openOutgoingFiles, type OutgoingOptions } from "./outgoing-files.ts";
