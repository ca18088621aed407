/** Browsers that get notifications, by the address that their push service gave them. */
import type { Principal } from "../ids.ts";

export interface PushSubscriptionStore {
  /**
   * A browser that is known by this endpoint keeps its id and gets the keys and the sign-in of now. Null: the person has `most` browsers
   * already, and nothing was stored.
   */
  put(subscription: NewPushSubscription, most: number): Promise<StoredPushSubscription | null>;
  /** Newest first; at most 200. */
  list(): Promise<readonly StoredPushSubscription[]>;
  find(id: string): Promise<StoredPushSubscription | null>;
  /** False: there is none with this id, any more. */
  remove(id: string, actor: string): Promise<boolean>;
  /** How the last notification went; `problem` null: its push service took it. */
  note(id: string, sent: { readonly at: number; readonly problem: string | null }): Promise<void>;
}

export interface NewPushSubscription {
  readonly id: string;
  /** Who is signed in there. */
  readonly principal: Principal;
  /** The digest of the cookie of that sign-in: when it ends, so do the notifications. */
  readonly signIn: string;
  /** An address of the browser's push service, which knows the browser by it. */
  readonly endpoint: string;
  /** The browser's public key, and a secret that it shares with us alone: what is sent can be read by nobody else. */
  readonly p256dh: string;
  readonly auth: string;
  /** For people: "Chrome on Android". */
  readonly browser: string;
  readonly createdAt: number;
}

export interface StoredPushSubscription extends NewPushSubscription {
  /** Null: nothing was sent yet. */
  readonly sentAt: number | null;
  /** Why the last notification was not taken; null: it was. */
  readonly problem: string | null;
}
