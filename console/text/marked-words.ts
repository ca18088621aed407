/** Which parts of a text are words that somebody searched for. Pure. */
interface TextPart {
  readonly text: string;
  readonly isFound: boolean;
}

/** As the search reads them: words that begin so, in any case and with or without accents. */
export function markedWords(text: string, search: string): readonly TextPart[] {
  const begins = wordsOf(search).map(folded);
  if (begins.length === 0) return [{ text, isFound: false }];
  return text
    .split(/([\p{L}\p{N}\p{M}]+)/u)
    .filter((part) => part !== "")
    .map((part) => ({ text: part, isFound: begins.some((begin) => folded(part).startsWith(begin)) }))
    .reduce<TextPart[]>(joined, []);
}

function wordsOf(text: string): readonly string[] {
  return text.match(/[\p{L}\p{N}\p{M}]+/gu) ?? [];
}

function folded(word: string): string {
  return word.normalize("NFD").replaceAll(/\p{M}/gu, "").toLowerCase();
}

/** Parts that nobody searched for are one. */
function joined(parts: TextPart[], part: TextPart): TextPart[] {
  const last = parts.at(-1);
  if (last && !last.isFound && !part.isFound) return [...parts.slice(0, -1), { ...last, text: last.text + part.text }];
  return [...parts, part];
}
