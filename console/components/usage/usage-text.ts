/** Amounts in words: money with as many digits as it needs, counts with separators. */
const SMALL_USD = 1;

export function usdText(usd: number): string {
  return `$${usd.toFixed(usd > 0 && usd < SMALL_USD ? 4 : 2)}`;
}

export function countText(count: number): string {
  return Math.round(count).toLocaleString();
}
