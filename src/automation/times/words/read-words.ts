/** Plain words → a schedule: "every weekday at 9", "every 30 minutes", "on the 1st of every month at noon". What has no schedule, or two, is answered with a sentence. Pure. */
import type { Schedule } from "../../../contracts/automation/job.ts";
import { showDuration } from "../../../kit/duration.ts";
import { readSpan } from "../relative.ts";
import { DAYS, LAST_DAY, dayNumber, monthNumber, WEEKDAYS, WEEKEND } from "./names.ts";

type WordsReading =
  | { readonly kind: "read"; readonly schedule: Pick<Schedule, "kind" | "expr"> }
  /** It says how often, but not so that it can be planned: `problem` says what to write. */
  | { readonly kind: "unclear"; readonly problem: string }
  /** Nothing in it says how often. It may still name one moment. */
  | { readonly kind: "not-repeated" };

const MAX_CHARS = 200;
const MINUTES = 60;
const HOURS = 24;
const NOON = 12;

export function readWords(given: string): WordsReading {
  const text = given.slice(0, MAX_CHARS).trim().toLowerCase().replace(/\s+/g, " ").replace(/\.$/, "");
  const often = readOften(text) ?? readInterval(text);
  if (often) return often;
  if (!REPEATS.test(text)) return { kind: "not-repeated" };
  const parts = splitTime(text);
  if (!parts) return unclear(`Say at what time: ${text} at 9:00.`);
  return readDated(parts.days, parts.time);
}

const REPEATS =
  /^(every|each|daily|weekly|monthly|yearly|hourly|weekdays?|weekends?|on (the|day|weekdays|weekends)\b|(on )?(sun|mon|tues|wednes|thurs|fri|satur)days|at .* (every|each|on) )/;

function cron(expr: string): WordsReading {
  return { kind: "read", schedule: { kind: "cron", expr } };
}

function unclear(problem: string): WordsReading {
  return { kind: "unclear", problem };
}

const NOT_EVEN = "does not come out even. Write an interval, such as: every 90 minutes.";

/** By the clock on the wall. */
function readOften(text: string): WordsReading | null {
  if (text === "hourly") return cron("0 * * * *");
  const minutes = /^every(?: (\d{1,2}))? minutes? on the clock$/.exec(text);
  if (minutes) {
    const step = Number(minutes[1] ?? 1);
    if (step < 1 || MINUTES % step !== 0) return unclear(`An hour divided by ${step} minutes ${NOT_EVEN}`);
    return cron(step === 1 ? "* * * * *" : step === MINUTES ? "0 * * * *" : `*/${step} * * * *`);
  }
  const hours = /^every(?: (\d{1,2}))? hours? (?:on the hour|at (\d{1,2}) minutes? past(?: the hour)?)$/.exec(text);
  if (!hours) return null;
  const step = Number(hours[1] ?? 1);
  const past = Number(hours[2] ?? 0);
  if (step < 1 || HOURS % step !== 0) return unclear(`A day divided by ${step} hours ${NOT_EVEN}`);
  if (past >= MINUTES) return unclear("An hour has 60 minutes: 0 to 59 past.");
  return cron(step === 1 ? `${past} * * * *` : step === HOURS ? `${past} 0 * * *` : `${past} */${step} * * *`);
}

/** Counted from when the job is made. A day or a week alone has a time of day, which is asked for. */
function readInterval(text: string): WordsReading | null {
  const rest = /^(?:every|each) (.+)$/.exec(text)?.[1];
  if (rest === undefined) return null;
  const ms = readSpan(/^(second|minute|hour)$/.test(rest) ? `1 ${rest}` : rest);
  return ms === null ? null : { kind: "read", schedule: { kind: "every", expr: showDuration(ms) } };
}

const CLOCK = String.raw`(?:\d{1,2}(?::\d\d)?(?: ?[ap]m)?|noon|midnight)`;
const TIMES = String.raw`${CLOCK}(?:(?:, and |, | and )${CLOCK})*`;
const TIME_LAST = new RegExp(String.raw`^(.+?),? (?:at )?(${TIMES})$`);
const TIME_FIRST = new RegExp(String.raw`^(?:at )?(${TIMES}),? ((?:every|each|on|daily|weekdays|weekends)\b.*)$`);

function splitTime(text: string): { readonly days: string; readonly time: string } | null {
  const first = TIME_FIRST.exec(text);
  if (first) return { days: first[2] ?? "", time: first[1] ?? "" };
  const last = TIME_LAST.exec(text);
  // "on day 15 of every month" ends with no time, and "every 24 december" begins with none
  return last ? { days: last[1] ?? "", time: last[2] ?? "" } : null;
}

function readDated(days: string, time: string): WordsReading {
  const evening = /\b(evening|afternoon)$/.test(days);
  const times = time.split(/, and |, | and /).map((one) => readClock(one, evening));
  if (times.includes(null)) return unclear(`"${time}" is not a time of day. Write 9:00, 17:30, 9am or noon.`);
  const minutes = new Set(times.map((one) => one?.minute));
  if (minutes.size > 1) return unclear("Times with different minutes need a job each, or a cron expression.");
  const hours = [...new Set(times.map((one) => one?.hour ?? 0))].toSorted((one, other) => one - other);
  const dated = readDays(days);
  if (dated === null)
    return unclear(
      `"${days}" cannot be planned in plain words. Write every day, every weekday, every Monday and Friday, on the 1st of every month, or a cron expression.`,
    );
  return cron(`${times[0]?.minute ?? 0} ${hours.join(",")} ${dated}`);
}

interface TimeOfDay {
  readonly hour: number;
  readonly minute: number;
}

/** A bare hour is one of 24; the list of the next times shows what was understood. */
function readClock(text: string, evening: boolean): TimeOfDay | null {
  if (text === "noon") return { hour: NOON, minute: 0 };
  if (text === "midnight") return { hour: 0, minute: 0 };
  const [, hours = "", minutes = "0", half] = /^(\d{1,2})(?::(\d\d))?(?: ?([ap]m))?$/.exec(text) ?? [];
  if (hours === "") return null;
  const count = Number(hours);
  const minute = Number(minutes);
  if (minute >= MINUTES || count >= HOURS || (half !== undefined && (count < 1 || count > NOON))) return null;
  if (half !== undefined) return { hour: (count % NOON) + (half === "pm" ? NOON : 0), minute };
  return { hour: evening && count < NOON ? count + NOON : count, minute };
}

/** The last three fields of a cron expression; null: not said in a way that is known. */
function readDays(text: string): string | null {
  if (/^(daily|(?:every|each) (?:day|morning|afternoon|evening))$/.test(text)) return "* * *";
  const plain = text.replace(/^(?:every|each|on) /, "").replace(/^every /, "");
  if (/^(?:weekdays?|work(?:ing )?days?)$/.test(plain)) return `* * ${WEEKDAYS}`;
  if (/^(?:weekends?|weekend days?)$/.test(plain)) return `* * ${WEEKEND}`;
  return readYear(plain) ?? readMonth(plain) ?? readWeek(plain);
}

function readWeek(plain: string): string | null {
  const names = plain.replace(/^(?:week|weekly) on /, "").replace(/^every /, "");
  const range = /^([a-z]+) ?(?:to|-|until|through) ?([a-z]+)$/.exec(names);
  if (range) {
    const from = dayNumber(range[1] ?? "");
    const to = dayNumber(range[2] ?? "");
    return from === null || to === null ? null : `* * ${dayRange(from, to)}`;
  }
  const days = names.split(/, and |, | and /).map(dayNumber);
  return days.includes(null) ? null : `* * ${days.join(",")}`;
}

/** A week may end in the middle: Saturday to Monday. */
function dayRange(from: number, to: number): string {
  const last = to === 0 ? DAYS.length : to;
  if (from <= last) return `${from}-${last}`;
  const count = to + DAYS.length - from + 1;
  return Array.from({ length: count }, (_, at) => (from + at) % DAYS.length).join(",");
}

const LAST_OF_MONTH = 31;

function readMonth(plain: string): string | null {
  const of =
    /^(?:the |day )(.+) of (?:every|each|the) month$/.exec(plain)?.[1] ??
    /^(?:month|monthly) on (?:the |day )?(.+)$/.exec(plain)?.[1];
  if (of === undefined) return null;
  if (/^last(?: day)?$/.test(of)) return `${LAST_DAY} * *`;
  const days = of
    .split(/, and |, | and /)
    .map((one) => Number(/^(?:the )?(\d{1,2})(?:st|nd|rd|th)?$/.exec(one)?.[1] ?? 0));
  return days.some((day) => day < 1 || day > LAST_OF_MONTH) ? null : `${days.join(",")} * *`;
}

function readYear(plain: string): string | null {
  const date = plain.replace(/^(?:year|yearly) on (?:the )?/, "");
  const [, day = "", name = ""] =
    /^(\d{1,2})(?:st|nd|rd|th)?(?: of)? ([a-z]+)$/.exec(date) ??
    reversed(/^([a-z]+) (\d{1,2})(?:st|nd|rd|th)?$/.exec(date));
  const month = monthNumber(name);
  const ofMonth = Number(day);
  return month === null || ofMonth < 1 || ofMonth > LAST_OF_MONTH ? null : `${ofMonth} ${month} *`;
}

/** "december 24" as "24 december". */
function reversed(match: RegExpExecArray | null): readonly string[] {
  return match ? [match[0], match[2] ?? "", match[1] ?? ""] : [];
}
