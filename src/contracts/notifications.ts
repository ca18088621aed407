/** Notifications in browsers (Web Push): which browsers get them, and approvals that are decided in one. */
import type { Approvals } from "./tools/approval.ts";
import type { Principal } from "./ids.ts";
import type { StoredPushSubscription } from "./store/push-subscriptions.ts";

export interface Notifications {
  isEnabled(): boolean;
  /** With this a browser asks its push service for an address: nobody else's messages are taken there. */
  readonly publicKey: string;
  list(): Promise<readonly StoredPushSubscription[]>;
  /** Throws `invalid_params` for an address that is never called, `conflict` when the person has as many browsers as can be. */
  subscribe(asked: AskedSubscription, by: BrowserSignIn): Promise<StoredPushSubscription>;
  /** False: there is none with this id. */
  remove(id: string, by: Principal): Promise<boolean>;
  /** Sends one notification that says that it works. Throws `not_found`. */
  test(id: string, signal: AbortSignal): Promise<PushOutcome>;
  /** Goes the way of every decision. `not_allowed`: the token is not the one of this call, browser and decision, or the person is no owner. */
  decide(asked: DecisionInNotification, by: BrowserSignIn): ReturnType<Approvals["decide"]>;
}

/** What a browser says about itself. */
interface AskedSubscription {
  readonly endpoint: string;
  readonly p256dh: string;
  readonly auth: string;
  /** For people: "Chrome on Android". */
  readonly browser: string;
}

/** Who asks, and by which sign-in: the digest of its cookie. */
export interface BrowserSignIn {
  readonly principal: Principal;
  readonly signIn: string;
}

/** An answer for the whole session is not given in a notification. */
export type NotificationChoice = "once" | "deny";

interface DecisionInNotification {
  readonly approval: string;
  readonly decision: NotificationChoice;
  /** Came with the notification. */
  readonly token: string;
}

/** `gone`: the browser does not want notifications any more. `again`: the same may work a little later. */
export type PushOutcome =
  | { readonly kind: "sent" }
  | { readonly kind: "gone" }
  | {
      readonly kind: "failed";
      readonly because: string;
      readonly again: boolean;
      readonly retryAfterMs?: number;
    };

/** What the service worker of a browser gets, and shows. */
export interface PushNotice {
  readonly title: string;
  readonly body: string;
  /** A later notification with the same tag takes the place of this one. */
  readonly tag: string;
  /** Where a tap leads in the web console: the part of its address after `#`. */
  readonly view: string;
  /** Of an approval: what can be decided at once, each with its token. */
  readonly approval?: {
    readonly id: string;
    readonly tokens: Readonly<Partial<Record<NotificationChoice, string>>>;
  };
}
