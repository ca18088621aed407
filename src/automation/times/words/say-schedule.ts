/** When a job runs, in plain words that `read-words.ts` reads back. A cron expression that no such sentence fits is null, and is never said in nearly the right words. Pure. */
import type { Schedule } from "../../../contracts/automation/job.ts";
import { DAYS, LAST_DAY, MONTHS, WEEKDAYS, WEEKEND } from "./names.ts";

const UNITS: Readonly<Record<string, string>> = { s: "second", m: "minute", h: "hour", d: "day", w: "week" };
const NICKNAMES: Readonly<Record<string, string>> = {
  "@yearly": "0 0 1 1 *",
  "@annually": "0 0 1 1 *",
  "@monthly": "0 0 1 * *",
  "@weekly": "0 0 * * 0",
  "@daily": "0 0 * * *",
  "@midnight": "0 0 * * *",
  "@hourly": "0 * * * *",
};
const MINUTES = 60;
const HOURS = 24;

/** Without the time zone. */
export function sayWhen({ kind, expr }: Pick<Schedule, "kind" | "expr">): string | null {
  if (kind === "at") return "once";
  return kind === "every" ? sayInterval(expr) : sayCron(expr);
}

function sayInterval(expr: string): string | null {
  const parts = [...expr.replace(/\s+/g, "").matchAll(/(\d+)([smhdw])/g)];
  if (parts.length === 0) return null;
  const words = parts.map(([, count = "", unit = ""]) => counted(Number(count), UNITS[unit] ?? unit));
  return `every ${parts.length === 1 ? words[0]?.replace(/^1 /, "") : words.join(" ")}`;
}

function counted(count: number, unit: string): string {
  return `${count} ${unit}${count === 1 ? "" : "s"}`;
}

export interface CronFields {
  readonly minute: string;
  readonly hour: string;
  readonly day: string;
  readonly month: string;
  readonly weekday: string;
}

function sayCron(expr: string): string | null {
  const fields = fieldsOf(expr);
  if (!fields) return null;
  const { minute, hour, day, month, weekday } = fields;
  if (day === "*" && month === "*" && weekday === "*") {
    const often = sayOften(minute, hour);
    if (often !== null) return often;
  }
  const days = sayDays(fields);
  const times = sayTimes(minute, hour);
  return days === null || times === null ? null : `${days} at ${times}`;
}

/** Five fields with numbers for names; six when the first says the full minute. Null: anything else. */
export function fieldsOf(expr: string): CronFields | null {
  const text = NICKNAMES[expr.trim().toLowerCase()] ?? expr.trim();
  const all = text.split(/\s+/);
  const parts = all.length === 6 && all[0] === "0" ? all.slice(1) : all;
  if (parts.length !== 5) return null;
  const [minute = "", hour = "", day = "", month = "", weekday = ""] = parts;
  return {
    minute,
    hour,
    day: day === "?" ? "*" : day.toUpperCase(),
    month: numbered(month, MONTHS, 1),
    weekday: sundaysAsZero(numbered(weekday === "?" ? "*" : weekday, DAYS, 0)),
  };
}

/** `MON-FRI` is `1-5`. */
function numbered(field: string, names: readonly string[], first: number): string {
  return field.replace(/[a-z]{3}/gi, (word) => {
    const at = names.findIndex((name) => name.toLowerCase().startsWith(word.toLowerCase()));
    return at === -1 ? word : String(at + first);
  });
}

/** 7 is a Sunday too. As the end of a range it stays: `5-7` goes from Friday to Sunday. */
function sundaysAsZero(field: string): string {
  return field.replace(/(?<=^|,)7(?=$|,)/g, "0");
}

/** Several times an hour, or every few hours. Only steps that divide the hour or the day: any other begins anew with each of them, and is no interval. */
function sayOften(minute: string, hour: string): string | null {
  if (hour === "*" && minute === "*") return "every minute on the clock";
  const minutes = stepOf(minute, MINUTES);
  if (hour === "*" && minutes !== null) return `every ${counted(minutes, "minute")} on the clock`;
  const past = numberOf(minute, MINUTES);
  if (past === null) return null;
  const when = past === 0 ? "on the hour" : `at ${counted(past, "minute")} past`;
  const hours = stepOf(hour, HOURS);
  if (hour === "*") return `every hour ${when}`;
  return hours === null ? null : `every ${counted(hours, "hour")} ${when}`;
}

function stepOf(field: string, whole: number): number | null {
  const step = Number(/^\*\/(\d{1,2})$/.exec(field)?.[1] ?? 0);
  return step > 1 && step < whole && whole % step === 0 ? step : null;
}

function sayTimes(minute: string, hour: string): string | null {
  const minutes = numberOf(minute, MINUTES);
  const hours = hour.split(",").map((one) => numberOf(one, HOURS));
  if (minutes === null || hours.length === 0 || hours.includes(null)) return null;
  return joined(hours.map((one) => `${two(one ?? 0)}:${two(minutes)}`));
}

function sayDays({ day, month, weekday }: CronFields): string | null {
  if (day === "*") return month === "*" ? sayWeekdays(weekday) : null;
  if (weekday !== "*") return null; // croner joins the two with or, which reads like and
  if (month === "*") return sayDayOfMonth(day);
  const ofMonth = numberOf(day, 32);
  const name = MONTHS[(numberOf(month, 13) ?? 0) - 1];
  return ofMonth === null || ofMonth === 0 || name === undefined ? null : `every year on ${ofMonth} ${name}`;
}

function sayDayOfMonth(day: string): string | null {
  if (day === LAST_DAY) return "on the last day of every month";
  const numbers = day.split(",").map((one) => numberOf(one, 32));
  if (numbers.some((one) => one === null || one === 0)) return null;
  return `on the ${joined(numbers.map((one) => ordinal(one ?? 0)))} of every month`;
}

function sayWeekdays(field: string): string | null {
  if (field === "*" || field === "0-6" || field === "1-7") return "every day";
  if (field === WEEKDAYS) return "every weekday";
  if (field === WEEKEND || field === "6,0" || field === "6-7") return "every weekend day";
  const range = /^([0-6])-([0-7])$/.exec(field);
  if (range) return `every ${dayName(range[1])} to ${dayName(range[2])}`;
  if (!/^[0-6](,[0-6])*$/.test(field)) return null;
  return `every ${joined(field.split(",").map(dayName))}`;
}

function dayName(number: string | undefined): string {
  return DAYS[Number(number) % DAYS.length] ?? "";
}

/** Null: it is no number below `end`. */
function numberOf(text: string, end: number): number | null {
  const number = /^\d{1,2}$/.test(text) ? Number(text) : end;
  return number < end ? number : null;
}

function two(number: number): string {
  return String(number).padStart(2, "0");
}

function ordinal(number: number): string {
  const teen = number >= 11 && number <= 13;
  const ending = teen ? "th" : (["th", "st", "nd", "rd"][number % 10] ?? "th");
  return `${number}${ending}`;
}

function joined(words: readonly string[]): string {
  return words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`;
}
