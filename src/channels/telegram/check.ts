/** For `doctor`: is every configured bot known to Telegram, and set up for what the configuration wants of it? */
import type { TelegramConfig } from "../../config/index.ts";
import type { Clock } from "../../kit/clock.ts";
import { type BotApi, openBotApi } from "./api/bot-api.ts";
import { faultOf } from "./api/faults.ts";
import { type AccountSettings, accountsOf } from "./settings.ts";

interface AccountCheck {
  readonly account: string;
  readonly state: "ok" | "warning" | "problem";
  readonly say: string;
}

const PRIVACY =
  "Its privacy mode is on: in groups it sees only what mentions it. Send /setprivacy to @BotFather, or set requireMention to true.";
const NOT_OPEN =
  'dmPolicy is open, but only "*" in allowFrom gives everybody access. Add that, or choose another policy.';
/** More are not looked at. */
const MAX_GROUPS = 20;

/** Asks Telegram who each bot is, and how it stands in the groups that the configuration names. Changes nothing. */
export async function checkTelegram(
  deps: { readonly clock: Clock },
  config: TelegramConfig,
  signal: AbortSignal,
): Promise<readonly AccountCheck[]> {
  const accounts = accountsOf(config);
  const checked = await Promise.all(accounts.map((settings) => checkAccount(deps, { settings, config }, signal)));
  return [...checked, ...withoutToken(config, accounts)];
}

function withoutToken({ enabled, accounts }: TelegramConfig, open: readonly AccountSettings[]): AccountCheck[] {
  const wanted = enabled ? Object.entries(accounts).filter(([, own]) => own.enabled !== false) : [];
  return wanted
    .filter(([account]) => !open.some((one) => one.account === account))
    .map(([account]) => ({
      account,
      state: "problem",
      say: `It has no bot token. Put the one that @BotFather gives you into channels.telegram.accounts.${account}.botToken.`,
    }));
}

async function checkAccount(
  deps: { readonly clock: Clock },
  { settings, config }: { readonly settings: AccountSettings; readonly config: TelegramConfig },
  signal: AbortSignal,
): Promise<AccountCheck> {
  const { account, mode, webhookUrl } = settings;
  const result = (state: AccountCheck["state"], say: string): AccountCheck => ({ account, state, say });
  if (mode === "webhook" && webhookUrl === null)
    return result(
      "problem",
      "mode is webhook, but channels.telegram.webhookUrl does not say where Telegram can call. Say it, or set mode to polling.",
    );
  try {
    const api = await openBotApi(deps, settings);
    const me = await api.me(signal);
    const own = config.accounts[account];
    const readsAll = (own?.requireMention ?? config.requireMention) === false;
    const open = (own?.dmPolicy ?? config.dmPolicy) === "open" && !(own?.allowFrom ?? config.allowFrom).includes("*");
    const groups = Object.keys(own?.groups ?? config.groups).slice(0, MAX_GROUPS);
    const troubles = await Promise.all(groups.map((group) => groupTrouble(api, { group, bot: me.id }, signal)));
    const wrong = [
      readsAll && !me.can_read_all_group_messages ? PRIVACY : null,
      open ? NOT_OPEN : null,
      ...troubles,
    ].filter((one) => one !== null);
    return result(wrong.length > 0 ? "warning" : "ok", [`@${me.username} answers.`, ...wrong].join(" "));
  } catch (error) {
    const { info, message } = faultOf(error);
    if (info.kind === "unauthorized")
      return result("problem", "Telegram does not know this bot token. Copy it again from @BotFather.");
    return result("problem", `Telegram cannot be reached (${message}). Check the network, then try again.`);
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
