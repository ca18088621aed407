/** Reads fields out of answers from outside: what has another type than expected becomes empty, never an exception. */
export type Fields = Readonly<Record<string, unknown>>;

export function recordOf(value: unknown): Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : {};
}

export function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** For one line of a terminal: white space is one blank, and what is cut ends with "…". */
export function shortText(value: unknown, maxChars: number): string {
  const text = textOf(value).trim().replace(/\s+/g, " ");
  return text.length <= maxChars ? text : `${text.slice(0, maxChars - 1).toWellFormed()}…`;
}

export function numberOf(value: unknown): number {
  return typeof value === "number" && Number.isFinite(value) ? value : 0;
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
