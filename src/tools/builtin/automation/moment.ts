/** A moment as a model can retell it without computing: the instant in ISO 8601, the time zone it was meant in, and the time on a clock there. */
interface Moment {
  /** Such as 2030-01-01T08:00:00.000Z. */
  readonly at: string;
  /** Such as Europe/Berlin. */
  readonly timezone: string;
  /** Such as 2030-01-01T09:00:00+01:00. */
  readonly local: string;
}

/** The zone has been checked before. */
export function momentOf(at: number, timezone: string): Moment {
  return { at: new Date(at).toISOString(), timezone, local: localTime(at, timezone) };
}

function localTime(at: number, timeZone: string): string {
  const two = "2-digit";
  const format = new Intl.DateTimeFormat("en", {
    timeZone,
    calendar: "iso8601",
    numberingSystem: "latn",
    hourCycle: "h23",
    year: "numeric",
    month: two,
    day: two,
    hour: two,
    minute: two,
    second: two,
    timeZoneName: "longOffset",
  });
  const parts = new Map(format.formatToParts(at).map(({ type, value }) => [type, value]));
  const part = (type: Intl.DateTimeFormatPartTypes): string => parts.get(type) ?? "";
  const offset = part("timeZoneName").replace("GMT", "") || "+00:00";
  return `${part("year")}-${part("month")}-${part("day")}T${part("hour")}:${part("minute")}:${part("second")}${offset}`;
}
