/** Names of days and months as schedules say them, and as cron expressions number them. */

/** By their numbers in a cron expression, which counts from Sunday. */
export const DAYS = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"] as const;

/** January is 1, as in a cron expression. */
export const MONTHS = [
  ...["January", "February", "March", "April", "May", "June"],
  ...["July", "August", "September", "October", "November", "December"],
] as const;

export const WEEKDAYS = "1-5";
export const WEEKEND = "0,6";
/** croner's sign for the last day of a month. */
export const LAST_DAY = "L";

/** The number of a day by its name, its plural or its first letters, three at least; null: it is no day. */
export function dayNumber(word: string): number | null {
  return numberIn(DAYS, word.toLowerCase().replace(/(?<=day)s$/, ""), 0);
}

export function monthNumber(word: string): number | null {
  return numberIn(MONTHS, word.toLowerCase(), 1);
}

const SHORT_CHARS = 3;

function numberIn(names: readonly string[], word: string, first: number): number | null {
  const at = names.findIndex((name) => {
    return word.length >= SHORT_CHARS && name.toLowerCase().startsWith(word);
  });
  return at === -1 ? null : at + first;
}
