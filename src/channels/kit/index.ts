/**
 * What every chat platform needs and none has for itself: what an account remembers, Markdown as tokens, previews of running turns, work beside
 * the flow. A platform hands in what is different about it. Knows no platform.
 */
export { type AccountState, accountState } from "./account-state.ts";
export { POST_AGAIN_MS, startApprovalMessages } from "./approval-messages.ts";
export { keepFiles, type KeptFiles, type MessageFile } from "./keep-files.ts";
export { createLanes } from "./lanes.ts";
export { markdownTokens } from "./markdown/lexer.ts";
export { createPartSender, type PartPlatform, type SendingPiece } from "./part-sender.ts";
export { tableText } from "./markdown/plain-text.ts";
export { readable } from "./markdown/unfinished.ts";
export type { PreviewFailure, PreviewPlatform } from "./preview-platform.ts";
export { type Previews, startPreviews } from "./previews.ts";
export { noteTool, noTools, type ShownTool, type ShownTools, speakingTool } from "./running-tools.ts";
export { remember } from "./remember.ts";
export { createTasks, type Tasks } from "./tasks.ts";
export type { StreamMode, TurnView } from "./turn-views.ts";
export { wholeCharacters } from "./whole-characters.ts";
