/** For `doctor`: is every configured bot known to Telegram, and set up for what the configuration wants of it? */
import type { TelegramConfig } from "../../config/index.ts";
import type { Clock } from "../../kit/clock.ts";
import { openBotApi } from "./api/bot-api.ts";
import { faultOf } from "./api/faults.ts";
import { type AccountSettings, accountsOf } from "./settings.ts";

export interface AccountCheck {
  readonly account: string;
  readonly state: "ok" | "warning" | "problem";
  readonly say: string;
}

/** Asks Telegram who each bot is. Changes nothing. */
export async function checkTelegram(
  deps: { readonly clock: Clock },
  config: TelegramConfig,
  signal: AbortSignal,
): Promise<readonly AccountCheck[]> {
  const accounts = accountsOf(config);
  if (config.enabled && accounts.length === 0 && Object.keys(config.accounts).length > 0)
    return [{ account: "", state: "problem", say: "No account of channels.telegram has a botToken." }];
  return Promise.all(accounts.map((settings) => checkAccount(deps, { settings, config }, signal)));
}

async function checkAccount(
  deps: { readonly clock: Clock },
  { settings, config }: { readonly settings: AccountSettings; readonly config: TelegramConfig },
  signal: AbortSignal,
): Promise<AccountCheck> {
  const { account, mode, webhookUrl } = settings;
  const result = (state: AccountCheck["state"], say: string): AccountCheck => ({ account, state, say });
  if (mode === "webhook" && webhookUrl === null)
    return result("problem", "mode is webhook, but channels.telegram.webhookUrl does not say where Telegram can call.");
  try {
    const me = await (await openBotApi(deps, settings)).me(signal);
    const own = config.accounts[account];
    const readsAll = (own?.requireMention ?? config.requireMention) === false;
    if (readsAll && !me.can_read_all_group_messages)
      return result(
        "warning",
        `@${me.username} answers, but its privacy mode is on: in groups it sees only what mentions it. Send /setprivacy to @BotFather, or set requireMention to true.`,
      );
    const open = (own?.dmPolicy ?? config.dmPolicy) === "open" && !(own?.allowFrom ?? config.allowFrom).includes("*");
    if (open)
      return result(
        "warning",
        `@${me.username} answers. dmPolicy is open, but only with "*" in allowFrom everybody is let in.`,
      );
    return result("ok", `@${me.username} answers.`);
  } catch (error) {
    const { info, message } = faultOf(error);
    if (info.kind === "unauthorized")
      return result("problem", "Telegram does not know this bot token. Copy it again from @BotFather.");
    return result("problem", `Telegram cannot be reached (${message}).`);
  }
}
