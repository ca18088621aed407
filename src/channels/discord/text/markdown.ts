/**
 * Markdown → Discord's Markdown. Discord reads most of it itself, so what it knows stays as it was written, and only the rest is written anew:
 * tables, underlined and small headings, pictures, reference links, entities. Code is left alone.
 */
import { decodeHTMLStrict } from "entities";
import type { Token, Tokens } from "marked";
import { markdownTokens, tableText } from "../../kit/index.ts";

const SPECIAL = /[\\*_~`|>#[\]()<-]/g;
/** Discord has three sizes. */
const SMALLEST_HEADING = 3;
const PICTURE = /!\[([^\]\n]{0,300})\]\(([^)\s]{1,2000})\)/g;
const REFERENCE = /!?\[([^[\]\n]{1,300})\](?:\[([^[\]\n]{0,300})\])?(?![([:])/g;
const ENTITY = /&(?:#\d{1,7}|#x[0-9a-f]{1,6}|[a-z][a-z0-9]{1,31});/gi;

export function escapeMarkdown(text: string): string {
  return text.replace(SPECIAL, "\\$&");
}

export function renderMarkdown(text: string): string {
  const source = text.replaceAll("\r\n", "\n");
  const tokens = markdownTokens(source);
  const links = linksOf(tokens);
  return tokens.map((token) => rendered(token, links)).join("");
}

type Links = ReadonlyMap<string, string>;

/** References as they are explained anywhere in the text. */
function linksOf(tokens: readonly Token[]): Links {
  const defs = tokens.filter((token): token is Tokens.Def => token.type === "def");
  return new Map(defs.filter(({ href }) => /^https?:\/\/\S+$/.test(href)).map(({ tag, href }) => [tag, href]));
}

function rendered(token: Token, links: Links): string {
  const end = /\n*$/.exec(token.raw)?.[0] ?? "";
  switch (token.type) {
    case "heading": {
      const { depth, text } = token as Tokens.Heading;
      const shown = outsideCode(text, token, links);
      return (depth > SMALLEST_HEADING ? `**${shown.replaceAll("**", "")}**` : `${"#".repeat(depth)} ${shown}`) + end;
    }
    case "table":
      return `\`\`\`\n${tableText(token as Tokens.Table).replaceAll("```", "'''")}\n\`\`\`${end}`;
    case "def":
      return links.has((token as Tokens.Def).tag) ? "" : token.raw;
    case "code":
      return token.raw;
    default:
      return outsideCode(token.raw, token, links);
  }
}

/** Code stands in the text in the order of its tokens; inside quotations line by line, because each line has a mark before it. */
function outsideCode(text: string, token: Token, links: Links): string {
  let out = "";
  let at = 0;
  for (const code of codeIn(token)) {
    const found = text.indexOf(code, at);
    if (found < 0) continue;
    out += words(text.slice(at, found), links) + code;
    at = found + code.length;
  }
  return out + words(text.slice(at), links);
}

function codeIn(token: Token): readonly string[] {
  if (token.type === "code" || token.type === "codespan") return token.raw.split("\n").filter((line) => line !== "");
  const held = token.type === "list" ? (token as Tokens.List).items : "tokens" in token ? (token.tokens ?? []) : [];
  return held.flatMap(codeIn);
}

function words(text: string, links: Links): string {
  return text
    .replace(PICTURE, (_all, alt: string, url: string) => (alt.trim() === "" ? url : `[${alt}](${url})`))
    .replace(REFERENCE, (whole, label: string, tag: string | undefined) => {
      const href = links.get((tag || label).replaceAll(/\s+/g, " ").toLowerCase());
      return href === undefined ? whole : `[${label}](${href})`;
    })
    .replace(ENTITY, (entity) => {
      const character = decodeHTMLStrict(entity);
      return character === entity ? entity : escapeMarkdown(character);
    });
}
