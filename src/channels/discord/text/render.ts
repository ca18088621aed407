/** What an agent writes → the messages in which Discord shows it. */
import type { OutboundMessage } from "../../../contracts/chat.ts";
import { escapeMarkdown, renderMarkdown } from "./markdown.ts";
import { splitText } from "./split.ts";

export { escapeMarkdown, renderMarkdown };

/** Discord's limit for one message. */
export const MAX_MESSAGE_CHARS = 2_000;
/** The messages that show this text; none when there is nothing to show. */
export function renderMessage({
  text,
  format = "markdown",
}: Pick<OutboundMessage, "text" | "format">): readonly string[] {
  if (format === "plain") return splitText(escapeMarkdown(text), MAX_MESSAGE_CHARS);
  return splitText(renderMarkdown(format === "html" ? fromHtml(text) : text), MAX_MESSAGE_CHARS);
}

const TAGS: readonly (readonly [RegExp, string])[] = [
  [/<\/?(?:b|strong)>/gi, "**"],
  [/<\/?(?:i|em)>/gi, "*"],
  [/<\/?u>/gi, "__"],
  [/<\/?(?:s|del|strike)>/gi, "~~"],
  [/<pre>(?:<code[^>]{0,200}>)?/gi, "```\n"],
  [/(?:<\/code>)?<\/pre>/gi, "\n```"],
  [/<\/?code>/gi, "`"],
  [/<a\s+href="([^"]{1,2000})"[^>]{0,200}>([^<]{0,2000})<\/a>/gi, "[$2]($1)"],
  [/<br\s*\/?>/gi, "\n"],
  [/<\/?[a-z][a-z0-9-]{0,20}(?:\s[^<>]{0,500})?>/gi, ""],
  [/&lt;/g, "<"],
  [/&gt;/g, ">"],
  [/&quot;/g, '"'],
  [/&amp;/g, "&"],
];

/** The few tags that chat platforms know. */
function fromHtml(text: string): string {
  return TAGS.reduce((out, [tag, markdown]) => out.replace(tag, markdown), text);
}
