/** What an agent writes → what Discord shows. Its markdown is Discord's but for tables, pictures and small headings; code is left alone. */
import type { OutboundMessage } from "../../../contracts/chat.ts";
import { splitText } from "./split.ts";

/** Discord's limit for one message. */
export const MAX_MESSAGE_CHARS = 2_000;
const FENCE = /^ {0,3}(`{3,}|~{3,})([^\n]*)$/;
const SMALL_HEADING = /^#{4,6}\s+(.+?)\s*#*$/;
const TABLE_ROW = /^\s*\|.*\|\s*$/;
const TABLE_RULE = /^\s*\|?[\s:|-]*-[\s:|-]*\|?\s*$/;
const PICTURE = /!\[([^\]\n]{0,300})\]\(([^)\s]{1,2000})\)/g;
const SPECIAL = /[\\*_~`|>#[\]()<-]/g;

/** The messages that show this text; none when there is nothing to show. */
export function renderMessage({
  text,
  format = "markdown",
}: Pick<OutboundMessage, "text" | "format">): readonly string[] {
  if (format === "plain") return splitText(escapeMarkdown(text), MAX_MESSAGE_CHARS);
  return splitText(renderMarkdown(format === "html" ? fromHtml(text) : text), MAX_MESSAGE_CHARS);
}

export function escapeMarkdown(text: string): string {
  return text.replace(SPECIAL, "\\$&");
}

export function renderMarkdown(text: string): string {
  const out: string[] = [];
  let open: string | null = null;
  let table: string[] = [];
  const endTable = (): void => {
    out.push(...renderTable(table));
    table = [];
  };
  for (const line of text.replaceAll("\r\n", "\n").split("\n")) {
    const fence = FENCE.exec(line);
    if (open === null && !fence && TABLE_ROW.test(line)) {
      table.push(line);
      continue;
    }
    endTable();
    if (fence) open = nextFence(open, fence[1] ?? "", fence[2] ?? "");
    out.push(open === null && !fence ? renderLine(line) : line);
  }
  endTable();
  return out.join("\n");
}

function nextFence(open: string | null, mark: string, info: string): string | null {
  if (open === null) return mark;
  return info.trim() === "" && mark[0] === open[0] && mark.length >= open.length ? null : open;
}

function renderLine(line: string): string {
  const heading = SMALL_HEADING.exec(line);
  if (heading) return `**${heading[1]}**`;
  return line.replace(PICTURE, (_all, alt: string, url: string) => (alt.trim() === "" ? url : `[${alt}](${url})`));
}

/** Discord has no tables: in a code block the columns at least stand under each other. */
function renderTable(rows: readonly string[]): readonly string[] {
  const [, rule = ""] = rows;
  if (rows.length < 2 || !TABLE_RULE.test(rule)) return rows;
  const cells = rows
    .filter((_row, at) => at !== 1)
    .map((row) =>
      row
        .trim()
        .slice(1, -1)
        .split("|")
        .map((cell) => cell.trim()),
    );
  const widths: number[] = [];
  for (const row of cells) row.forEach((cell, at) => (widths[at] = Math.max(widths[at] ?? 0, cell.length)));
  const lines = cells.map((row) =>
    row
      .map((cell, at) => cell.padEnd(widths[at] ?? 0))
      .join("  ")
      .trimEnd(),
  );
  const under = widths.map((width) => "-".repeat(Math.max(width, 1))).join("  ");
  const [head = "", ...body] = lines;
  const block = [head, under, ...body].map((line) => line.replaceAll("```", "'''"));
  return ["```", ...block, "```"];
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
