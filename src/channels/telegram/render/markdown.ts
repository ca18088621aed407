/** Markdown → styled text, block by block. Everything readable is kept, whatever the source looks like. */
import type { Token, Tokens } from "marked";
import { markdownTokens, tableText } from "../../kit/index.ts";
import { inlineRuns } from "./inline.ts";
import { type Run, type Style, textOf } from "./runs.ts";

const LANGUAGE = /^[A-Za-z0-9_+#.-]{1,32}$/;
const RULE_TEXT = "———";
const INDENT = "  ";

interface Place {
  readonly styles: readonly Style[];
  /** How many lists it is inside of. */
  readonly depth: number;
}

export function renderMarkdown(source: string): readonly Run[] {
  const runs = blockRuns(markdownTokens(source), { styles: [], depth: 0 });
  return textOf(runs).trim() === "" ? [{ text: source, styles: [] }] : runs;
}

/** An empty line between two blocks stays one. */
function blockRuns(tokens: readonly Token[], place: Place): readonly Run[] {
  const runs: Run[] = [];
  let gap = "";
  for (const token of tokens) {
    const own = tokenRuns(token, place);
    if (textOf(own) !== "") {
      if (runs.length > 0) runs.push({ text: /\n[ \t]*\n\s*$/.test(gap) ? "\n\n" : "\n", styles: place.styles });
      runs.push(...own);
      gap = token.raw;
    } else gap += token.raw;
  }
  return runs;
}

function tokenRuns(token: Token, place: Place): readonly Run[] {
  const { styles } = place;
  switch (token.type) {
    case "space":
    case "def":
      return [];
    case "code":
      return codeRuns(token as Tokens.Code, styles);
    case "heading":
      return inlineRuns((token as Tokens.Heading).tokens, [...styles, { type: "bold" }]);
    case "blockquote":
      return blockRuns((token as Tokens.Blockquote).tokens, { ...place, styles: [...styles, { type: "blockquote" }] });
    case "list":
      return listRuns(token as Tokens.List, place);
    case "table":
      return [{ text: tableText(token as Tokens.Table), styles: [...styles, { type: "pre" }] }];
    case "hr":
      return [{ text: RULE_TEXT, styles }];
    default:
      return inlineRuns([token], styles);
  }
}

/** An answer may end right after the fence: then that is what there is to show. */
function codeRuns({ text, lang = "", raw }: Tokens.Code, styles: readonly Style[]): readonly Run[] {
  if (text.trim() === "") return [{ text: raw.trim(), styles }];
  const [word = ""] = lang.trim().split(/\s/);
  return [{ text, styles: [...styles, { type: "pre", ...(LANGUAGE.test(word) ? { language: word } : {}) }] }];
}

function listRuns({ items, ordered, start, loose }: Tokens.List, place: Place): readonly Run[] {
  const indent = INDENT.repeat(place.depth);
  return items.flatMap((item, at) => {
    const number = `${(start === "" ? 1 : start) + at}. `;
    const box = item.task ? (item.checked ? "☑ " : "☐ ") : "• ";
    const bullet = { text: `${indent}${ordered ? number : box}`, styles: place.styles };
    const own = blockRuns(item.tokens, { ...place, depth: place.depth + 1 });
    const gap = { text: loose ? "\n\n" : "\n", styles: place.styles };
    return [...(at > 0 ? [gap] : []), bullet, ...own];
  });
}
