/** People: who may do what, in which chat they are reached, when it is what time for them, and what they may spend. */
import { openBudget } from "../budget/index.ts";
import type { Budget } from "../contracts/budget.ts";
import type { PersonTimes } from "../contracts/automation/when.ts";
import type { Pairing } from "../contracts/channels/pairing.ts";
import type { Rights } from "../contracts/channels/rights.ts";
import type { SessionChats } from "../contracts/channels/session-chats.ts";
import type { OwnerNotices } from "../contracts/delivery.ts";
import { OPERATOR } from "../contracts/ids.ts";
import { createOwnerNotices } from "../delivery/index.ts";
import { hostZone } from "../kit/clock.ts";
import { createRights } from "../rights.ts";
import {
  type AccessPolicies,
  createAccessPolicies,
  createSessionChats,
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
  /** Access policies of all channels. */
  readonly policies: AccessPolicies;
  readonly rights: Rights;
  readonly sessionChats: SessionChats;
  readonly times: PersonTimes;
  readonly ownerNotices: OwnerNotices;
  readonly budget: Budget;
}

export async function openPeople(core: Core): Promise<People> {
  const { clock, ids, log, events, store, config, channels } = core;
  const grants = await openRoleGrants(store.roleGrants, () => events.emit("status", { what: "pairing" }));
  const roles = () => config().roles;
  const pairing = await openPairing({ clock, ids, log, events, store: store.pairings, grants, roles });
  const policies = createAccessPolicies(() => ({ ...channels.access(), ...config().channels }), pairing.isPaired);
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
    budget: await openOwnBudget(core, ownerNotices),
  };
}

function openOwnBudget({ clock, log, events, store, config }: Core, ownerNotices: OwnerNotices): Promise<Budget> {
  const tell = async (id: string, text: string): Promise<void> => {
    await ownerNotices.tell(id, text);
    events.emit("status", { what: "budget" });
  };
  return openBudget({ clock, log, store: store.usage, tell }, { rules: () => config().budget });
}
