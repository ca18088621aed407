/** For `doctor`: is every configured bot known to Telegram, and set up for what the configuration wants of it? */
import type { TelegramConfig } from "../../config/index.ts";
import type { Clock } from "../../kit/clock.ts";
import { type BotApi, openBotApi } from "./api/bot-api.ts";
import { faultOf } from "./api/faults.ts";
import { type AccountSettings, accountsOf } from "./settings.ts";

export interface AccountCheck {
  readonly account: string;
  readonly state: "ok" | "warning" | "problem";
  readonly say: string;
}

/** More are not looked at. */
const MAX_GROUPS = 20;

/** Asks Telegram who each bot is, and how it stands in the groups that the configuration names. Changes nothing. */
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
    const api = await openBotApi(deps, settings);
    const me = await api.me(signal);
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
    const groups = Object.keys(own?.groups ?? config.groups).slice(0, MAX_GROUPS);
    const troubles = await Promise.all(groups.map((group) => groupTrouble(api, { group, bot: me.id }, signal)));
    const wrong = troubles.filter((one) => one !== null);
    if (wrong.length > 0) return result("warning", `@${me.username} answers. ${wrong.join(" ")}`);
    return result("ok", `@${me.username} answers.`);
  } catch (error) {
    const { info, message } = faultOf(error);
    if (info.kind === "unauthorized")
      return result("problem", "Telegram does not know this bot token. Copy it again from @BotFather.");
    return result("problem", `Telegram cannot be reached (${message}).`);
  }
}

interface Standing {
  readonly group: string;
  readonly bot: number;
}

/** Null: it may speak there. */
async function groupTrouble(api: BotApi, { group, bot }: Standing, signal: AbortSignal): Promise<string | null> {
  const outside = `It is not in the group ${group}: add it there, or take that out of channels.telegram.groups.`;
  try {
    const member = await api.call("getChatMember", { chat_id: group, user_id: bot }, signal);
    if (member.status === "left" || member.status === "kicked") return outside;
    const silent = member.status === "restricted" && !member.can_send_messages;
    return silent ? `In the group ${group} it may not write: change its permissions there.` : null;
  } catch (error) {
    const { info } = faultOf(error);
    if (info.kind !== "refused") return null; // how things are with the network was asked before
    return info.movedTo === undefined ? outside : null; // it goes on under its first number
  }
}
