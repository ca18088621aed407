/**
 * Dates and times as the person's own place writes them. To make a format costs more than a hundred uses of it, and a list has hundreds of rows:
 * each is made once, and again when the clock moves to another time zone.
 */
const SHAPES = {
  /** Date and time to the second. */
  whole: {
    year: "numeric",
    month: "numeric",
    day: "numeric",
    hour: "numeric",
    minute: "numeric",
    second: "numeric",
  },
  day: { day: "numeric", month: "short" },
  dayAndYear: { day: "numeric", month: "short", year: "numeric" },
  /** Within a week or so. */
  moment: { weekday: "short", day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" },
  time: { hour: "2-digit", minute: "2-digit" },
  second: { hour: "numeric", minute: "numeric", second: "numeric" },
  month: { month: "long", year: "numeric" },
  /** Of dates without a time, which are kept as midnight in UTC. */
  weekday: { weekday: "short", timeZone: "UTC" },
  longWeekday: { weekday: "long", timeZone: "UTC" },
  shortDay: { day: "numeric", month: "short", timeZone: "UTC" },
  longDay: { weekday: "long", day: "numeric", month: "long", timeZone: "UTC" },
} as const satisfies Readonly<Record<string, Intl.DateTimeFormatOptions>>;

type Shape = keyof typeof SHAPES;

const formats = new Map<Shape, Intl.DateTimeFormat>();
let zone: string | null = null;
let offset: number | null = null;

export function dateText(at: number | Date, shape: Shape): string {
  forgetOtherZone();
  const format = formats.get(shape) ?? new Intl.DateTimeFormat(undefined, SHAPES[shape]);
  formats.set(shape, format);
  return format.format(at);
}

/** The name of the time zone that the person's clock is in. */
export function ownZone(): string {
  forgetOtherZone();
  return (zone ??= new Intl.DateTimeFormat().resolvedOptions().timeZone);
}

/** Summer time changes it as well, which costs a few formats twice a year. */
function forgetOtherZone(): void {
  const now = new Date().getTimezoneOffset();
  if (now === offset) return;
  offset = now;
  zone = null;
  formats.clear();
}
