/**
 * Tells browsers what waits for a person, as it begins to wait. Each browser has a lane of its own, so that one whose push service hangs holds
 * up nobody else. Nothing is stored: what a restart loses is in the Inbox. A browser that is signed out is told nothing, and forgotten.
 */
import type { Events } from "../contracts/events.ts";
import type { PushNotice, BrowserSignIn } from "../contracts/notifications.ts";
import type { PushSubscriptionStore, StoredPushSubscription } from "../contracts/store/push-subscriptions.ts";
import { background } from "../kit/background.ts";
import type { Clock } from "../kit/clock.ts";
import type { Log } from "../kit/log.ts";
import type { PushSender, SentNotice } from "./sender.ts";
import { type News, type NewsSources, watchNews } from "./news.ts";

interface NotifierDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly events: Pick<Events, "on">;
  readonly send: PushSender;
  readonly store: Pick<PushSubscriptionStore, "list" | "remove" | "note">;
  readonly sources: NewsSources;
  isEnabled(): boolean;
  /** Whether this sign-in of a browser holds now. */
  isSignedIn(signIn: string): Promise<boolean>;
}

const RETRY_MS = [1_000, 10_000, 60_000] as const;
/** A pause that a push service asks for is kept up to this; then the notification is left out. */
const MAX_PAUSE_MS = 5 * 60_000;
/** Of one browser. More at once are of use to nobody. */
export const MAX_WAITING = 20;
/** Of all browsers together, in a minute. */
export const MAX_PER_MINUTE = 30;
const MINUTE_MS = 60_000;
const GATEWAY = "gateway";

export function startNotifier(deps: NotifierDeps): AsyncDisposable {
  const { clock, log, store } = deps;
  const stopping = new AbortController();
  const lanes = createLanes((error) => {
    if (!stopping.signal.aborted) log.error("notification was not sent", { error });
  });
  const mayTell = createMinuteLimit(clock);
  const tell = async (news: News): Promise<void> => {
    if (!deps.isEnabled()) return;
    const browsers = await store.list();
    if (browsers.length === 0) return;
    if (!mayTell()) {
      log.warn("notification left out: too many in a minute", { tag: news.tag });
      return;
    }
    for (const to of browsers) {
      if (!(await deps.isSignedIn(to.signIn))) {
        await store.remove(to.id, GATEWAY);
        continue;
      }
      const begun = lanes.add(to.id, () => deliver(deps, to, news, stopping.signal));
      if (!begun) log.warn("notification left out: too many wait for this browser", { subscriptionId: to.id });
    }
  };
  const watching = watchNews(deps, (news) => background(log, "notification was not sent", () => tell(news)));
  return {
    async [Symbol.asyncDispose]() {
      watching[Symbol.dispose]();
      stopping.abort(new Error("the gateway stops"));
      await lanes.ended();
    },
  };
}

/** Tries until it is taken, is over, or cannot be. Rejects only when the gateway stops or the store fails. */
async function deliver(
  { clock, log, send, store }: NotifierDeps,
  to: StoredPushSubscription,
  news: News,
  signal: AbortSignal,
): Promise<void> {
  for (const pauseMs of [...RETRY_MS, null]) {
    if (!news.isOpen() || clock.now() >= news.expiresAt) return;
    const outcome = await send(to, sentOf(news, to), signal);
    const subscriptionId = to.id;
    if (outcome.kind === "gone") {
      await store.remove(to.id, GATEWAY);
      log.info("browser gets no more notifications: its push service does not know it any more", { subscriptionId });
      return;
    }
    if (outcome.kind === "sent") {
      await store.note(to.id, { at: clock.now(), problem: null });
      return;
    }
    const waitMs = outcome.retryAfterMs ?? pauseMs ?? 0;
    if (!outcome.again || pauseMs === null || waitMs > MAX_PAUSE_MS) {
      await store.note(to.id, { at: clock.now(), problem: outcome.because });
      log.warn("notification not taken", { subscriptionId, tag: news.tag, because: outcome.because });
      return;
    }
    await clock.sleep(waitMs, signal);
  }
}

function sentOf({ noticeFor, urgency, expiresAt }: News, { principal, signIn }: BrowserSignIn): SentNotice {
  const notice: PushNotice = noticeFor({ principal, signIn });
  return { notice, urgency, expiresAt };
}

interface Lanes {
  /** False: too many wait there. */
  add(id: string, run: () => Promise<void>): boolean;
  ended(): Promise<void>;
}

/** One after the other for each browser. */
function createLanes(failed: (error: unknown) => void): Lanes {
  const lanes = new Map<string, { waiting: number; tail: Promise<void> }>();
  return {
    add(id, run) {
      const lane = lanes.get(id) ?? { waiting: 0, tail: Promise.resolve() };
      if (lane.waiting >= MAX_WAITING) return false;
      lanes.set(id, lane);
      lane.waiting++;
      lane.tail = lane.tail
        .then(run)
        .catch(failed)
        .finally(() => {
          lane.waiting--;
          if (lane.waiting === 0) lanes.delete(id);
        });
      return true;
    },
    ended: async () => void (await Promise.all([...lanes.values()].map(({ tail }) => tail))),
  };
}

function createMinuteLimit(clock: Clock): () => boolean {
  let times: readonly number[] = [];
  return () => {
    const now = clock.elapsed();
    times = times.filter((at) => now - at < MINUTE_MS);
    if (times.length >= MAX_PER_MINUTE) return false;
    times = [...times, now];
    return true;
  };
}
