/** Webhook instead of polling: tells Telegram where to call and with which secret, and looks now and then whether it still can be reached. */
import type { Webhook } from "../../contracts/channels/platform.ts";
import type { Clock } from "../../kit/clock.ts";
import type { Ids } from "../../kit/ids.ts";
import type { Log } from "../../kit/log.ts";
import type { BotApi } from "./api/bot-api.ts";
import { faultOf } from "./api/faults.ts";
import type { AccountState } from "../kit/index.ts";
import { ALLOWED_UPDATES } from "./inbound/poller.ts";
import { createWebhook } from "./inbound/webhook.ts";
import type { Link } from "./link.ts";
import type { AccountSettings } from "./settings.ts";

const SECRET = "webhook-secret";
const SECRET_BYTES = 32;
const LOOK_MS = 60_000;
const RETRY_MS = 10_000;

/** The secret is the configured one, or one that is made once and kept. Without one there is no webhook. */
export async function webhookOf(
  deps: { readonly ids: Ids; readonly log: Log; readonly facts: AccountState } & Pick<
    Parameters<typeof createWebhook>[0],
    "take"
  >,
  settings: AccountSettings,
): Promise<Webhook> {
  const secret = await secretOf(deps, settings);
  return createWebhook(deps, { path: `/telegram/${settings.account}`, hosts: hostsOf(settings), secret });
}

/** Telegram calls the address it was told: the name in it needs no setting of its own. */
function hostsOf({ webhookUrl }: Pick<AccountSettings, "webhookUrl">): readonly string[] {
  return webhookUrl !== null && URL.canParse(webhookUrl) ? [new URL(webhookUrl).host] : [];
}

async function secretOf(
  { ids, facts }: { readonly ids: Ids; readonly facts: AccountState },
  { webhookSecret }: Pick<AccountSettings, "webhookSecret">,
): Promise<string> {
  if (webhookSecret) return webhookSecret.reveal();
  const kept = await facts.get(SECRET);
  if (kept !== null) return kept;
  const made = ids.secret(SECRET_BYTES);
  await facts.put(SECRET, made);
  return made;
}

export async function serveWebhook(
  deps: {
    readonly clock: Clock;
    readonly ids: Ids;
    readonly api: BotApi;
    readonly facts: AccountState;
    readonly link: Link;
  },
  { settings, webhook }: { readonly settings: AccountSettings; readonly webhook: Webhook },
  signal: AbortSignal,
): Promise<void> {
  const { api, clock, link } = deps;
  const base = settings.webhookUrl?.replace(/\/+$/, "");
  if (base === undefined)
    return link.note("channels.telegram.webhookUrl is missing: Telegram cannot be told where to call.");
  let told = false;
  while (!signal.aborted) {
    let pauseMs = LOOK_MS;
    try {
      if (told) await api.me(signal);
      else {
        const secret_token = await secretOf(deps, settings);
        const url = `${base}${webhook.path}`;
        await api.call("setWebhook", { url, secret_token, allowed_updates: [...ALLOWED_UPDATES] }, signal);
        told = true;
      }
      link.up();
    } catch (error) {
      if (signal.aborted) return;
      link.down(faultOf(error));
      pauseMs = RETRY_MS;
    }
    await clock.sleep(pauseMs, signal).catch(() => undefined); // stopping is the normal end
  }
}
