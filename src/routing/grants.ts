/** Roles that owners gave from a chat, held in memory for routing and written through to the store. Who may be given what is decided purely. */
import { OPERATOR, type Principal, type Role } from "../contracts/ids.ts";
import type { RoleGrant, RoleGrantStore } from "../contracts/store/role-grants.ts";
import type { AccessRules } from "./access.ts";
import { isPerson } from "./identity.ts";

export type GrantedRoles = ReadonlyMap<Principal, Role>;

export const NO_GRANTS: GrantedRoles = new Map();

export interface RoleGrants {
  /** As data, for decisions. */
  current(): GrantedRoles;
  give(grant: RoleGrant): Promise<void>;
  remove(principal: Principal, by: Principal): Promise<void>;
  /** Another gateway has changed them. */
  reload(): Promise<void>;
}

export interface Changes {
  /** Called after each change that is in force at this gateway. */
  changed(): void;
  /** Resolves when it is in force at every gateway. */
  spread(): Promise<void>;
}

export async function openRoleGrants(
  store: RoleGrantStore,
  { changed, spread }: Changes = UNHEARD,
): Promise<RoleGrants> {
  const read = async (): Promise<GrantedRoles> =>
    new Map((await store.list()).map(({ principal, role }) => [principal, role]));
  let current = await read();
  return {
    current: () => current,
    async give(grant) {
      await store.put(grant);
      current = new Map([...current, [grant.principal, grant.role]]);
      changed();
      await spread();
    },
    async remove(principal, by) {
      await store.remove(principal, by);
      current = new Map([...current].filter(([who]) => who !== principal));
      changed();
      await spread();
    },
    async reload() {
      current = await read();
    },
  };
}

const UNHEARD: Changes = { changed: () => undefined, spread: async () => undefined };

type GrantDecision =
  | { readonly allow: true; readonly principal: Principal }
  | { readonly allow: false; readonly because: "not_a_person" | "operator" | "named_in_config" | "last_owner" };

/** `role` null withdraws what was given. There is always an owner who is a person, once there was one. */
export function decideGrant(
  asked: { readonly principal: string; readonly role: Role | null },
  rules: { readonly roles: AccessRules["roles"]; readonly grants: GrantedRoles },
): GrantDecision {
  const principal = asked.principal as Principal;
  if (principal === OPERATOR) return { allow: false, because: "operator" };
  if (!isPerson(principal)) return { allow: false, because: "not_a_person" };
  const { owners, members } = rules.roles;
  if (owners.includes(principal) || members.includes(principal)) return { allow: false, because: "named_in_config" };
  const granted = [...rules.grants].filter(([, role]) => role === "owner").map(([who]) => who);
  const isOwner = granted.includes(principal);
  if (isOwner && asked.role !== "owner" && granted.length + owners.length === 1)
    return { allow: false, because: "last_owner" };
  return { allow: true, principal };
}
