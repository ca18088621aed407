/** Tool inputs and outputs as people like to read them. */

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
