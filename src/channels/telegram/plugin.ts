/** The Telegram platform: opens every configured bot, each token once. */
import type { TelegramConfig } from "../../config/index.ts";
import type { OpenChannel, Platform } from "../../contracts/channels/platform.ts";
import { CHANNEL, openAccount } from "./account.ts";
import { type AccountSettings, accountsOf } from "./settings.ts";

export function createTelegram(config: TelegramConfig): Platform {
  return {
    id: CHANNEL,
    async open(deps) {
      const taken = new Map<string, string>();
      const open: OpenChannel[] = [];
      try {
        for (const settings of accountsOf(config)) {
          const token = settings.token.reveal();
          const first = taken.get(token);
          taken.set(token, first ?? settings.account);
          open.push(first === undefined ? await openAccount(deps, settings) : closedAccount(settings, first));
        }
      } catch (error) {
        // all of them are opened again: one that stayed would take the messages of its successor
        await Promise.allSettled(open.map((one) => one[Symbol.asyncDispose]()));
        throw error;
      }
      return open;
    },
  };
}

/** Two pollers with one token would take each other's messages. */
function closedAccount({ account }: AccountSettings, first: string): OpenChannel {
  return {
    id: CHANNEL,
    account,
    canRefuse: false,
    repeat: "risky",
    send: () => Promise.reject(new Error("this account is not connected")),
    ready: () => false,
    health: () => ({ ok: false, detail: `It has the same bot token as the account ${first}. Give each its own bot.` }),
    async [Symbol.asyncDispose]() {},
  };
}
