/** What channels share about Markdown: its tokens, a table as plain text, and a text that is still being written. Knows no platform. */
export { markdownTokens } from "./lexer.ts";
export { plainText, tableText } from "./plain-text.ts";
export { readable } from "./unfinished.ts";
