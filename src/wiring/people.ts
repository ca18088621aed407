/** People: who may do what, in which chat they are reached, when it is what time for them, and what they may spend. */
import { openBudget } from "../budget/index.ts";
import type { Config } from "../config/index.ts";
import { type ApiKeys, keyPrincipal } from "../contracts/api-keys.ts";
import type { Budget } from "../contracts/budget.ts";
import type { PersonTimes } from "../contracts/automation/when.ts";
import type { Pairing } from "../contracts/channels/pairing.ts";
import type { Rights } from "../contracts/channels/rights.ts";
import type { SessionChats } from "../contracts/channels/session-chats.ts";
import type { OwnerNotices } from "../contracts/delivery.ts";
import { OPERATOR } from "../contracts/ids.ts";
import { createOwnerNotices } from "../delivery/index.ts";
import { hostZone } from "../kit/clock.ts";
import type { Lifetime } from "../kit/lifetime.ts";
import { createRights } from "../rights.ts";
import {
  type AccessPolicies,
  createAccessPolicies,
  createSessionChats,
  openApiKeys,
  openPairing,
  openRoleGrants,
  personOf,
  type RoleGrants,
} from "../routing/index.ts";
import { openPersonTimes } from "../automation/index.ts";
import type { Core } from "./core.ts";

export interface People {
  /** Roles that owners gave from a chat. */
  readonly grants: RoleGrants;
  readonly pairing: Pairing;
  /** Keys of programs. */
  readonly keys: ApiKeys;
  /** Access policies of all channels. */
  readonly policies: AccessPolicies;
  readonly rights: Rights;
  readonly sessionChats: SessionChats;
  readonly times: PersonTimes;
  readonly ownerNotices: OwnerNotices;
  readonly budget: Budget;
}

export async function openPeople(life: Lifetime, core: Core): Promise<People> {
  const { clock, ids, log, events, store, config, channels } = core;
  const grants = await openRoleGrants(store.roleGrants, () => events.emit("status", { what: "pairing" }));
  const roles = () => config().roles;
  const pairing = await openPairing({ clock, ids, log, events, store: store.pairings, grants, roles });
  const changed = () => events.emit("status", { what: "keys" });
  const keys = life.own("keys of programs", await openApiKeys({ clock, ids, log, store: store.apiKeys, changed }));
  const channelSettings = () => ({ ...channels.access(), ...config().channels });
  const policies = createAccessPolicies(channelSettings, pairing.isPaired, keys);
  const sessionChats = createSessionChats({ sessionChatStore: store.sessionChats, config, grants: grants.current });
  const rights = createRights({ events, config, policies, grants: grants.current, sessionChats });
  const ownerNotices = createOwnerNotices({
    clock,
    sessionChatStore: store.sessionChats,
    sessionChats,
    principal: OPERATOR,
    wakeOutbox: () => core.outboxWake.publish(),
  });
  return {
    grants,
    pairing,
    keys,
    policies,
    rights,
    sessionChats,
    times: await openPersonTimes({
      clock,
      facts: store.channelState,
      person: (principal) => personOf(config().session.identityLinks, principal),
      hostZone,
    }),
    ownerNotices,
    budget: await openOwnBudget(core, keys, ownerNotices),
  };
}

function openOwnBudget(
  { clock, log, events, store, config }: Core,
  keys: Pick<ApiKeys, "list">,
  ownerNotices: OwnerNotices,
): Promise<Budget> {
  const tell = async (id: string, text: string): Promise<void> => {
    await ownerNotices.tell(id, text);
    events.emit("status", { what: "budget" });
  };
  return openBudget({ clock, log, store: store.usage, tell }, { rules: budgetRules({ events, config }, keys) });
}

/** Made anew when the configuration or a key is another one: it is asked for before every model call. */
function budgetRules(
  { events, config }: Pick<Core, "events" | "config">,
  keys: Pick<ApiKeys, "list">,
): () => Config["budget"] {
  let made: { readonly from: Config["budget"]; readonly rules: Config["budget"] } | null = null;
  events.on("status", ({ what }) => {
    if (what === "keys") made = null;
  });
  return () => {
    const from = config().budget;
    if (made?.from !== from) made = { from, rules: withKeyBudgets(from, keys) };
    return made.rules;
  };
}

/** The limits of keys beside those of people. Where the configuration names a key as well, the lower limit holds. */
function withKeyBudgets(budget: Config["budget"], keys: Pick<ApiKeys, "list">): Config["budget"] {
  const principals = { ...budget.principals };
  for (const { id, dailyUsd, dailyTokens } of keys.list()) {
    if (dailyUsd === null && dailyTokens === null) continue;
    const own = budget.principals[keyPrincipal(id)] ?? {};
    const usd = lower(own.dailyUsd, dailyUsd);
    const tokens = lower(own.dailyTokens, dailyTokens);
    principals[keyPrincipal(id)] = {
      ...own,
      ...(usd === undefined ? {} : { dailyUsd: usd }),
      ...(tokens === undefined ? {} : { dailyTokens: tokens }),
    };
  }
  return { ...budget, principals };
}

function lower(one: number | undefined, other: number | null): number | undefined {
  if (one === undefined || other === null) return one ?? other ?? undefined;
  return Math.min(one, other);
}
