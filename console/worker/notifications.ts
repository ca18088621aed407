/** What a notification shows and offers, and what is said after a decision in one. Pure. */
import type { NotificationChoice, PushNotice } from "../../src/contracts/notifications.ts";
import type { ShownOptions } from "./worker-scope.ts";

const NAMES: Readonly<Record<NotificationChoice, string>> = { once: "Allow", deny: "Deny" };
const CHOICES: readonly NotificationChoice[] = ["once", "deny"];
const LOOK = { icon: "/icons/icon-192.png", badge: "/icons/badge-96.png" } as const;

/** Null: it is not one of ours, or of a version that this worker does not know. */
export function readNotice(value: unknown): PushNotice | null {
  if (typeof value !== "object" || value === null) return null;
  const { title, body, tag, view } = value as Partial<Record<keyof PushNotice, unknown>>;
  const isNotice = [title, body, tag, view].every((text) => typeof text === "string");
  return isNotice ? (value as PushNotice) : null;
}

/** An approval stays until somebody decides. */
export function optionsOf(notice: PushNotice): ShownOptions {
  const { body, tag, approval } = notice;
  const choices = CHOICES.filter((choice) => approval?.tokens[choice] !== undefined);
  return {
    ...LOOK,
    body,
    tag,
    renotify: true,
    requireInteraction: approval !== undefined,
    actions: choices.map((action) => ({ action, title: NAMES[action] })),
    data: notice,
  };
}

/** The choice of a button with its token; null: the notification itself was tapped, or the button is not one of ours. */
export function choiceOf(notice: PushNotice, action: string): { decision: NotificationChoice; token: string } | null {
  const decision = CHOICES.find((choice) => choice === action);
  const token = decision && notice.approval?.tokens[decision];
  return decision && token !== undefined ? { decision, token } : null;
}

const DECIDED: Readonly<Record<NotificationChoice, string>> = { once: "Allowed", deny: "Denied" };
const UNAUTHORIZED = 401;
const NOT_FOUND = 404;

/** What a person is told about a decision, by the status of the gateway's answer; 0: it did not answer. `again`: the same buttons are offered once more. */
export function afterDecision(
  notice: PushNotice,
  decision: NotificationChoice,
  status: number,
): { readonly title: string; readonly body: string; readonly again: boolean } {
  const about = notice.title;
  if (status >= 200 && status < 300) return { title: DECIDED[decision], body: about, again: false };
  if (status === NOT_FOUND)
    return {
      title: about,
      body: "It does not wait any more: somebody has decided, or its time is over.",
      again: false,
    };
  if (status === UNAUTHORIZED)
    return {
      title: about,
      body: "This browser is signed out. Open the web console to sign in and decide.",
      again: false,
    };
  if (status === 0 || status >= 500)
    return {
      title: about,
      body: `The gateway did not answer. Nothing was decided: try again.\n${notice.body}`,
      again: true,
    };
  return { title: about, body: "The decision was not taken. Open the Inbox to decide.", again: false };
}

/** The address of the Inbox at what the notification is about. */
export function addressOf({ view, approval }: PushNotice): string {
  return `/#${view}${approval ? `/${approval.id}` : ""}`;
}
