/** Tool inputs and outputs as people like to read them. */

/**
 * What is hidden or changes how the rest is read: controls, marks of direction, characters without a shape, foreign spaces. Line ends and
 * plain spaces stay.
 */
const UNSEEN = /(?![\n ])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Zs}\p{Co}\p{Cn}\p{DI}]/gu;

/** A value in full, with everything unseen written out: for somebody who has to decide on exactly this. */
export function exact(value: unknown): string {
  const escaped = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return (JSON.stringify(value, null, 2) ?? "nothing").replace(UNSEEN, (char) => char.split("").map(escaped).join(""));
}

/** JSON in readable lines, whether it arrives as a value or as text; anything else as it is. */
export function pretty(value: unknown): string {
  if (value === undefined) return "";
  if (typeof value !== "string") return JSON.stringify(value, null, 2);
  if (!/^\s*[[{]/.test(value)) return value;
  try {
    return JSON.stringify(JSON.parse(value), null, 2);
  } catch {
    return value; // looked like JSON, is text
  }
}
