/** The configuration → one set of settings for each bot. What a bot does not say holds from above. */
import type { TelegramConfig } from "../../config/index.ts";
import type { Secret } from "../../kit/secret.ts";
import type { StreamMode } from "../kit/index.ts";

export interface AccountSettings {
  readonly account: string;
  readonly token: Secret;
  readonly apiRoot: string;
  readonly mode: "polling" | "webhook";
  readonly webhookUrl: string | null;
  readonly webhookSecret: Secret | null;
  readonly streamMode: StreamMode;
  readonly mediaMaxMb: number;
  readonly ackReaction: string;
}

const DEFAULT_ACCOUNT = "default";

export function accountsOf(config: TelegramConfig): readonly AccountSettings[] {
  if (!config.enabled) return [];
  const named = Object.entries(config.accounts).filter(([, own]) => own.enabled !== false);
  const single: [string, TelegramConfig["accounts"][string]] = [DEFAULT_ACCOUNT, {}];
  const all = config.botToken && !Object.hasOwn(config.accounts, DEFAULT_ACCOUNT) ? [single, ...named] : named;
  return all.flatMap(([account, own]) => {
    const token = own.botToken ?? (account === DEFAULT_ACCOUNT ? config.botToken : undefined);
    if (!token) return [];
    return [
      {
        account,
        token,
        apiRoot: config.apiRoot,
        mode: own.mode ?? config.mode,
        webhookUrl: config.webhookUrl ?? null,
        webhookSecret: own.webhookSecret ?? config.webhookSecret ?? null,
        streamMode: own.streamMode ?? config.streamMode,
        mediaMaxMb: own.mediaMaxMb ?? config.mediaMaxMb,
        ackReaction: own.ackReaction ?? config.ackReaction,
      },
    ];
  });
}
