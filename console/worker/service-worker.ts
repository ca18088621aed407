/**
 * The service worker of the web console: shows what the gateway pushes, and takes decisions back. It is registered when somebody switches
 * notifications on. It keeps nothing of what it gets, and holds no address but the gateway's own.
 */
import type { PushNotice } from "../../src/contracts/notifications.ts";
import { addressOf, afterDecision, choiceOf, optionsOf, readNotice } from "./notifications.ts";
import { offlinePage } from "./offline.ts";
import type { WorkerScope } from "./worker-scope.ts";

const worker = self as unknown as WorkerScope;
const SENT_WITHIN_MS = 15_000;

// A new version takes the place of the old one at once: nothing is kept that only one of them would understand.
worker.addEventListener("install", (event) => event.waitUntil(worker.skipWaiting()));
worker.addEventListener("activate", (event) => event.waitUntil(worker.clients.claim()));

worker.addEventListener("push", (event) => event.waitUntil(show(readNotice(event.data?.json()))));

worker.addEventListener("notificationclick", (event) => {
  const notice = readNotice(event.notification.data);
  event.notification.close();
  if (notice === null) return event.waitUntil(openConsole("/#/inbox"));
  const choice = choiceOf(notice, event.action);
  event.waitUntil(choice === null ? openConsole(addressOf(notice)) : decide(notice, choice));
});

/** The push service gave the browser another address. */
worker.addEventListener("pushsubscriptionchange", (event) => {
  const { newSubscription } = event;
  if (newSubscription) event.waitUntil(post("/api/notifications", newSubscription.toJSON()));
});

worker.addEventListener("fetch", (event) => {
  if (event.request.mode === "navigate") event.respondWith(fetch(event.request).catch(offlinePage));
});

/** A browser shows a notification for every message, so one that cannot be read is shown as well. */
async function show(notice: PushNotice | null): Promise<void> {
  const shown = notice ?? { title: "Something waits for you", body: "Open the Inbox.", tag: "unknown", view: "/inbox" };
  await worker.registration.showNotification(shown.title, optionsOf(shown));
}

type Choice = NonNullable<ReturnType<typeof choiceOf>>;

async function decide(notice: PushNotice, { decision, token }: Choice): Promise<void> {
  const approval = notice.approval?.id ?? "";
  const status = await post("/api/notifications/decision", { approval, decision, token });
  const { title, body, again } = afterDecision(notice, decision, status);
  const { approval: _decided, ...rest } = notice;
  const options = optionsOf({ ...(again ? notice : rest), title, body });
  await worker.registration.showNotification(title, { ...options, renotify: false, silent: true });
}

/** The status of the answer; 0: there was none. */
async function post(path: string, body: object): Promise<number> {
  const headers = { "content-type": "application/json", "x-pi-gateway": "1" };
  const signal = AbortSignal.timeout(SENT_WITHIN_MS);
  try {
    return (await fetch(path, { method: "POST", headers, body: JSON.stringify(body), signal })).status;
  } catch {
    return 0; // the network does not say more
  }
}

/** In a window that shows the web console already, or in a new one. */
async function openConsole(address: string): Promise<void> {
  const open = await worker.clients.matchAll({ type: "window", includeUncontrolled: true });
  const shown = open.find(({ url }) => new URL(url).pathname === "/");
  if (!shown) return void (await worker.clients.openWindow(address));
  const focused = await shown.focus().catch(() => shown); // one that may not come forward still shows it
  await focused.navigate(new URL(address, location.origin).href);
}
