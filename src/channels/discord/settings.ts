/** What the Discord channel is told by the configuration, and the names and limits all of its parts share. */
import type { Secret } from "../../kit/secret.ts";
import type { StreamMode } from "../kit/index.ts";

export interface DiscordSettings {
  readonly token: Secret;
  /** Where the API is; left out: Discord. */
  readonly apiRoot?: string;
  /** Left out: Discord says it after signing in. */
  readonly applicationId?: string;
  /** Hex. With it, interactions are also taken from `POST /discord/interactions`. */
  readonly publicKey?: string;
  readonly streamMode: StreamMode;
  /** Largest file that is taken in or sent, in MiB. */
  readonly mediaMaxMb: number;
}

export const CHANNEL = "discord";
/** There is one bot; its name in addresses. */
export const ACCOUNT = "default";
export const DEFAULT_API_ROOT = "https://discord.com/api";
export const WEBHOOK_PATH = "/discord/interactions";

const SNOWFLAKE = /^\d{17,20}$/;
const DISCORD_EPOCH_MS = 1_420_070_400_000;
const TIME_SHIFT = 22n;

/** Discord's ids: numbers beyond what a number holds, so they stay text. */
export function isSnowflake(text: string): boolean {
  return SNOWFLAKE.test(text);
}

/** When whatever has this id was made. */
export function snowflakeTime(id: string): number {
  return Number(BigInt(id) >> TIME_SHIFT) + DISCORD_EPOCH_MS;
}

/** The smallest id of that moment. */
export function snowflakeAt(ms: number): string {
  return String(BigInt(Math.max(0, Math.floor(ms) - DISCORD_EPOCH_MS)) << TIME_SHIFT);
}

export function isNewer(id: string, than: string): boolean {
  return BigInt(id) > BigInt(than);
}
