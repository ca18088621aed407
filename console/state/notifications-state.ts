/**
 * Notifications in this browser: whether it can have them, switching them on and off, and the list of browsers that get them. Loaded by the
 * views that show it, and by the start of a browser that has them.
 */
import { signal } from "@preact/signals";
import type { HttpApi } from "../../src/contracts/http-api.ts";
import { deleteJson, readJson, sendJson } from "../net/api.ts";
import { keep, NOTIFIED_KEY } from "./kept.ts";
import { browserName } from "./browser-name.ts";

type Listed = HttpApi["GET /api/notifications"]["result"];

/** Null: not read yet. */
export const notified = signal<Listed | null | "failed">(null);

/** Why this browser cannot have notifications, as sentences for a person; null: it can. */
export function whyNot(): string | null {
  if (!isSecureContext)
    return "Browsers allow notifications only over https, or on this machine itself. Open the web console by an https address: the documentation says how.";
  if (!("serviceWorker" in navigator && "PushManager" in window && "Notification" in window))
    return isIos()
      ? "On an iPhone or iPad, add the web console to the home screen first (Share, then Add to Home Screen), open it there, and switch notifications on."
      : "This browser has no notifications by Web Push. A newer one, or another one, does.";
  if (Notification.permission === "denied")
    return "This browser was told not to show notifications of this page. Allow them in its settings for this page, then reload.";
  return null;
}

function isIos(): boolean {
  return (
    /iPhone|iPad|iPod/.test(navigator.userAgent) ||
    (navigator.userAgent.includes("Macintosh") && navigator.maxTouchPoints > 1)
  );
}

export async function readNotified(): Promise<void> {
  const answer = await readJson<Listed>("/api/notifications");
  if (answer.ok) notified.value = answer.value;
  else if (notified.value === null) notified.value = "failed";
}

/** Null when it is done, otherwise why not. */
export async function switchOn(): Promise<string | null> {
  const permission = await Notification.requestPermission();
  if (permission !== "granted") return whyNot() ?? "The browser was not allowed to show notifications.";
  const problem = await subscribe();
  if (problem === null) keep(NOTIFIED_KEY, "1", "browser");
  await readNotified();
  return problem;
}

export async function switchOff(): Promise<string | null> {
  keep(NOTIFIED_KEY, "", "browser");
  const registration = await navigator.serviceWorker.getRegistration("/");
  const subscription = await registration?.pushManager.getSubscription();
  await subscription?.unsubscribe();
  await readNotified();
  const own = notified.value === null || notified.value === "failed" ? [] : notified.value.items;
  const ended = await Promise.all(own.filter(({ current }) => current).map(({ id }) => remove(id)));
  return ended.find((problem) => problem !== null) ?? null;
}

export async function remove(id: string): Promise<string | null> {
  const answer = await deleteJson(`/api/notifications/${encodeURIComponent(id)}`);
  await readNotified();
  return answer.ok ? null : answer.error.message;
}

/** Sends a notification that says that it works. */
export async function test(id: string): Promise<{ readonly ok: boolean; readonly say: string }> {
  const path = `/api/notifications/${encodeURIComponent(id)}/test`;
  const answer = await sendJson<HttpApi["POST /api/notifications/:id/test"]["result"]>(
    "POST",
    path,
    {},
    TESTED_WITHIN_MS,
  );
  await readNotified();
  return answer.ok ? answer.value : { ok: false, say: answer.error.message };
}

/** A push service may not answer. */
const TESTED_WITHIN_MS = 30_000;

/** After another sign-in, or with another key of the gateway, the same browser goes on getting notifications. */
export async function renew(): Promise<void> {
  if (whyNot() !== null || Notification.permission !== "granted") return;
  await subscribe();
  if (notified.value !== null) await readNotified(); // somebody looks, and saw it as it was before
}

async function subscribe(): Promise<string | null> {
  const listed = await readJson<Listed>("/api/notifications");
  if (!listed.ok) return listed.error.message;
  try {
    const registration = await navigator.serviceWorker.register("/service-worker.js", { updateViaCache: "none" });
    await navigator.serviceWorker.ready;
    const { endpoint, keys } = (await subscriptionOf(registration, listed.value.publicKey)).toJSON();
    const body = { endpoint, keys, browser: browserName(navigator.userAgent) };
    const answer = await sendJson("POST", "/api/notifications", body);
    return answer.ok ? null : answer.error.message;
  } catch (error) {
    return `The browser could not subscribe: its push service is away, or it is switched off there. (${error instanceof Error ? error.message : String(error)})`;
  }
}

/** The one there is, unless it was made for another key. */
async function subscriptionOf(
  { pushManager }: ServiceWorkerRegistration,
  publicKey: string,
): Promise<PushSubscription> {
  const known = await pushManager.getSubscription();
  if (known && keyOf(known) === publicKey) return known;
  await known?.unsubscribe();
  return pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: publicKey });
}

function keyOf({ options }: PushSubscription): string {
  const bytes = new Uint8Array(options.applicationServerKey ?? new ArrayBuffer(0));
  return btoa(String.fromCharCode(...bytes))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "");
}
