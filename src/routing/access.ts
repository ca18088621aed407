/** Who may speak to the gateway, and as what: one pure decision for every way in. What no rule allows is refused. */
import type { GroupContextSettings } from "../contracts/channels/access.ts";
import { isKeyPrincipal, type KeyRights, keyRole } from "../contracts/api-keys.ts";
import { OPERATOR, type Principal, type Role } from "../contracts/ids.ts";
import { isPerson } from "./identity.ts";

export interface AccessRequest {
  readonly principal: Principal;
  readonly scope: "dm" | "group";
  /** The chat it was said in; in a group, what `policy.groups` is looked up with. */
  readonly chat: string;
  /** The larger place it is part of: looked up when the chat itself is not listed. */
  readonly place?: string | undefined;
  readonly mentioned: boolean;
  /** This person was let into direct messages with this account by a pairing code. */
  readonly paired: boolean;
}

export interface AccessRules {
  readonly roles: { readonly owners: readonly string[]; readonly members: readonly string[] };
  readonly policy: AccessPolicy;
  /** Roles that owners gave from a chat, by id. `roles` has the last word about whom it names. */
  readonly grants?: ReadonlyMap<Principal, Role>;
  /** The key that speaks; null: it was revoked or has expired, or no key speaks. */
  readonly apiKey?: KeyRights | null;
}

/** What one account of a channel lets in. */
export interface AccessPolicy {
  /** `open` lets everybody in only when `allowFrom` holds "*" as well. */
  readonly dm: "pairing" | "allowlist" | "open" | "disabled";
  readonly allowFrom: readonly string[];
  /** `allowlist`: only in the groups listed below. */
  readonly group: "allowlist" | "open" | "disabled";
  readonly requireMention: boolean;
  readonly groupContext: GroupContextSettings;
  readonly wakeOnReaction: boolean;
  readonly groups: Readonly<Record<string, GroupPolicy>>;
  /** Some of them are larger places (`place`), not chats. */
  readonly hasPlaces?: boolean;
}

export interface GroupPolicy {
  readonly requireMention?: boolean;
  readonly contextMessages?: number;
  /** People besides owners and members; "*" is everybody. */
  readonly allowFrom?: readonly string[];
  /** What those people are. */
  readonly role?: Role;
}

export type Access =
  | { readonly allow: true; readonly role: Role; readonly because: string }
  | { readonly allow: false; readonly because: DeniedBecause; readonly tell: Tell };

export type DeniedBecause =
  "not_a_person" | "key_ended" | "closed" | "unknown_sender" | "not_paired" | "group_not_listed" | "not_mentioned";

/** What the sender gets to hear. In groups nothing: whoever may not speak must not be able to make the gateway speak. */
type Tell = "nothing" | "refusal" | "pairing";

/** For a channel that says nothing about it: only the people in `roles`, and no groups. */
export const CLOSED_POLICY: AccessPolicy = {
  dm: "allowlist",
  allowFrom: [],
  group: "allowlist",
  requireMention: true,
  groupContext: { messages: 0, minutes: 1, chars: 0 },
  wakeOnReaction: false,
  groups: {},
};

const EVERYBODY = "*";

export function decideAccess(request: AccessRequest, rules: AccessRules): Access {
  if (request.principal === OPERATOR) return allow("owner", "the operator is always an owner");
  if (isKeyPrincipal(request.principal)) return decideKey(rules.apiKey ?? null);
  // A group's id, a display name or an empty id never stands for a sender, wherever it may be listed.
  if (!isPerson(request.principal)) return deny("not_a_person", "nothing");
  return request.scope === "dm" ? decideDirect(request, rules) : decideGroup(request, rules);
}

/** What the configuration says about people does not count: a key has the rights it was made with, until it ends. */
function decideKey(apiKey: KeyRights | null): Access {
  return apiKey ? allow(keyRole(apiKey), "this key gives it") : deny("key_ended", "refusal");
}

function decideDirect({ principal, paired }: AccessRequest, rules: AccessRules): Access {
  const { policy } = rules;
  if (policy.dm === "disabled") return deny("closed", "nothing");
  const known = knownRole(rules, principal);
  if (known) return known;
  if (policy.allowFrom.includes(principal)) return allow("member", "the channel's allowFrom lists this id");
  if (policy.dm === "pairing" && paired) return allow("member", "this id was paired for direct messages");
  if (policy.dm === "open" && policy.allowFrom.includes(EVERYBODY)) return allow("guest", "the channel is open to all");
  return policy.dm === "pairing" ? deny("not_paired", "pairing") : deny("unknown_sender", "refusal");
}

/** Being let into direct messages opens no group: `paired` and the channel's own `allowFrom` are not looked at. */
function decideGroup({ principal, chat, place, mentioned }: AccessRequest, rules: AccessRules): Access {
  const { policy } = rules;
  if (policy.group === "disabled") return deny("closed", "nothing");
  const group = groupRules(policy, { chat, place });
  if (policy.group === "allowlist" && !group) return deny("group_not_listed", "nothing");
  const sender = knownRole(rules, principal) ?? admitted(principal, policy, group);
  if (!sender) return deny("unknown_sender", "nothing");
  const mustMention = group?.requireMention ?? policy.requireMention;
  return mustMention && !mentioned ? deny("not_mentioned", "nothing") : sender;
}

/** What of the talk in this group may be kept as context. */
export function groupContextOf(
  policy: AccessPolicy,
  where: Pick<AccessRequest, "chat" | "place">,
): GroupContextSettings {
  const { contextMessages = policy.groupContext.messages } = groupRules(policy, where) ?? {};
  return { ...policy.groupContext, messages: contextMessages };
}

function groupRules(
  { groups }: AccessPolicy,
  { chat, place }: Pick<AccessRequest, "chat" | "place">,
): GroupPolicy | undefined {
  const listed = [chat, place].find((id) => id !== undefined && Object.hasOwn(groups, id));
  return listed === undefined ? undefined : groups[listed];
}

function admitted(principal: Principal, policy: AccessPolicy, group: GroupPolicy | undefined): Access | null {
  const allowFrom = group?.allowFrom;
  if (allowFrom?.includes(principal)) return allow(group?.role ?? "member", "the group's allowFrom lists this id");
  const open = allowFrom === undefined ? policy.group === "open" : allowFrom.includes(EVERYBODY);
  return open ? allow(group?.role ?? "guest", "the group is open to all") : null;
}

function knownRole({ roles, grants }: AccessRules, principal: Principal): Access | null {
  const listed = listedRole(roles, principal);
  const granted = grants?.get(principal);
  return listed ?? (granted ? allow(granted, "an owner gave this role from a chat") : null);
}

function listedRole({ owners, members }: AccessRules["roles"], principal: Principal): Access | null {
  if (owners.includes(principal)) return allow("owner", "roles.owners lists this id");
  return members.includes(principal) ? allow("member", "roles.members lists this id") : null;
}

const allow = (role: Role, because: string): Access => ({ allow: true, role, because });
const deny = (because: DeniedBecause, tell: Tell): Access => ({ allow: false, because, tell });
