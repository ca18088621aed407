/**
 * Asks Telegram for updates. Chats are taken in beside each other, each in its order; the offset moves only over what is stored. Trouble is
 * answered with a growing pause; a conflict also with a look at who holds the bot now.
 */
import type { Update } from "grammy/types";
import { chanceOf } from "../../../kit/chance.ts";
import type { Clock } from "../../../kit/clock.ts";
import { deferred } from "../../../kit/deferred.ts";
import type { Ids } from "../../../kit/ids.ts";
import type { Log } from "../../../kit/log.ts";
import { untilDone } from "../../../kit/until-done.ts";
import type { BotApi } from "../api/bot-api.ts";
import { Fault, faultOf } from "../api/faults.ts";
import { type AccountState, createLanes } from "../../kit/index.ts";
import type { Link } from "../link.ts";
import { createUpdateWindow, type UpdateWindow } from "./window.ts";

export interface PollerDeps {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  readonly api: BotApi;
  readonly facts: AccountState;
  readonly link: Link;
  /** False: it was not stored. */
  take(update: Update, signal: AbortSignal): Promise<boolean>;
}

export const ALLOWED_UPDATES = ["message", "edited_message", "callback_query", "message_reaction"] as const;
const POLL_S = 30;
/** A poll that has not ended by then never will. */
const POLL_MS = POLL_S * 1_000 + 15_000;
const BATCH_MAX = 100;
/** While something is not stored the same updates would come back at once. */
const BUSY_PAUSE_MS = 500;
const FIRST_PAUSE_MS = 1_000;
const MAX_PAUSE_MS = 60_000;
/** Before an update is offered to our own store again, which minds it less than Telegram does. */
const MAX_STORE_PAUSE_MS = 5_000;
const CONFLICT_PAUSE_MS = 5_000;
const STOOD_DOWN_MS = 60_000;
const GOODBYE_MS = 2_000;
const JITTER_SHARE = 0.3;
const OFFSET = "offset";
const HOLDER = "poller";

/** Runs until the signal aborts; resolves when nothing of it is under way. */
export async function pollUpdates(deps: PollerDeps, signal: AbortSignal): Promise<void> {
  const { link, clock } = deps;
  const holder = deps.ids.next("poller");
  const begun = await untilDone({ clock, failed: cannotBegin(deps) }, () => begin(deps, holder), signal);
  if (!begun) return;
  const { confirmed } = begun;
  const lanes = createIntakeLanes(deps, createUpdateWindow(confirmed), signal);
  let failures = 0;
  let asked = false;
  let noted = confirmed;
  while (!signal.aborted) {
    try {
      if (!asked) await deps.api.call("deleteWebhook", { drop_pending_updates: false }, signal);
      const updates = await askOnce(
        deps,
        { offset: asked ? lanes.offset() : null, busy: lanes.open > 0 || failures > 0 },
        signal,
      );
      asked = true;
      failures = 0;
      link.up();
      lanes.add(updates);
      if (lanes.open > 0) await lanes.moved(BUSY_PAUSE_MS);
      if (lanes.offset() !== noted) noted = await noteOffset(deps, lanes.offset());
    } catch (error) {
      if (signal.aborted) break;
      link.down(faultOf(error));
      const pauseMs = (await mayGoOn(deps, error, holder)) ? pauseOf(error, ++failures, deps.ids) : STOOD_DOWN_MS;
      await clock.sleep(pauseMs, signal).catch(() => undefined); // stopping is the normal end
    }
  }
  await lanes.settled();
  await goodbye(deps, { holder, offset: asked ? lanes.offset() : null });
}

/** Where the process before stopped. The newest poller polls; an older one stands down when it is in the way. */
async function begin({ facts }: PollerDeps, holder: string): Promise<{ readonly confirmed: number | null }> {
  const confirmed = Number(await facts.get(OFFSET)) || null;
  await facts.put(HOLDER, holder);
  return { confirmed };
}

function cannotBegin({ link, log }: PollerDeps) {
  return (error: unknown, nextTryInMs: number): void => {
    log.error("poller could not begin", { nextTryInMs, error });
    link.note("what was stored about this bot cannot be read; it is tried again");
  };
}

interface Ask {
  readonly offset: number | null;
  /** Something waits here, or the last one failed: an answer is wanted at once. */
  readonly busy: boolean;
}

async function askOnce({ api }: PollerDeps, { offset, busy }: Ask, signal: AbortSignal): Promise<readonly Update[]> {
  const request = {
    ...(offset === null ? {} : { offset }),
    limit: BATCH_MAX,
    timeout: busy ? 0 : POLL_S,
    allowed_updates: [...ALLOWED_UPDATES],
  };
  return api.slowCall("getUpdates", request, signal, POLL_MS);
}

/** For the next process: what was taken in and answered need not be looked at again. */
async function noteOffset({ facts, log }: PollerDeps, offset: number | null): Promise<number | null> {
  if (offset === null) return null;
  try {
    await facts.put(OFFSET, String(offset));
    return offset;
  } catch (error) {
    log.warn("offset not noted", { error }); // stored messages are recognised without it
    return null;
  }
}

/** False: a newer poller of this bot has taken over, and this one would only be in its way. */
async function mayGoOn({ facts, link, log }: PollerDeps, error: unknown, holder: string): Promise<boolean> {
  if (!(error instanceof Fault) || error.info.kind !== "conflict") return true;
  const now = await facts.get(HOLDER).catch(() => holder); // the store has a problem: that is told elsewhere
  if (now === null)
    await facts.put(HOLDER, holder).catch((caught: unknown) => log.warn("poller not noted", { error: caught })); // it polls all the same
  if (now === null || now === holder) return true;
  link.note("another part of this gateway polls for this bot now");
  log.warn("poller stood down");
  return false;
}

function pauseOf(error: unknown, failures: number, ids: Ids): number {
  const { info } = faultOf(error);
  if (info.kind === "limited") return info.retryAfterMs;
  if (info.kind === "unauthorized") return MAX_PAUSE_MS;
  const first = info.kind === "conflict" ? CONFLICT_PAUSE_MS : FIRST_PAUSE_MS;
  const pauseMs = Math.min(first * 2 ** Math.min(failures - 1, 10), MAX_PAUSE_MS);
  return Math.round(pauseMs * (1 - JITTER_SHARE * chanceOf(ids)));
}

/** Tells Telegram what was stored last, so that it need not bring it again. */
async function goodbye(
  { api, facts, clock, log }: PollerDeps,
  { holder, offset }: { readonly holder: string; readonly offset: number | null },
): Promise<void> {
  try {
    if ((await facts.get(HOLDER)) !== holder) return;
    await facts.forget(HOLDER);
    if (offset === null) return;
    using limit = clock.deadline(GOODBYE_MS, () => new Error("no time left"));
    await api.call("getUpdates", { offset, limit: 1, timeout: 0 }, limit.signal);
  } catch (error) {
    log.debug("the last offset was not confirmed", { error }); // it is confirmed, or its updates recognised, by the next process
  }
}

interface IntakeLanes {
  readonly open: number;
  offset(): number | null;
  add(updates: readonly Update[]): void;
  /** Resolves when one more is stored, or after `ms`. */
  moved(ms: number): Promise<void>;
  settled(): Promise<void>;
}

function createIntakeLanes(deps: PollerDeps, window: UpdateWindow, signal: AbortSignal): IntakeLanes {
  const chats = createLanes({ onFailed: (error) => deps.log.error("chat of Telegram stopped", { error }) });
  let movement = deferred<void>();

  const untilStored = async (update: Update): Promise<void> => {
    for (let failures = 1; !signal.aborted; failures++) {
      const stored = await deps.take(update, signal).catch((error: unknown) => {
        if (!signal.aborted) deps.log.error("update not stored yet", { updateId: update.update_id, error });
        return false;
      });
      if (stored) {
        window.settle(update.update_id);
        movement.resolve();
        movement = deferred();
        return;
      }
      const pauseMs = Math.min(pauseOf(null, failures, deps.ids), MAX_STORE_PAUSE_MS);
      await deps.clock.sleep(pauseMs, signal).catch(() => undefined); // stopping is the normal end
    }
  };

  return {
    get open() {
      return window.open;
    },
    offset: () => window.offset(),
    add(updates) {
      for (const update of updates.toSorted((a, b) => a.update_id - b.update_id)) {
        if (window.begin(update.update_id)) chats.add(laneOf(update), () => untilStored(update));
      }
    },
    async moved(ms) {
      const over = new AbortController();
      await Promise.race([
        movement.promise,
        deps.clock.sleep(ms, AbortSignal.any([signal, over.signal])).catch(() => undefined), // either way we look again
      ]);
      over.abort();
    },
    settled: chats.settled,
  };
}

/** What one person or chat says stays in order; that a group has moved comes before what is said where it is now. */
function laneOf(update: Update): string {
  const message = update.message ?? update.edited_message ?? update.callback_query?.message;
  if (update.message?.migrate_to_chat_id !== undefined) return String(update.message.migrate_to_chat_id);
  return String(message?.chat.id ?? update.callback_query?.from.id ?? "");
}
