/** What tokens say without any marks, and a table in letters of equal width: columns under each other, aligned as the table says. */
import { decodeHTMLStrict } from "entities";
import type { Token, Tokens } from "marked";

type Align = "left" | "center" | "right" | null;

/** Nothing is said twice, and no address is lost. */
function plainText(tokens: readonly Token[]): string {
  return tokens.map(textOf).join("");
}

function textOf(token: Token): string {
  const inner = "tokens" in token && token.tokens ? plainText(token.tokens) : null;
  switch (token.type) {
    case "link":
    case "image": {
      const { href, text } = token as Tokens.Link | Tokens.Image;
      const words = inner ?? decodeHTMLStrict(text);
      if (words.trim() === "") return href;
      return href.replace(/^mailto:/, "") === text ? words : `${words} (${decodeHTMLStrict(href)})`;
    }
    case "codespan":
    case "escape":
      return (token as Tokens.Codespan | Tokens.Escape).text;
    case "br":
      return "\n";
    case "checkbox":
      return "";
    default:
      return inner ?? decodeHTMLStrict(token.raw);
  }
}

export function tableText({ header, rows, align, raw }: Tokens.Table): string {
  const [, , ...written] = raw.trim().split("\n");
  const lines = [header, ...rows].map((row, at) => [
    ...row.map(({ tokens }) => plainText(tokens).replaceAll(/\s+/g, " ").trim()),
    ...(at === 0 ? [] : cellsBeyond(written[at - 1] ?? "", header.length)),
  ]);
  const columns = Math.max(...lines.map((line) => line.length));
  const widths = Array.from({ length: columns }, (_, at) =>
    Math.max(1, ...lines.map((line) => Bun.stringWidth(line[at] ?? ""))),
  );
  const [head = [], ...body] = lines.map((line) =>
    widths.map((width, at) => padded(line[at] ?? "", width, align[at] ?? null)),
  );
  const rule = widths.map((width) => "─".repeat(width)).join("─┼─");
  return [head.join(" │ "), rule, ...body.map((line) => line.join(" │ "))].map((line) => line.trimEnd()).join("\n");
}

/** GFM drops the cells of a row that its header has no column for. People would miss them. */
function cellsBeyond(row: string, columns: number): readonly string[] {
  const cells = row
    .trim()
    .replace(/^\|/, "")
    .replace(/(?<!\\)\|$/, "")
    .split(/(?<!\\)\|/);
  return cells.slice(columns).map((cell) => cell.trim());
}

function padded(text: string, width: number, align: Align): string {
  const room = width - Bun.stringWidth(text);
  const before = align === "right" ? room : align === "center" ? Math.floor(room / 2) : 0;
  return " ".repeat(before) + text + " ".repeat(room - before);
}
