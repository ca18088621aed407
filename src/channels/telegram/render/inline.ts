/** What is inside a block: styles, code, links. An address that nobody should press is shown as it was written. */
import { decodeHTMLStrict } from "entities";
import type { Token, Tokens } from "marked";
import type { Run, Style, StyleType } from "./runs.ts";

const SAFE_URL = /^(?:https?:\/\/|tg:\/\/|mailto:|tel:)\S/i;
const STYLES: Readonly<Record<string, StyleType>> = {
  strong: "bold",
  em: "italic",
  del: "strikethrough",
  spoiler: "spoiler",
};

export function inlineRuns(tokens: readonly Token[], styles: readonly Style[]): readonly Run[] {
  return tokens.flatMap((token) => tokenRuns(token, styles));
}

function tokenRuns(token: Token, styles: readonly Style[]): readonly Run[] {
  const type = STYLES[token.type];
  if (type !== undefined) return inlineRuns(partsOf(token), [...styles, { type }]);
  switch (token.type) {
    case "link":
    case "image":
      return linkRuns(token as Tokens.Link | Tokens.Image, styles);
    case "codespan":
      return [{ text: (token as Tokens.Codespan).text, styles: [...styles, { type: "code" }] }];
    case "escape":
      return [{ text: (token as Tokens.Escape).text, styles }];
    case "br":
      return [{ text: "\n", styles }];
    case "checkbox":
      return []; // the bullet of its item shows it
    default: {
      const parts = partsOf(token);
      return parts.length > 0 ? inlineRuns(parts, styles) : [{ text: decodeHTMLStrict(token.raw), styles }];
    }
  }
}

const partsOf = (token: Token): readonly Token[] => ("tokens" in token ? (token.tokens ?? []) : []);

/** Telegram finds plain addresses by itself. */
function linkRuns(token: Tokens.Link | Tokens.Image, styles: readonly Style[]): readonly Run[] {
  const url = safeUrl(decodeHTMLStrict(token.href));
  if (token.type === "link" && token.href.replace(/^mailto:/, "") === token.text) return [{ text: token.text, styles }];
  if (url === null || token.text.trim() === "") return [{ text: decodeHTMLStrict(token.raw), styles }];
  return inlineRuns(partsOf(token), [...styles, { type: "text_link", url }]);
}

function safeUrl(href: string): string | null {
  if (!SAFE_URL.test(href)) return null;
  const url = URL.parse(href);
  return url && (/[\s<>"]/.test(href) ? url.href : href);
}
