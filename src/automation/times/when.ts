/**
 * A moment as people say it: "18:00", "tomorrow 9am", "monday at noon", "in half an hour". Read in a time zone and from a moment, so the same
 * text has the same answer. What has two meanings is refused with a sentence that says how to write it.
 */
import type { WhenReading } from "../../contracts/automation/when.ts";
import { readRelative, readSpan } from "./relative.ts";
import { fromLocal, toLocalTime } from "./zone.ts";

interface WhenContext {
  readonly now: number;
  readonly timezone: string;
}

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const MAX_CHARS = 100;
const WEEKDAYS = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"];
const SHORT = WEEKDAYS.map((name) => name.slice(0, 3));
const CLOCK =
  /(?:^|\s)(?:at\s+)?(?:(\d{1,2}):(\d\d)(?::(\d\d))?\s*(am|pm)?|(\d{1,2})\s*(am|pm)|(noon|midnight))(?=\s|$)/;
const BARE_HOUR = /(?:^|\s)(?:at\s+)?(\d{1,2})(?:\s*o'?clock)?$/;

/** Days to add to today, or why that is not clear. */
type Day = { readonly add: number; readonly fixed: boolean } | { readonly problem: string };

export function readWhen(text: string, { now, timezone }: WhenContext): WhenReading {
  const said = text.trim().toLowerCase().replaceAll(/\s+/g, " ").replaceAll(",", "");
  if (said.length > MAX_CHARS) return unclear(text);
  const span = readRelative(said) ?? readSpan(said);
  if (span !== null) return { kind: "moment", at: now + span };
  if (/\d[/.]\d/.test(said)) return no(`"${text}" can be two dates. Write the day as 2026-04-03.`);
  const clock = CLOCK.exec(said);
  const dayText = (clock ? said.replace(clock[0], " ") : said).trim().replace(/^on /, "");
  const today = toLocalTime(now, timezone);
  const midnight = today - (((today % DAY_MS) + DAY_MS) % DAY_MS);
  if (!clock) return withoutTime(text, dayText, { midnight, now, timezone });
  const minutes = minutesOf(clock);
  if (minutes === null) return no(`There is no ${clock[0].trim()}: look at the time.`);
  if (dayText === "") {
    const at = fromLocal(midnight + minutes * MINUTE_MS, timezone);
    return { kind: "moment", at: at > now ? at : fromLocal(midnight + DAY_MS + minutes * MINUTE_MS, timezone) };
  }
  if (clock[7] === "midnight") return no(`"${text}" can be two midnights. Write the day and 00:00.`);
  const day = dayOf(text, dayText, midnight);
  if (day === null) return unclear(text);
  if ("problem" in day) return no(day.problem);
  const at = fromLocal(midnight + day.add * DAY_MS + minutes * MINUTE_MS, timezone);
  if (at > now) return { kind: "moment", at };
  if (!day.fixed) return { kind: "moment", at: fromLocal(midnight + 7 * DAY_MS + minutes * MINUTE_MS, timezone) };
  return no(`${text} has passed already. Choose a moment in the future.`);
}

interface Today extends WhenContext {
  readonly midnight: number;
}

/** A day alone is enough for a date, and too little for a moment. */
function withoutTime(text: string, dayText: string, { midnight }: Today): WhenReading {
  const [, hour] = BARE_HOUR.exec(dayText) ?? [];
  if (hour !== undefined)
    return Number(hour) <= 24
      ? no(
          `"${text}" can be in the morning or in the evening. Write ${hour}am, ${hour}pm or ${hour.padStart(2, "0")}:00.`,
        )
      : unclear(text);
  const day = dayOf(text, dayText, midnight);
  if (day === null) return unclear(text);
  if ("problem" in day) return no(day.problem);
  const date = new Date(midnight + day.add * DAY_MS).toISOString().slice(0, "2026-01-31".length);
  return { kind: "day", date, problem: `${text} says no time of day. Add one, such as ${text} 9am.` };
}

function dayOf(text: string, dayText: string, midnight: number): Day | null {
  if (dayText === "today") return { add: 0, fixed: true };
  if (dayText === "tomorrow") return { add: 1, fixed: true };
  if (dayText === "day after tomorrow" || dayText === "the day after tomorrow") return { add: 2, fixed: true };
  const [, year, month, day] = /^(\d{4})-(\d\d)-(\d\d)$/.exec(dayText) ?? [];
  if (year !== undefined) return dateOf(text, [Number(year), Number(month), Number(day)], midnight);
  const [, next, name = ""] = /^(next |this )?([a-z]+)$/.exec(dayText) ?? [];
  const weekday = Math.max(WEEKDAYS.indexOf(name), SHORT.indexOf(name));
  if (weekday === -1) return null;
  const add = (weekday - new Date(midnight).getUTCDay() + 7) % 7;
  if (next === "next ") return { problem: `"${text}" can be this week's or next week's. Write ${name}, or the date.` };
  return { add, fixed: false };
}

function dateOf(text: string, [year, month, day]: readonly [number, number, number], midnight: number): Day {
  const at = Date.UTC(year, month - 1, day);
  const real = new Date(at);
  if (real.getUTCMonth() !== month - 1 || real.getUTCDate() !== day)
    return { problem: `There is no such day as in "${text}".` };
  return { add: Math.round((at - midnight) / DAY_MS), fixed: true };
}

/** Minutes of the day, seconds as a fraction; null: there is no such time. */
function minutesOf(clock: RegExpExecArray): number | null {
  const [, hours, minutes, seconds, half, hour, hourHalf, name] = clock;
  if (name !== undefined) return name === "noon" ? 12 * 60 : 0;
  const meridiem = half ?? hourHalf;
  let count = Number(hours ?? hour);
  if (meridiem !== undefined) {
    if (count < 1 || count > 12) return null;
    count = (count % 12) + (meridiem === "pm" ? 12 : 0);
  }
  const [minute, second] = [Number(minutes ?? 0), Number(seconds ?? 0)];
  if (count > 23 || minute > 59 || second > 59) return null;
  return count * 60 + minute + second / 60;
}

function no(problem: string): WhenReading {
  return { kind: "unclear", problem };
}

function unclear(text: string): WhenReading {
  return no(
    `"${text.slice(0, MAX_CHARS)}" is not a moment. Write 18:00, tomorrow 9am, in 20m, or 2026-05-01T09:00:00Z.`,
  );
}
