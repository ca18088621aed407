/** One digest per call: the same tool with the same parameters gives the same one, in whatever order they were written. */
export function paramsHash(tool: string, params: unknown): string {
  return new Bun.CryptoHasher("sha256").update(`${tool}\n${canonical(params)}`).digest("hex");
}

export function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  const entries = Object.entries(value).filter(([, below]) => below !== undefined);
  const sorted = entries.toSorted(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  return `{${sorted.map(([key, below]) => `${JSON.stringify(key)}:${canonical(below)}`).join(",")}}`;
}
