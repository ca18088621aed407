/** Amounts in words: money with as many digits as it needs, counts with separators; and both as short as an axis of a chart has room for. */
const SMALL_USD = 1;

export function usdText(usd: number): string {
  return `$${usd.toFixed(usd > 0 && usd < SMALL_USD ? 4 : 2)}`;
}

export function countText(count: number): string {
  return Math.round(count).toLocaleString();
}

/** Values of an axis are round: $2, $0.10, $0.025. */
export function usdTick(usd: number): string {
  return `$${Number.isInteger(usd) ? usd.toLocaleString() : usd.toFixed(4).replace(/0{1,2}$/, "")}`;
}

const COMPACT = { notation: "compact", maximumFractionDigits: 1 } as const;

/** Half a turn is none. */
export function countTick(count: number): string {
  return count % 1 === 0 ? count.toLocaleString(undefined, COMPACT) : "";
}
