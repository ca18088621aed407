/** How long a provider asks to wait, from the headers of a refusal. Pure. What says nothing is null, and what is absurd is bounded. */

/** A longer time is told as this one: nobody waits for it, and it stays a date that can be written down. */
export const MAX_ASKED_MS = 31 * 86_400_000;

const FIRST_REFUSAL = 400;

interface Refusal {
  readonly status: number;
  readonly headers: Pick<Headers, "get">;
}

export function askedWaitMs({ status, headers }: Refusal, now: number): number | null {
  if (status < FIRST_REFUSAL) return null;
  const exact = numberIn(headers.get("retry-after-ms"));
  const waitMs = exact ?? retryAfterMs(headers, now);
  return waitMs === null || !(waitMs > 0) ? null : Math.min(Math.ceil(waitMs), MAX_ASKED_MS);
}

/** Seconds, or a date. The date counts from what the provider's own clock says, when it tells. */
function retryAfterMs(headers: Refusal["headers"], now: number): number | null {
  const value = headers.get("retry-after");
  const seconds = numberIn(value);
  if (seconds !== null) return seconds * 1_000;
  const until = dateIn(value);
  return until === null ? null : until - (dateIn(headers.get("date")) ?? now);
}

function numberIn(value: string | null): number | null {
  return value !== null && /^\s*\d+(\.\d+)?\s*$/.test(value) ? Number(value) : null;
}

/** As HTTP writes dates, with the name of a month: `Date.parse` makes a date of many other things too. */
function dateIn(value: string | null): number | null {
  const at =
    value !== null && /\b(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)/i.test(value) ? Date.parse(value) : NaN;
  return Number.isNaN(at) ? null : at;
}
