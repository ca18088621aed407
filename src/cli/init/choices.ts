/** What a new gateway shall have: a model, a channel, an owner. Flags say it for scripts. Refuses flags that contradict each other. */
import { GatewayError } from "../../contracts/errors.ts";
import type { ChannelWish, ModelWish, SetupWishes } from "../../contracts/setup.ts";
import { type Secret, secret } from "../../kit/secret.ts";
import { readSmall } from "../state-directory.ts";
import type { CommonFlags } from "../world.ts";

export interface InitFlags extends CommonFlags {
  readonly config?: string;
  readonly demo?: boolean;
  readonly provider?: string;
  readonly endpoint?: string;
  readonly piLogin?: string;
  readonly keyFile?: string;
  readonly model?: string;
  readonly telegramTokenFile?: string;
  readonly discordTokenFile?: string;
  readonly owner?: readonly string[];
  readonly replace?: boolean;
  /** `--no-test`. */
  readonly test?: boolean;
  /** Says what is set up, and changes nothing. */
  readonly check?: boolean;
}

/** Null: no flag says which model, so a person is to be asked. */
export async function wishesOfFlags(flags: InitFlags): Promise<SetupWishes | null> {
  const named = [flags.demo, flags.provider, flags.endpoint, flags.piLogin].filter((one) => one !== undefined);
  if (named.length > 1) throw refused("Choose one of --demo, --provider, --endpoint and --pi-login.");
  if (named.length === 0) return null;
  return { model: await modelOf(flags), channel: await channelOf(flags), owners: flags.owner ?? [], backup: false };
}

async function modelOf({ provider, endpoint, piLogin, keyFile, ...flags }: InitFlags): Promise<ModelWish> {
  const model = flags.model ?? null;
  const key = keyFile === undefined ? null : await secretIn(keyFile);
  if (endpoint !== undefined) return { kind: "endpoint", baseUrl: endpoint.replace(/\/+$/, ""), key, model };
  if (piLogin !== undefined) return { kind: "login", folder: piLogin };
  if (provider === undefined) return { kind: "demo" };
  if (key === null)
    throw refused(`--provider ${provider} needs --key-file, a file that holds its key and nothing else.`);
  return { kind: "key", provider, key, model };
}

async function channelOf({ telegramTokenFile, discordTokenFile }: InitFlags): Promise<ChannelWish | null> {
  if (telegramTokenFile !== undefined && discordTokenFile !== undefined)
    throw refused("Choose one channel now; the other can be added with: pi-gw config edit");
  if (telegramTokenFile !== undefined) return { channel: "telegram", token: await secretIn(telegramTokenFile) };
  if (discordTokenFile !== undefined) return { channel: "discord", token: await secretIn(discordTokenFile) };
  return null;
}

async function secretIn(file: string): Promise<Secret> {
  const text = ((await readSmall(file)) ?? "").trim();
  if (text === "") throw refused(`There is nothing in ${file}, or it cannot be read.`);
  return secret(text);
}

export function refused(say: string): GatewayError {
  return new GatewayError("bad_request", "init was refused", { say });
}
