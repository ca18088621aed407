/** Markdown in one line of a list, where its marks would only be noise: without emphasis, headings, fences and the rules of tables. Pure. */
const NOISE = [
  /```\w*/g,
  /[*_]{2}|`/g,
  /(^|\s)#{1,6}(?=\s)/g,
  /\|?(\s*:?-{3,}:?\s*\|)+(\s*:?-{3,}:?)?/g, // between the head of a table and its rows
  /\s*\|(?=\s|$)|(^|\s)\|/g,
];

export function plainLine(text: string): string {
  return NOISE.reduce((line, noise) => line.replace(noise, " "), text)
    .replace(/\s+/g, " ")
    .replace(/ (?=[.,;:!?…](\s|$))/g, "")
    .trim();
}
