/** What we say → what Telegram shows: text and entities in messages that are short enough. No markup is sent, so none can be broken. */
import type { OutboundMessage } from "../../../contracts/chat.ts";
import { renderHtml } from "./html.ts";
import { renderMarkdown } from "./markdown.ts";
import { type Run, textOf } from "./runs.ts";
import { type Chunk, splitRuns } from "./split.ts";

export const MAX_TEXT_UNITS = 4_096;
const MAX_CAPTION_UNITS = 1_024;

type Words = Pick<OutboundMessage, "text" | "format">;

export function renderText(words: Words): readonly Chunk[] {
  return splitRuns(runsOf(words), MAX_TEXT_UNITS);
}

/** Null: too long to stand below a picture. */
export function renderCaption(words: Words): Chunk | null {
  const runs = runsOf(words);
  if (textOf(runs).trim().length > MAX_CAPTION_UNITS) return null;
  const chunks = splitRuns(runs, MAX_CAPTION_UNITS);
  return chunks.length > 1 ? null : (chunks[0] ?? { text: "", entities: [] });
}

function runsOf({ text, format }: Words): readonly Run[] {
  const whole = text.toWellFormed();
  if (format === "plain") return [{ text: whole, styles: [] }];
  return format === "html" ? renderHtml(whole) : renderMarkdown(whole);
}
