/** Text as every engine can keep it: Postgres keeps no U+0000, and half of a surrogate pair is no character. Both become the character for what cannot be shown. */
export function storableText(text: string): string {
  return (text.isWellFormed() ? text : text.toWellFormed()).replaceAll("\0", "\ufffd");
}
