/** Several walks through tables, each newest first, as one list: which rows make a page, and where the next one begins. Pure. */

/** Where a row stands in the whole: time first, then the table, then its number there. Greater is newer. */
export interface Position {
  readonly at: number;
  readonly rank: number;
  readonly seq: number;
}

export interface Walk<T> {
  /** Newest first. */
  readonly rows: readonly (Position & { readonly value: T })[];
  /** The last row that was looked at, shown or not; null: there are no more. */
  readonly reached: Position | null;
}

interface Merged<T> {
  readonly values: readonly T[];
  readonly next: Position | null;
  /** Fewer than were asked for, because enough rows were looked at. */
  readonly isShort: boolean;
}

/** What is older than the place that another walk has reached is left for the next page: rows of that walk may belong before it. */
export function mergeWalks<T>(walks: readonly Walk<T>[], limit: number): Merged<T> {
  const horizon = walks.reduce<Position | null>((newest, { reached }) => newer(newest, reached), null);
  const seen = walks
    .flatMap(({ rows }) => rows)
    .filter((row) => horizon === null || compare(row, horizon) >= 0)
    .toSorted((one, other) => compare(other, one));
  const shown = seen.slice(0, limit);
  const last = shown.at(-1);
  const values = shown.map(({ value }) => value);
  if (seen.length > limit && last) return { values, next: last, isShort: false };
  return { values, next: horizon, isShort: horizon !== null && values.length < limit };
}

/** The newest place of a table that is older than `position`, as time and number. */
export function before(position: Position, rank: number): { readonly at: number; readonly seq: number } {
  if (rank === position.rank) return { at: position.at, seq: position.seq };
  return { at: position.at, seq: rank < position.rank ? Number.MAX_SAFE_INTEGER : -1 };
}

export function newer(one: Position | null, other: Position | null): Position | null {
  if (one === null || other === null) return one ?? other;
  return compare(one, other) >= 0 ? one : other;
}

function compare(one: Position, other: Position): number {
  return one.at - other.at || one.rank - other.rank || one.seq - other.seq;
}
