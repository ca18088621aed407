/** What channels share about Markdown: its tokens, a table as plain text, a text that is still being written, and tools at work. Knows no platform. */
export { markdownTokens } from "./lexer.ts";
export { tableText } from "./plain-text.ts";
export { noteTool, noTools, type ShownTool, type ShownTools, speakingTool } from "./running-tools.ts";
export { readable } from "./unfinished.ts";
