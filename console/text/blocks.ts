/** Splits streaming markdown into blocks. Finished blocks keep their identity, so that only the growing end is worked on. */
import { Marked, type Token } from "marked";
import { mathExtension } from "./math.ts";

interface Blocks {
  readonly text: string;
  readonly tokens: readonly Token[];
}

export const NO_BLOCKS: Blocks = { text: "", tokens: [] };

/** A list or quote may still be continued by what comes; the last two blocks are therefore read again. */
const OPEN_BLOCKS = 2;

export function splitBlocks(text: string, before: Blocks): Blocks {
  if (text === before.text) return before;
  if (!text.startsWith(before.text)) return { text, tokens: lex(text) };
  const done = closedTokens(before.tokens);
  const closedChars = done.reduce((sum, token) => sum + token.raw.length, 0);
  return { text, tokens: [...done, ...lex(text.slice(closedChars))] };
}

function closedTokens(tokens: readonly Token[]): readonly Token[] {
  let open = 0;
  for (let at = tokens.length - 1; at >= 0; at--) {
    if (tokens[at]?.type !== "space") open++;
    if (open === OPEN_BLOCKS) return tokens.slice(0, at);
  }
  return [];
}

const marked = new Marked({ gfm: true, breaks: true }, mathExtension(null));

function lex(text: string): readonly Token[] {
  return marked.lexer(text);
}
