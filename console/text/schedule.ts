/** When a job runs, in words; an expression that is too much for a sentence is shown as it is. */
import type { Schedule } from "../../src/contracts/automation/job.ts";

const UNITS: Readonly<Record<string, string>> = { s: "second", m: "minute", h: "hour", d: "day", w: "week" };
const DAYS = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];

/** `zone`: the person's own; a schedule in another one says so. */
export function scheduleText({ kind, expr, timezone }: Schedule, zone: string): string {
  const where = timezone === undefined || timezone === zone || kind === "every" ? "" : `, ${timezone} time`;
  if (kind === "every") return `Every ${interval(expr)}`;
  if (kind === "at") return "Once";
  return `${cronText(expr) ?? expr}${where}`;
}

function interval(expr: string): string {
  const parts = [...expr.matchAll(/(\d+)\s*([smhdw])/g)].map(([, count = "", unit = ""]) => counted(count, unit));
  return parts.length === 0
    ? expr
    : parts
        .join(" ")
        .replace(/^1 (?!.* )/, "")
        .replace(/^1 (\w+)$/, "$1");
}

function counted(count: string, unit: string): string {
  return `${Number(count)} ${UNITS[unit] ?? unit}${Number(count) === 1 ? "" : "s"}`;
}

/** Of five fields, the kinds people use; null: anything else. */
function cronText(expr: string): string | null {
  const fields = expr.trim().split(/\s+/);
  if (fields.length !== 5) return null;
  const [minute = "", hour = "", day = "", month = "", weekday = ""] = fields;
  if (month !== "*") return null;
  const days = daysOf(weekday);
  if (days === null) return null;
  if (day === "*" && hour === "*") return days === "" ? minutesOf(minute) : null;
  if (!isNumber(minute, 59) || !isNumber(hour, 23)) return null;
  const time = `${hour.padStart(2, "0")}:${minute.padStart(2, "0")}`;
  if (day !== "*") return isNumber(day, 31) && days === "" ? `On day ${Number(day)} of each month at ${time}` : null;
  return `${days === "" ? "Every day" : days} at ${time}`;
}

function minutesOf(minute: string): string | null {
  if (minute === "*") return "Every minute";
  const step = /^\*\/(\d{1,2})$/.exec(minute)?.[1];
  if (step !== undefined) return `Every ${counted(step, "m").replace(/^1 /, "")}`;
  if (!isNumber(minute, 59)) return null;
  return Number(minute) === 0 ? "Every hour" : `Every hour at ${minute.padStart(2, "0")} minutes past`;
}

/** Empty: every day. Null: not a plain list or range of days. */
function daysOf(field: string): string | null {
  if (field === "*") return "";
  if (field === "1-5") return "Monday to Friday";
  const range = /^([0-7])-([0-7])$/.exec(field);
  if (range) return `${DAYS[Number(range[1])]} to ${DAYS[Number(range[2])]}`;
  if (!/^[0-7](,[0-7])*$/.test(field)) return null;
  const names = field.split(",").map((one) => DAYS[Number(one)] ?? one);
  return names.length === 1 ? `Every ${names[0]}` : `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`;
}

function isNumber(text: string, max: number): boolean {
  return /^\d{1,2}$/.test(text) && Number(text) <= max;
}

/** How long until then: `in 5 min`, `in 3 h`, `in 2 d`; in the past: `now`. */
export function until(at: number, now: number): string {
  const minutes = Math.round((at - now) / 60_000);
  if (minutes < 1) return at <= now ? "now" : "in less than a minute";
  if (minutes < 60) return `in ${minutes} min`;
  if (minutes < 48 * 60) return `in ${Math.round(minutes / 60)} h`;
  return `in ${Math.round(minutes / (24 * 60))} d`;
}

/** A moment as the person's clock and calendar have it. */
export function moment(at: number): string {
  return new Date(at).toLocaleString(undefined, {
    weekday: "short",
    day: "numeric",
    month: "short",
    hour: "2-digit",
    minute: "2-digit",
  });
}
