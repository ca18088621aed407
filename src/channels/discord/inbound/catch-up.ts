/** What was said in a channel since it was last read, oldest first. Bounded: yesterday's questions are not answered today. */
import type { API } from "@discordjs/core";
import type { Clock } from "../../../kit/clock.ts";
import type { Log } from "../../../kit/log.ts";
import { failureOf } from "../outbound/failure.ts";
import { isNewer, snowflakeAt, snowflakeTime } from "../settings.ts";
import type { KnownChannel, Seen } from "./seen.ts";
import type { SaidMessage } from "./translate.ts";

interface CatchUpDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly api: API;
  readonly seen: Pick<Seen, "last" | "forget">;
}

const PAGE = 100;
const MAX_PAGES = 5;
const MAX_AGE_MS = 24 * 3_600_000;
/** Messages can be told out of order: a little of what was read already is read again, and recognised. */
const OVERLAP_MS = 30_000;
const MAX_TRIES = 12;
const FIRST_PAUSE_MS = 1_000;
const MAX_PAUSE_MS = 60_000;

export async function catchUp(
  deps: CatchUpDeps,
  channel: KnownChannel,
  take: (message: SaidMessage) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  const last = await deps.seen.last(channel.id);
  if (last === null) return;
  const now = deps.clock.now();
  let after = snowflakeAt(Math.max(snowflakeTime(last) - OVERLAP_MS, now - MAX_AGE_MS));
  for (let page = 0; page < MAX_PAGES && !signal.aborted; page++) {
    const found = await readPage(deps, channel.id, after, signal);
    if (found === null) return;
    for (const message of found) {
      await take(message);
      if (isNewer(message.id, after)) after = message.id;
    }
    if (found.length < PAGE) return;
  }
  if (!signal.aborted) deps.log.warn("more was said while away than is fetched", { chat: channel.id });
}

/** Oldest first. Null: the channel cannot be read any more, or not now. */
async function readPage(
  { api, clock, log, seen }: CatchUpDeps,
  channel: string,
  after: string,
  signal: AbortSignal,
): Promise<readonly SaidMessage[] | null> {
  let pauseMs = FIRST_PAUSE_MS;
  for (let tries = 1; tries <= MAX_TRIES && !signal.aborted; tries++) {
    try {
      const found = await api.channels.getMessages(channel, { after, limit: PAGE }, { signal });
      return found.toSorted((a, b) => (isNewer(a.id, b.id) ? 1 : -1));
    } catch (error) {
      if (signal.aborted) return null;
      const failure = failureOf(error);
      if (failure.kind === "refused") {
        log.info("channel cannot be read any more", { chat: channel, code: failure.code });
        await seen.forget(channel);
        return null;
      }
      const waitMs = failure.kind === "limited" ? failure.retryAfterMs : pauseMs;
      await clock.sleep(waitMs, signal).catch(() => undefined); // closing is the normal end
      pauseMs = Math.min(pauseMs * 2, MAX_PAUSE_MS);
    }
  }
  if (!signal.aborted) log.warn("missed messages could not be fetched", { chat: channel });
  return null;
}
