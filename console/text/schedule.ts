/** When a job runs, for people: the gateway's words, with the zone where it is another one than theirs. */
import type { Schedule } from "../../src/contracts/automation/job.ts";
import { dateText } from "./dates.ts";

/** `words` null: shown as it is written. `zone`: the person's own; a schedule in another one says so. */
export function scheduleText(
  { words, schedule: { kind, expr, timezone } }: { readonly words: string | null; readonly schedule: Schedule },
  zone: string,
): string {
  const where = timezone === undefined || timezone === zone || kind !== "cron" ? "" : `, ${timezone} time`;
  return `${words === null ? expr : `${words.charAt(0).toUpperCase()}${words.slice(1)}`}${where}`;
}

const SPANS = [
  [86_400_000, "d"],
  [3_600_000, "h"],
  [60_000, "m"],
  [1_000, "s"],
] as const;

/** As settings and forms write a length of time: 600000 is "10m". */
export function spanText(ms: number): string {
  const [size, unit] = SPANS.find(([size]) => ms % size === 0) ?? [1, "ms"];
  return `${ms / size}${unit}`;
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
  return dateText(at, "moment");
}
