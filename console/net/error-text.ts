/** Reasons in words a person can act on. The gateway's own sentence is used where there is nothing better to add. */
import { dateText } from "../text/dates.ts";
import { Refusal } from "./connection.ts";

export function whyNotSent(error: unknown): string {
  if (!(error instanceof Refusal)) return error instanceof Error ? error.message : "The message could not be sent.";
  switch (error.error.code) {
    case "queue_full":
      return `Too many messages are waiting. Try again ${inTime(error.error.retryAfterMs)}.`;
    case "too_large":
      return `${error.error.message} Shorten it, or send it in parts.`;
    default:
      return error.error.message;
  }
}

/** Null when the gateway has done what was asked; otherwise its reason. */
export async function whyNot(asking: Promise<unknown>): Promise<string | null> {
  try {
    await asking;
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : "The gateway did not answer. Try again.";
  }
}

function inTime(ms: number | undefined): string {
  return ms === undefined ? "in a moment" : `in ${duration(ms)}`;
}

export function duration(ms: number): string {
  const seconds = Math.max(1, Math.ceil(ms / 1_000));
  if (seconds < 60) return seconds === 1 ? "1 second" : `${seconds} seconds`;
  const minutes = Math.ceil(seconds / 60);
  if (minutes < 120) return counted(minutes, "minute");
  const [days, hours, rest] = [Math.floor(minutes / 1_440), Math.floor(minutes / 60) % 24, minutes % 60];
  return [counted(days, "day"), counted(hours, "hour"), counted(rest, "minute")].filter(Boolean).join(" ");
}

/** Empty for none. */
function counted(count: number, unit: string): string {
  return count === 0 ? "" : `${count} ${unit}${count === 1 ? "" : "s"}`;
}

/** How long something took: `12 ms`, `1.4 s`, `2 min`. */
export function took(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`;
  return `${Math.round(ms / 60_000)} min`;
}

/** How long ago, in as few letters as a list has room for. */
export function ago(at: number, now: number): string {
  const minutes = Math.floor((now - at) / 60_000);
  if (minutes < 1) return "now";
  if (minutes < 60) return `${minutes} min`;
  if (minutes < 24 * 60) return `${Math.floor(minutes / 60)} h`;
  if (minutes < 7 * 24 * 60) return `${Math.floor(minutes / (24 * 60))} d`;
  return dateText(at, "day");
}

/** The time of day, and before today the day as well. */
export function clockText(at: number, now: number): string {
  const when = new Date(at);
  const time = dateText(at, "time");
  if (when.toDateString() === new Date(now).toDateString()) return time;
  const sameYear = when.getFullYear() === new Date(now).getFullYear();
  const day = dateText(at, sameYear ? "day" : "dayAndYear");
  return `${day}, ${time}`;
}
