/** Decides where a message goes: who speaks → which agent → which session. Every verdict carries its reasons; unknown people and agents are refused. */
import type { Config } from "../config/index.ts";
import { type ApiKey, keyAllowsAgent } from "../contracts/api-keys.ts";
import { DEFAULT_AGENT, type AgentId, type Principal, type Role } from "../contracts/ids.ts";
import type { RouteFacts, Router, Verdict } from "../contracts/routing.ts";
import { type Access, type AccessPolicy, CLOSED_POLICY, decideAccess, type DeniedBecause } from "./access.ts";
import { type BindingRequest, type Considered, considerBindings, pickBinding, winning } from "./bindings.ts";
import { type GrantedRoles, NO_GRANTS } from "./grants.ts";
import { lesserRole, linkedName } from "./identity.ts";
import { buildSessionKey, type Peer, type SessionName } from "./session-key.ts";

export interface RoutingConfig extends Pick<Config, "agents" | "bindings" | "session"> {
  readonly roles: Pick<Config["roles"], "owners" | "members">;
}

/** What channels know about who may speak to them. */
export interface AccessPolicies {
  policyOf(channel: string, account: string): AccessPolicy;
  isPaired(principal: Principal, channel: string, account: string): boolean;
  /** The key behind this id; null: it was revoked or has expired, or is none. Keys speak over the port of the gateway and nowhere else. */
  apiKey?(principal: Principal, channel: string): ApiKey | null;
}

export interface Explanation {
  readonly verdict: Verdict;
  readonly access: Access;
  /** Empty when the sender was refused, or named the agent. */
  readonly considered: readonly Considered[];
}

/** For channels without rules of their own. */
const CLOSED_POLICIES: AccessPolicies = { policyOf: () => CLOSED_POLICY, isPaired: () => false };

const PRIORITY = { dm: 10, group: 5 } as const;
/** Here people open as many conversations as they like and choose among them, so `dmScope` has no say. */
const CHOSEN_BY_PEOPLE: ReadonlySet<string> = new Set(["webchat", "api"]);

const DENIED: Readonly<Record<DeniedBecause, string>> = {
  not_a_person: "The sender's id is not the id of a person.",
  key_ended: "This key was revoked, or has expired.",
  closed: "This channel does not take such messages.",
  unknown_sender: "This gateway does not know you.",
  not_paired: "This gateway does not know you yet. Its owner can let you in.",
  group_not_listed: "This group is not among those the gateway answers in.",
  not_mentioned: "In this group the gateway answers only when it is mentioned.",
};

/** The configuration is asked for each message, so that a change holds from the next one on. */
export function createRouter(
  config: () => RoutingConfig,
  policies: AccessPolicies = CLOSED_POLICIES,
  grants: () => GrantedRoles = () => NO_GRANTS,
): Router {
  return { decide: (message) => decide(config(), message, accessOf(config(), message, policies, grants()), policies) };
}

/** The same decision, with everything that was considered on the way. */
export function explainRoute(
  config: RoutingConfig,
  facts: RouteFacts,
  policies: AccessPolicies = CLOSED_POLICIES,
  grants: GrantedRoles = NO_GRANTS,
): Explanation {
  const access = accessOf(config, facts, policies, grants);
  const undecided = access.allow && facts.agentId === undefined;
  const considered = undecided ? considerBindings(config.bindings, bindingRequest(facts, access.role)) : [];
  return { verdict: decide(config, facts, access, policies), access, considered };
}

/** The agent that answers in a conversation whose name does not say so. */
export function boundAgent(config: Pick<RoutingConfig, "bindings">, facts: BindingRequest): AgentId {
  return (pickBinding(config.bindings, facts)?.binding.agent ?? DEFAULT_AGENT) as AgentId;
}

function accessOf({ roles }: RoutingConfig, facts: RouteFacts, policies: AccessPolicies, grants: GrantedRoles) {
  const { address, scope, place, sender, mentioned } = facts;
  const { principal } = sender;
  const { channel, account, chat } = address;
  const paired = policies.isPaired(principal, channel, account);
  return decideAccess(
    { principal, scope, chat, place, mentioned, paired },
    { roles, policy: policies.policyOf(channel, account), grants, apiKey: keyOf(policies, facts) },
  );
}

function keyOf(policies: AccessPolicies, { sender, address }: RouteFacts): ApiKey | null {
  return policies.apiKey?.(sender.principal, address.channel) ?? null;
}

function decide(config: RoutingConfig, facts: RouteFacts, access: Access, policies: AccessPolicies): Verdict {
  if (!access.allow) {
    const { because, tell } = access;
    return { kind: "refuse", because, tell, say: DENIED[because] };
  }
  const { agentId, because } = chooseAgent(config, facts, access.role);
  const entry = config.agents.find(({ id }) => id === agentId);
  if (!entry && agentId !== DEFAULT_AGENT) return { kind: "refuse", ...unknownAgent(config, agentId) };
  const key = keyOf(policies, facts);
  if (key && !keyAllowsAgent(key, agentId)) return { kind: "refuse", ...wrongAgent(agentId) };
  const role = lesserRole(access.role, entry?.role ?? access.role);
  const capped = role !== access.role;
  const session = sessionOf(config, { ...facts, role }, agentId);
  return {
    kind: "accept",
    sessionKey: buildSessionKey(session.name),
    agentId,
    role,
    priority: PRIORITY[facts.scope],
    because: [
      `${access.role}: ${access.because}`,
      ...(capped ? [`${role}: the agent ${agentId} gives nobody more than that`] : []),
      `agent ${agentId}: ${because}`,
      `session: ${session.because}`,
    ],
  };
}

function chooseAgent(config: RoutingConfig, facts: RouteFacts, role: Role) {
  if (facts.agentId !== undefined) return { agentId: facts.agentId, because: "the sender asked for it" };
  const picked = pickBinding(config.bindings, bindingRequest(facts, role));
  if (!picked) return { agentId: DEFAULT_AGENT, because: "no binding fits" };
  const because = `bindings[${picked.index}] ${winning(picked.binding)}`;
  return { agentId: picked.binding.agent as AgentId, because };
}

function bindingRequest({ address, sender }: RouteFacts, role: Role): BindingRequest {
  const { channel, account, chat } = address;
  return { channel, account, chat, peer: sender.principal, role };
}

function wrongAgent(agentId: AgentId) {
  return { because: "wrong_agent", tell: "refusal", say: `This key is not for the agent ${agentId}.` } as const;
}

function unknownAgent(config: RoutingConfig, agentId: AgentId) {
  const names = [DEFAULT_AGENT, ...config.agents.map(({ id }) => id)].join(", ");
  const say = `There is no agent ${JSON.stringify(agentId)}. Choose one of: ${names}.`;
  return { because: "unknown_agent", tell: "refusal", say } as const;
}

/** `main` and `per-peer` are about people: a thread belongs to a chat, so it does not divide them. */
function sessionOf(
  { session }: RoutingConfig,
  facts: RouteFacts & { readonly role: Role },
  agent: AgentId,
): { name: SessionName; because: string } {
  const { scope, address, sender, role } = facts;
  const { channel, account, chat, thread } = address;
  const { dmScope } = session;
  const inChat = { form: "chat", agent, channel, scope, ...(thread === undefined ? {} : { thread }) } as const;
  const chosen = CHOSEN_BY_PEOPLE.has(channel);
  if (chosen) return { name: { ...inChat, peer: { id: chat } }, because: "conversations here are chosen by name" };
  const inAccount = { ...inChat, ...(dmScope === "per-account-channel-peer" ? { account } : {}) };
  if (scope === "group") {
    return { name: { ...inAccount, peer: { id: chat } }, because: "a group is one conversation" };
  }
  // whoever shares a session can stop, reset and list what is in it
  const apart = dmScope === "main" && role === "guest";
  const because = `session.dmScope is ${dmScope}${apart ? ", which guests do not share" : ""}`;
  if (dmScope === "main" && !apart) return { name: { form: "main", agent }, because };
  const person = linkedName(session.identityLinks, sender.principal);
  const linked: Peer | null = person === null ? null : { person };
  const why = person === null ? because : `${because}, and this id is linked to ${person}`;
  if (dmScope === "per-peer") {
    return { name: { form: "peer", agent, peer: linked ?? { id: sender.principal } }, because: why };
  }
  return {
    name: { ...inAccount, peer: linked ?? { id: idOn(channel, sender.principal) ?? chat } },
    because: why,
  };
}

/** The person's own id on the channel: a direct chat may have another one, as on Discord. */
function idOn(channel: string, principal: Principal): string | null {
  const prefix = `${channel}:user:`;
  return principal.startsWith(prefix) ? principal.slice(prefix.length) : null;
}
