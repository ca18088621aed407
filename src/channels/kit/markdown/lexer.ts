/**
 * Markdown as tokens, by marked. A long text is given to it in sections and a long paragraph in pieces, because its time grows faster than the
 * text; HTML is text here, and `||spoilers||` are known.
 */
import { Lexer, Marked, type Token, type TokenizerAndRendererExtension } from "marked";

/** Cut between blocks; Telegram shows a quarter of it in one message. */
const SECTION_CHARS = 16 * 1024;
const INLINE_CHARS = 8 * 1024;
const FENCE = /^ {0,3}(`{3,}|~{3,})/;
/** Lists and quotations inside each other beyond what anybody writes: from there on it is text. */
const TOO_DEEP = /^((?:[ \t]*(?:>|[-*+](?=[ \t])|\d{1,9}[.)](?=[ \t]))[ \t]*){24})(?=\S)/gm;

const SPOILER: TokenizerAndRendererExtension = {
  name: "spoiler",
  level: "inline",
  start: (source) => source.indexOf("||"),
  tokenizer(source) {
    const [raw, text] = /^\|\|(?=[^\s|])([^\n]{0,2000}?[^\s|])\|\|(?!\|)/.exec(source) ?? [];
    if (raw === undefined || text === undefined) return undefined;
    return { type: "spoiler", raw, text, tokens: this.lexer.inlineTokens(text) };
  },
};

/** A tokenizer that answers undefined has found nothing; one that answers false leaves it to marked. */
const marked = new Marked({
  extensions: [SPOILER],
  tokenizer: {
    html: () => undefined,
    tag: () => undefined,
    del: (source) => (source.startsWith("~~") ? false : undefined), // "~5 to 10" is about five
  },
});

/** Never throws: what is nested too deep for it comes back as one text. */
export function markdownTokens(source: string): readonly Token[] {
  const text = source.replaceAll(/\r\n?/g, "\n").replaceAll(TOO_DEEP, "$1\\");
  try {
    return tokensOf(text);
  } catch {
    return [{ type: "text", raw: text, text }]; // a stack that is not deep enough: the words are what counts
  }
}

function tokensOf(text: string): readonly Token[] {
  const lexer = new Lexer(marked.defaults);
  const tokens: Token[] = [];
  for (const section of sectionsOf(text)) lexer.blockTokens(section, tokens);
  // references may be explained further down: what is inside of blocks comes after all of them
  for (let next = lexer.inlineQueue.shift(); next; next = lexer.inlineQueue.shift())
    for (const piece of piecesOf(next.src)) lexer.inlineTokens(piece, next.tokens);
  return tokens;
}

/** Ends at empty lines outside of code. */
function sectionsOf(text: string): readonly string[] {
  if (text.length <= SECTION_CHARS) return [text];
  const sections: string[] = [];
  let section = "";
  let fence: string | null = null;
  for (const line of text.split(/(?<=\n)/)) {
    const mark = FENCE.exec(line)?.[1];
    if (mark !== undefined && (fence === null || mark.startsWith(fence))) fence = fence === null ? mark : null;
    section += line;
    if (section.length < SECTION_CHARS || fence !== null || line.trim() !== "") continue;
    sections.push(section);
    section = "";
  }
  return [...sections, section];
}

function piecesOf(source: string): readonly string[] {
  const pieces: string[] = [];
  let rest = source;
  while (rest.length > INLINE_CHARS) {
    const place = Math.max(rest.lastIndexOf("\n", INLINE_CHARS), rest.lastIndexOf(" ", INLINE_CHARS));
    const low = rest.charCodeAt(INLINE_CHARS);
    const end = place > 0 ? place + 1 : low >= 0xdc00 && low <= 0xdfff ? INLINE_CHARS - 1 : INLINE_CHARS;
    pieces.push(rest.slice(0, end));
    rest = rest.slice(end);
  }
  return [...pieces, rest];
}
