/** The routes of notifications, a part of `HttpApi`. Types only. */
import type { NotificationChoice } from "./notifications.ts";
import type { StoredPushSubscription } from "./store/push-subscriptions.ts";

export interface NotificationsApi {
  /** `publicKey`: what a browser subscribes with. */
  "GET /api/notifications": {
    result: { enabled: boolean; publicKey: string; items: readonly NotifiedBrowser[] };
  };
  /** Of the browser that asks, which has to be signed in; as its `PushSubscription` says it. `browser`: a name for people. */
  "POST /api/notifications": {
    body: { endpoint: string; keys: { p256dh: string; auth: string }; browser?: string };
    result: { browser: NotifiedBrowser };
  };
  /** An approval is decided in a notification, with the token that came with it. */
  "POST /api/notifications/decision": {
    body: { approval: string; decision: NotificationChoice; token: string };
    result: { decision: NotificationChoice };
  };
  "POST /api/notifications/:id/test": { path: { id: string }; result: { ok: boolean; say: string } };
  "DELETE /api/notifications/:id": { path: { id: string }; result: { removed: true } };
}

/** A browser that gets notifications. `problem`: why the last one did not reach its push service. `current`: it is the one that asks. */
export interface NotifiedBrowser extends Pick<
  StoredPushSubscription,
  "id" | "browser" | "createdAt" | "sentAt" | "problem"
> {
  readonly current: boolean;
}
