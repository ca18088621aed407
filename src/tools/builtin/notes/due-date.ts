/** Dates as ISO 8601 writes them: a day, or a day and a time. Refuses what looks like a date and is none, such as February 30. */
const FORM = /^(\d{4})-(\d{2})-(\d{2})(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:?\d{2})?)?$/;

/** The date as it is kept, or null when it is not one. */
export function dueDate(text: string): string | null {
  const said = text.trim();
  const [, year, month, day] = FORM.exec(said) ?? [];
  if (year === undefined || month === undefined || day === undefined) return null;
  const kept = said.replace(" ", "T");
  if (Number.isNaN(Date.parse(kept))) return null;
  // engines roll February 30 over into March
  const real = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day)));
  return real.getUTCMonth() + 1 === Number(month) && real.getUTCDate() === Number(day) ? kept : null;
}
