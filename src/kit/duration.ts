/** Durations: "30s" → 30000, and back. */
const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const DURATION = /^([0-9]{1,12})(ms|s|m|h|d)$/;

/** Null when the text is not a duration. */
export function parseDuration(text: string): number | null {
  const match = DURATION.exec(text);
  if (!match) return null;
  return Number(match[1]) * (UNIT_MS[match[2] ?? ""] ?? Number.NaN);
}

/** The shortest exact way to write it: 300000 → "5m". */
export function showDuration(ms: number): string {
  if (ms === 0) return "0";
  for (const unit of ["d", "h", "m", "s"]) {
    const size = UNIT_MS[unit] ?? 1;
    if (ms % size === 0) return `${ms / size}${unit}`;
  }
  return `${ms}ms`;
}

const UNIT_NAMES: readonly (readonly [number, string])[] = [
  [86_400_000, "day"],
  [3_600_000, "hour"],
  [60_000, "minute"],
  [1_000, "second"],
];

/** For people, in the largest unit of which there are at least two, or exactly one: 600000 → "10 minutes". */
export function durationText(ms: number): string {
  const [size, unit] = UNIT_NAMES.find(([size]) => ms >= 2 * size || ms === size) ?? [1_000, "second"];
  const count = Math.max(1, Math.round(ms / size));
  return `${count} ${unit}${count === 1 ? "" : "s"}`;
}
