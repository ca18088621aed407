/** Finds words in one text the way the full-text index of SQLite does: each as the beginning of a word, whatever its case and accents. Pure. */
const PLAIN_WORD = /^[\p{L}\p{N}]+$/u;
const BETWEEN_WORDS = /[^\p{L}\p{N}\p{Co}]+/u;

/** Null: one of the words is several to the index, such as "e-mail", which it finds only side by side. */
export function wordMatcher(words: readonly string[]): ((text: string) => boolean) | null {
  const wanted = words.map(folded);
  if (!wanted.every((word) => PLAIN_WORD.test(word))) return null;
  return (text) => {
    const present = folded(text).split(BETWEEN_WORDS);
    return wanted.every((word) => present.some((one) => one.startsWith(word)));
  };
}

export function withoutAccents(text: string): string {
  return text.normalize("NFD").replaceAll(/\p{M}/gu, "");
}

function folded(text: string): string {
  return withoutAccents(text).toLowerCase();
}
