/** People: who may do what, in which chat they are reached, when it is what time for them, and what they may spend. */
import { openBudget } from "../budget/index.ts";
import type { Config } from "../config/index.ts";
import { type ApiKeys, keyPrincipal } from "../contracts/api-keys.ts";
import type { Budget } from "../contracts/budget.ts";
import type { PersonTimes } from "../contracts/automation/when.ts";
import type { SharedMemory } from "../contracts/nodes.ts";
import type { Pairing } from "../contracts/channels/pairing.ts";
import type { Rights } from "../contracts/channels/rights.ts";
import type { SessionChats } from "../contracts/channels/session-chats.ts";
import type { OwnerNotices } from "../contracts/delivery.ts";
import { OPERATOR } from "../contracts/ids.ts";
import { createOwnerNotices } from "../delivery/index.ts";
import type { Spent } from "../contracts/store/usage.ts";
import { background } from "../kit/background.ts";
import { hostZone } from "../kit/clock.ts";
import type { Lifetime } from "../kit/lifetime.ts";
import { createRights } from "../rights.ts";
import {
  type AccessPolicies,
  type Changes,
  createAccessPolicies,
  createSessionChats,
  openApiKeys,
  openPairing,
  openRoleGrants,
  personOf,
  type RoleGrants,
} from "../routing/index.ts";
import { openPersonTimes } from "../automation/index.ts";
import { type Core, ofModule } from "./core.ts";
import { anyOther } from "./nodes.ts";

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

export async function openPeople(life: Lifetime, whole: Core): Promise<People> {
  const core = ofModule(whole, "people");
  const { clock, ids, log, events, store, config, channels } = core;
  const grants = await openRoleGrants(store.roleGrants, changesOf(core, "grants"));
  const roles = () => config().roles;
  const pairingDeps = { clock, ids, log, ...changesOf(core, "pairings"), store: store.pairings, grants, roles };
  const pairing = undoneAnywhere(core, await openPairing(pairingDeps));
  const keyDeps = { clock, ids, log, ...changesOf(core, "keys"), store: store.apiKeys };
  const keys = life.own("keys of programs", await openApiKeys(keyDeps));
  followOthers(core, { grants, pairings: pairing, keys });
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
    times: await openTimes(core),
    ownerNotices,
    budget: await openOwnBudget(core, keys, ownerNotices),
  };
}

const SHOWN_AS = { grants: "pairing", pairings: "pairing", keys: "keys" } as const satisfies Partial<
  Record<SharedMemory, string>
>;
type PeopleMemory = keyof typeof SHOWN_AS;

/** A change holds everywhere before whoever made it is told that it is done: no gateway goes on with a right that was taken away. */
function changesOf({ events, nodes }: Pick<Core, "events" | "nodes">, what: PeopleMemory): Changes {
  return {
    changed: () => events.emit("status", { what: SHOWN_AS[what] }),
    spread: () => nodes.others.agree(what),
  };
}

function followOthers(
  { nodes }: Pick<Core, "nodes">,
  memories: Readonly<Record<PeopleMemory, Pick<RoleGrants, "reload">>>,
): void {
  for (const [what, { reload }] of Object.entries(memories))
    nodes.onReload(what as PeopleMemory, async () => {
      await reload();
      nodes.heardEvents.emit("status", { what: SHOWN_AS[what as PeopleMemory] }); // running turns look again at what they may do
    });
}

/** The gateway that decided remembers what was before, and the proxy in front of all may bring the owner to another one. */
function undoneAnywhere({ nodes: { others } }: Pick<Core, "nodes">, own: Pairing): Pairing {
  others.answer("pairings.undo", ({ id, by }) => own.undo(id, by));
  const undo: Pairing["undo"] = async (id, by) =>
    (await own.undo(id, by)) || anyOther(others, (node) => others.ask(node, "pairings.undo", { id, by }));
  return { ...own, undo };
}

/** What somebody chooses at one gateway holds at all of them. */
async function openTimes({ clock, log, store, config, nodes: { others } }: Core): Promise<PersonTimes> {
  const times = await openPersonTimes({
    clock,
    facts: store.channelState,
    person: (principal) => personOf(config().session.identityLinks, principal),
    hostZone,
    spread: (person, timezone) => others.tell("zone", { person, timezone }),
  });
  others.hear("zone", ({ person, timezone }) => times.hear(person, timezone));
  others.onMissed(() => background(log, "time zones that people have chosen could not be read", times.reload));
  return times;
}

async function openOwnBudget(
  { clock, log, events, store, config, nodes: { others } }: Core,
  keys: Pick<ApiKeys, "list">,
  ownerNotices: OwnerNotices,
): Promise<Budget> {
  const tell = async (id: string, text: string): Promise<void> => {
    await ownerNotices.tell(id, text);
    events.emit("status", { what: "budget" });
  };
  const spread = (spent: Spent): void => others.tell("spent", spent);
  const deps = { clock, log, store: store.usage, tell, spread };
  const budget = await openBudget(deps, { rules: budgetRules({ events, config }, keys) });
  others.hear("spent", budget.countElsewhere);
  others.onMissed(() => background(log, "what other gateways spent could not be read", budget.reload));
  return budget;
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
