/**
 * A browser for tests of notifications. Its service worker, and the way a push message reaches it, are the real ones. The browser that tests
 * run in has neither a push service nor a place to show notifications, so two parts stand in for those: what subscribes in the window, and what shows
 * and closes notifications in the worker.
 */
import type { CDPSession, Page, Worker } from "playwright-core";
import type { PushNotice } from "../src/contracts/notifications.ts";
import { waitFor } from "../src/testing/wait-for.ts";

interface ShownNotification {
  readonly title: string;
  readonly body: string;
  readonly tag: string;
  readonly actions: readonly { readonly action: string; readonly title: string }[];
}

/** What a page sees of the browser's maker: permission, and a subscription that a test's push service gave out. */
export interface StandIns {
  readonly permission: "granted" | "denied";
  readonly subscription?: {
    readonly endpoint: string;
    readonly keys: { readonly p256dh: string; readonly auth: string };
  };
  /** Other properties of the window, by their names. */
  readonly more?: Readonly<Record<string, unknown>>;
}

/** Runs before the first line of the web console. */
export function standIns({ permission, subscription, more = {} }: StandIns): string {
  return `
    Object.defineProperty(Notification, "permission", { get: () => ${JSON.stringify(permission)} });
    Notification.requestPermission = async () => ${JSON.stringify(permission)};
    for (const [name, value] of Object.entries(${JSON.stringify(more)})) Object.defineProperty(window, name, { get: () => value });
    const asked = ${JSON.stringify(subscription ?? null)};
    const kept = "test.subscribed";
    const made = () => ({
      toJSON: () => asked,
      options: { applicationServerKey: Uint8Array.from(atob(localStorage.getItem(kept).replaceAll("-", "+").replaceAll("_", "/")), (char) => char.charCodeAt(0)).buffer },
      unsubscribe: async () => (localStorage.removeItem(kept), true),
    });
    PushManager.prototype.getSubscription = async () => (localStorage.getItem(kept) === null ? null : made());
    PushManager.prototype.subscribe = async ({ applicationServerKey }) => {
      if (asked === null) throw new DOMException("Registration failed - push service error", "AbortError");
      localStorage.setItem(kept, applicationServerKey);
      return made();
    };
  `;
}

const SHOW = `
  self.shown = [];
  Object.defineProperty(self.registration, "showNotification", { value: async (title, { tag, body, actions, data }) => {
    self.shown = self.shown.filter((one) => one.tag !== tag);
    self.shown.push({ title, tag, body, actions, data });
  } });
`;

export interface WorkerStage {
  /** As the push service delivers it. */
  deliver(notice: PushNotice): Promise<void>;
  shown(): Promise<readonly ShownNotification[]>;
  /** Presses a button of the notification with this tag; an empty one taps the notification itself. Resolves when the worker has done all. */
  press(tag: string, action: string, again?: ShownNotification): Promise<void>;
}

/** The service worker that the page has registered. */
export async function workerStage(page: Page, origin: string): Promise<WorkerStage> {
  const worker: Worker = await waitFor(
    "the service worker",
    () => page.context().serviceWorkers()[0],
    (found) => found !== undefined,
  ).then((found) => found as Worker);
  await page.evaluate("navigator.serviceWorker.ready.then(() => true)");
  await worker.evaluate(SHOW);
  const session = await page.context().newCDPSession(page);
  const registrationId = await registrationOf(session);
  return {
    async deliver(notice) {
      await session.send("ServiceWorker.deliverPushMessage", { origin, registrationId, data: JSON.stringify(notice) });
      await waitFor(
        "the notification",
        () => worker.evaluate<readonly ShownNotification[]>("self.shown"),
        (shown) => shown.some(({ tag }) => tag === notice.tag),
      );
    },
    shown: () => worker.evaluate<readonly ShownNotification[]>("self.shown"),
    press: (tag, action, again) =>
      worker.evaluate(`(async () => {
        const shown = ${JSON.stringify(again ?? null)} ?? self.shown.find((one) => one.tag === ${JSON.stringify(tag)});
        const work = [];
        const close = () => (self.shown = self.shown.filter((one) => one !== shown));
        const event = Object.assign(new Event("notificationclick"), {
          action: ${JSON.stringify(action)},
          notification: { ...shown, close },
          waitUntil: (promise) => work.push(promise),
        });
        self.dispatchEvent(event);
        await Promise.all(work);
      })()`),
  };
}

async function registrationOf(session: CDPSession): Promise<string> {
  const known: string[] = [];
  session.on("ServiceWorker.workerRegistrationUpdated", ({ registrations }) => {
    for (const { registrationId, isDeleted } of registrations) if (!isDeleted) known.push(registrationId);
  });
  await session.send("ServiceWorker.enable");
  return waitFor(
    "the registration of the service worker",
    () => known.at(-1) ?? "",
    (id) => id !== "",
  );
}
