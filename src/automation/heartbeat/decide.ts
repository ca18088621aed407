/** Whether a heartbeat runs now: a pure decision with reasons. Every one costs tokens, so most reasons are reasons not to. */

export interface HeartbeatFacts {
  readonly enabled: boolean;
  /** Minutes of the day where the owner lives. */
  readonly minuteOfDay: number;
  readonly activeHours: { readonly start?: string; readonly end?: string };
  readonly skipWhenBusy: boolean;
  readonly busy: boolean;
  /** Null: there is no such file. */
  readonly checklist: string | null;
  /** System events that wait in the main session. */
  readonly events: number;
  /** Since somebody last said something; null: nobody ever has. */
  readonly idleMs: number | null;
  /** In a row, and of the kind that does not get better by itself. */
  readonly refusals: number;
  /** There is no money for it. */
  readonly unpaid: boolean;
}

export type HeartbeatDecision =
  /** `main`: there is something to tell there. `isolated`: in a fresh session, which costs little. */
  | { readonly run: true; readonly in: "main" | "isolated" }
  | { readonly run: false; readonly because: "off" | "hours" | "refused" | "idle" | "busy" | "empty" | "budget" };

/** After this long without a message nobody is there to read it. */
export const IDLE_LIMIT_MS = 3 * 86_400_000;
/** A wrong key, an unpaid bill: asking again every half hour helps nobody. */
export const MAX_REFUSALS = 3;
const DAY_MINUTES = 24 * 60;

export function decideHeartbeat(facts: HeartbeatFacts): HeartbeatDecision {
  if (!facts.enabled) return { run: false, because: "off" };
  if (!isActive(facts.minuteOfDay, facts.activeHours)) return { run: false, because: "hours" };
  if (facts.refusals >= MAX_REFUSALS) return { run: false, because: "refused" };
  if (facts.idleMs === null || facts.idleMs > IDLE_LIMIT_MS) return { run: false, because: "idle" };
  if (facts.skipWhenBusy && facts.busy) return { run: false, because: "busy" };
  if (facts.unpaid) return { run: false, because: "budget" };
  if (facts.events > 0) return { run: true, in: "main" };
  if (facts.checklist !== null && isEmptyChecklist(facts.checklist)) return { run: false, because: "empty" };
  return { run: true, in: "isolated" };
}

/** From start up to end, over midnight when end is the earlier one. */
export function isActive(minute: number, { start, end }: HeartbeatFacts["activeHours"]): boolean {
  const from = minutesOf(start ?? "00:00");
  const to = minutesOf(end ?? "24:00");
  if (from === to) return true;
  return from < to ? minute >= from && minute < to : minute >= from || minute < to;
}

function minutesOf(time: string): number {
  const [hours = 0, minutes = 0] = time.split(":").map(Number);
  return (hours * 60 + minutes) % (DAY_MINUTES + 1);
}

/** Blank lines, headings, comments, fences and boxes without words are no work. */
export function isEmptyChecklist(text: string): boolean {
  const tasks = text
    .replaceAll(/<!--[^]*?(?:-->|$)/g, "")
    .split("\n")
    .filter((line) => !/^\s*(?:#{1,6}(?:\s.*)?|`{3,}.*|~{3,}.*|[-*+]?\s*(?:\[[ xX]?\])?|[-*_\s]{3,})\s*$/.test(line));
  return tasks.length === 0;
}

export function minuteOfDay(now: number, timezone: string): number {
  const parts = new Intl.DateTimeFormat("en-GB", {
    timeZone: timezone,
    hour: "2-digit",
    minute: "2-digit",
    hourCycle: "h23",
  }).formatToParts(now);
  const of = (type: "hour" | "minute"): number => Number(parts.find((part) => part.type === type)?.value ?? 0);
  return of("hour") * 60 + of("minute");
}
