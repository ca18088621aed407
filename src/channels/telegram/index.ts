/**
 * Telegram: bots over long polling or webhook. `createTelegram` makes the platform from its configuration; `checkTelegram` asks Telegram
 * about the configured bots, for `doctor`. The library behind it is loaded when a bot is opened or asked about, not before.
 */
export { checkTelegram } from "./check.ts";
export { createTelegram } from "./plugin.ts";
