/** What a model was told, as tests want to read it: the words, without what the gateway says before them. */

export const FACTS = /^<gateway-facts ([\w-]{22})>\n([^]*?)\n<\/gateway-facts \1>\n\n/;

export function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content.map((part: { text?: unknown }) => (typeof part.text === "string" ? part.text : "")).join("");
}

export function wordsOf(content: unknown): string {
  return textOf(content).replace(FACTS, "");
}
