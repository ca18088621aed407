/** Notifications in browsers: subscriptions, what they are told, and decisions that come back. */
export { pushKeysOf } from "./keys.ts";
export { createPushSender } from "./sender.ts";
export { createNotifications } from "./subscriptions.ts";
export { startNotifier } from "./notifier.ts";
