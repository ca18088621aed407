/** Where a walk over old rows is: at a time, and at an id among those of the same time. */
import type { OldRows, RowPlace } from "../../../contracts/store/retention.ts";

export interface Place extends Omit<OldRows, "from"> {
  readonly at: number;
  readonly id: string;
}

/** Before every row. */
export const START: RowPlace = { at: Number.MIN_SAFE_INTEGER, id: "" };

/** Null when fewer rows were found than were asked for: those were the last. */
export function placeAfter<T>(rows: readonly T[], limit: number, placeOf: (row: T) => RowPlace): RowPlace | null {
  const last = rows.length < limit ? undefined : rows.at(-1);
  return last === undefined ? null : placeOf(last);
}
