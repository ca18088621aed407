/** A table in letters of equal width: columns under each other, aligned as the table says. Telegram has no other way to show one. */
import type { Tokens } from "marked";
import { inlineRuns } from "./inline.ts";
import { type Run, textOf } from "./runs.ts";

type Align = "left" | "center" | "right" | null;

export function tableText({ header, rows, align }: Tokens.Table): string {
  const lines = [header, ...rows].map((row) => row.map(({ tokens }) => cellText(inlineRuns(tokens, []))));
  const widths = header.map((_cell, at) => Math.max(1, ...lines.map((line) => Bun.stringWidth(line[at] ?? ""))));
  const [head = [], ...body] = lines.map((line) =>
    widths.map((width, at) => padded(line[at] ?? "", width, align[at] ?? null)),
  );
  const rule = widths.map((width) => "─".repeat(width)).join("─┼─");
  return [head.join(" │ "), rule, ...body.map((line) => line.join(" │ "))].map((line) => line.trimEnd()).join("\n");
}

/** Nothing is said twice, and no address is lost. */
function cellText(runs: readonly Run[]): string {
  const shown = runs.map(({ text, styles }) => {
    const url = styles.find(({ type }) => type === "text_link")?.url;
    return url === undefined || url === text ? text : `${text} (${url})`;
  });
  return textOf(shown.map((text) => ({ text, styles: [] })))
    .replaceAll(/\s+/g, " ")
    .trim();
}

function padded(text: string, width: number, align: Align): string {
  const room = width - Bun.stringWidth(text);
  const before = align === "right" ? room : align === "center" ? Math.floor(room / 2) : 0;
  return " ".repeat(before) + text + " ".repeat(room - before);
}
