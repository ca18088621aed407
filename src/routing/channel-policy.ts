/** What the configuration of a channel says about who may write → the policy that access is decided by. Pure. */
import type { ApiKeys } from "../contracts/api-keys.ts";
import type { ChannelAccessSettings, GroupSettings, GuildSettings } from "../contracts/channels/access.ts";
import type { AccessPolicies } from "./router.ts";
import { type AccessPolicy, CLOSED_POLICY, type GroupPolicy } from "./access.ts";

const EVERYBODY = "*";
/** A platform that gives its people ids like those of keys has a channel of its own, so it gets nowhere with them. */
const KEY_CHANNELS = ["api", "webchat", "mcp"];

/** A channel that says nothing about it is closed to all but the people in `roles`. */
export function channelPolicy(
  channels: Readonly<Record<string, ChannelAccessSettings | undefined>>,
  channel: string,
  account: string,
): AccessPolicy {
  const common = Object.hasOwn(channels, channel) ? channels[channel] : undefined;
  if (common?.dmPolicy === undefined && common?.groupPolicy === undefined) return CLOSED_POLICY;
  const own = common.accounts && Object.hasOwn(common.accounts, account) ? common.accounts[account] : undefined;
  const principal = (id: string): string => (id === EVERYBODY || id.includes(":") ? id : `${channel}:user:${id}`);
  // the account's own settings come last, and count where both name the same group
  const groups = [common.groups, own?.groups].flatMap((settings) => Object.entries(settings ?? {}));
  const guilds = Object.fromEntries([common.guilds, own?.guilds].flatMap((settings) => Object.entries(settings ?? {})));
  return {
    dm: own?.dmPolicy ?? common.dmPolicy ?? CLOSED_POLICY.dm,
    allowFrom: (own?.allowFrom ?? common.allowFrom ?? []).map(principal),
    group: own?.groupPolicy ?? common.groupPolicy ?? CLOSED_POLICY.group,
    requireMention: own?.requireMention ?? common.requireMention ?? CLOSED_POLICY.requireMention,
    groupContext: own?.groupContext ?? common.groupContext ?? CLOSED_POLICY.groupContext,
    wakeOnReaction: own?.wakeOnReaction ?? common.wakeOnReaction ?? CLOSED_POLICY.wakeOnReaction,
    groups: Object.fromEntries(
      [...groups, ...Object.entries(guilds).flatMap(inGuild)].map(([id, group]) => [id, toGroup(group, principal)]),
    ),
    ...(Object.keys(guilds).length > 0 ? { hasPlaces: true } : {}),
  };
}

/** A guild that lists channels is those channels, and nothing else of it is listed. */
function inGuild([id, { channels, ...group }]: [string, GuildSettings]): readonly [string, GroupSettings][] {
  return channels === undefined ? [[id, group]] : channels.map((channel) => [channel, group]);
}

function toGroup(
  { requireMention, contextMessages, allowFrom, role }: GroupSettings,
  principal: (id: string) => string,
): GroupPolicy {
  return {
    ...(contextMessages === undefined ? {} : { contextMessages }),
    ...(requireMention === undefined ? {} : { requireMention }),
    ...(allowFrom === undefined ? {} : { allowFrom: allowFrom.map(principal) }),
    ...(role === undefined ? {} : { role }),
  };
}

/** What the configuration and the pairings say about who may write where. `channels`: that section, whatever platforms it has. */
export function createAccessPolicies(
  channels: () => object,
  isPaired: AccessPolicies["isPaired"],
  keys: Pick<ApiKeys, "of"> = { of: () => null },
): AccessPolicies {
  return {
    // the schema spreads the same keys into every platform
    policyOf: (channel, account) =>
      channelPolicy(channels() as Readonly<Record<string, ChannelAccessSettings>>, channel, account),
    isPaired,
    apiKey: (principal, channel) => (KEY_CHANNELS.includes(channel) ? keys.of(principal) : null),
  };
}
