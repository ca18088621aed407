/** The lines of a chart over days, and how high it has to be. Pure. */

/** `bars` and `area`: what was. `forecast`: what will be, when it goes on like this. `limit`: what may be. */
export type Look = "bars" | "area" | "forecast" | "limit";

export interface Series {
  readonly name: string;
  readonly look: Look;
  /** One for each day; null: there is none. */
  readonly values: readonly (number | null)[];
}

export interface SeriesOfDays {
  /** `2026-01-31`, the oldest first. */
  readonly days: readonly string[];
  readonly series: readonly Series[];
}

/** A limit that is further above everything else would press it flat: it is named and not drawn. */
const MAX_LIMIT_FACTOR = 3;

/** The highest value that a chart makes room for. */
export function topOf(series: readonly Series[]): number {
  const values = (isLimit: boolean) =>
    series.flatMap((one) => ((one.look === "limit") === isLimit ? one.values.map((value) => value ?? 0) : []));
  const top = Math.max(0, ...values(false));
  const limit = Math.max(0, ...values(true));
  return limit <= top * MAX_LIMIT_FACTOR ? Math.max(top, limit) : top;
}
