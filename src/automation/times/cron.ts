/**
 * Cron expressions by croner, with the rule about clock changes that croner and Vixie cron share: an expression that names one time of day
 * runs once that day, at the first moment after a gap it falls into and the first time round when the hour comes twice; any other runs
 * whenever the clock on the wall fits.
 */
import type { Cron } from "croner";

type CronReading = { readonly ok: true; readonly cron: Cron } | { readonly ok: false; readonly problem: string };

export interface CronReader {
  read(expr: string, timezone: string): CronReading;
}

/** Reading costs more than asking, so what was read is kept. */
const MAX_KEPT = 512;
/** Names of the six fields, in the order in which croner counts them. */
const FIELDS = ["second", "minute", "hour", "day of month", "month", "day of week"];

export function createCronReader(): CronReader {
  const kept = new Map<string, Cron>();
  return {
    read(expr, timezone) {
      const key = `${timezone}\n${expr}`;
      const known = kept.get(key);
      if (known) return { ok: true, cron: known };
      const reading = readCron(expr, timezone);
      if (!reading.ok) return reading;
      if (kept.size >= MAX_KEPT) kept.clear();
      kept.set(key, reading.cron);
      return reading;
    },
  };
}

function readCron(expr: string, timezone: string): CronReading {
  const fields = expr.split(/\s+/).filter((field) => field !== "");
  if (!expr.startsWith("@") && (fields.length < 5 || fields.length > 6)) {
    const say = `A cron expression has 5 fields (minute, hour, day, month, weekday), or 6 with seconds first; this has ${fields.length}.`;
    return { ok: false, problem: say };
  }
  try {
    const { Cron } = require("croner") as typeof import("croner"); // with the first cron job: it would lengthen every start
    const cron = new Cron(expr, { timezone, mode: "5-or-6-parts", paused: true });
    if (cron.nextRun(new Date(0)) === null) return { ok: false, problem: `No date ever fits "${expr}".` };
    return { ok: true, cron };
  } catch (error) {
    return { ok: false, problem: explain(expr, error, fields.length) };
  }
}

/** croner's own words, with the field by its name instead of its number. */
function explain(expr: string, error: unknown, count: number): string {
  const message = error instanceof Error ? error.message.replace(/^CronPattern: /, "") : "it could not be read";
  const named = message.replace(/configuration entry (\d+)/, (_, place: string) => {
    const field = FIELDS[Number(place) - 1 + (count === 5 ? 1 : 0)];
    return field ?? `field ${place}`;
  });
  return `"${expr}" is not a cron expression: ${named.charAt(0).toLowerCase()}${named.slice(1).replace(/\.$/, "")}.`;
}
