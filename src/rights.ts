/** The rights of now for every kind of caller: people in chats, jobs and webhooks, delegated turns. The one judge of rights after the way in. */
import type { Config } from "./config/index.ts";
import type { OutboxRow } from "./contracts/delivery.ts";
import type { Events } from "./contracts/events.ts";
import { DEFAULT_AGENT, type Principal, type Role, type SessionKey } from "./contracts/ids.ts";
import type { Rights, RightsHolder, RightsNow } from "./contracts/channels/rights.ts";
import type { SessionChats } from "./contracts/channels/session-chats.ts";
import type { SessionChatStore } from "./contracts/store/session-chats.ts";
import type { ApproverChat } from "./contracts/tools/approval.ts";
import { NO_TURN } from "./contracts/tools/tool.ts";
import { type AccessPolicies, type GrantedRoles, lesserRole, rightsNow } from "./routing/index.ts";
import { HOOK_CHANNEL, webhookRole, readRunAddress } from "./automation/index.ts";
import { originOf } from "./tools/index.ts";

interface RightsDeps {
  readonly events: Pick<Events, "on">;
  readonly config: () => Config;
  readonly policies: AccessPolicies;
  readonly grants: () => GrantedRoles;
  readonly sessionChats: Pick<SessionChats, "at">;
}

/** Changes of these may change what somebody may do. */
const RIGHTS_CHANGE = ["config", "pairing", "keys"];

export function createRights(deps: RightsDeps): Rights {
  return {
    now: (caller) => now(deps, caller),
    onChange(listener) {
      return deps.events.on("status", ({ what }) => void (RIGHTS_CHANGE.includes(what) && listener()));
    },
  };
}

async function now(deps: RightsDeps, caller: RightsHolder): Promise<RightsNow> {
  if (caller.askedBy) return delegated(deps, caller, await now(deps, caller.askedBy));
  const run = readRunAddress(caller.origin);
  if (run && caller.origin.channel === HOOK_CHANNEL) {
    const role = webhookRole(deps.config().hooks, run.jobId);
    if (role === null) return { kind: "lost", because: "webhook_removed", tell: false };
    return inChat(deps, { ...caller, role: lesserRole(caller.role, role) });
  }
  if (!run) return inChat(deps, caller);
  // a job has the rights that its creator has in the chat it belongs to
  const chat = await deps.sessionChats.at(run.session);
  return inChat(deps, chat ? { ...caller, origin: chat.to, scope: chat.scope } : caller);
}

function inChat({ config, policies, grants }: RightsDeps, caller: RightsHolder): RightsNow {
  const { principal, role, agentId, origin: at, place } = caller;
  const scope = caller.scope ?? (originOf(caller) === "group" ? "group" : "dm");
  const rules = { config: config(), policies, grants: grants() };
  return rightsNow({ principal, role, agentId, at, scope, place }, rules);
}

/** No more than the caller who asked has now, and than the other agent gives anybody. */
function delegated({ config }: RightsDeps, { agentId, role }: RightsHolder, asking: RightsNow): RightsNow {
  if (asking.kind === "lost") return asking;
  const entry = config().agents.find(({ id }) => id === agentId);
  if (!entry && agentId !== DEFAULT_AGENT) return { kind: "lost", because: "unknown_agent", tell: true };
  const cap: Role = entry?.role ?? "owner";
  return { kind: "held", role: lesserRole(role, lesserRole(asking.role, cap)) };
}

/** Whether this person is an owner now. Without a chat only roles that hold everywhere count. */
export async function isOwnerNow(rights: Rights, by: Principal, at: ApproverChat | null): Promise<boolean> {
  const { address, scope, place } = at ?? { address: { channel: "api", account: "default", chat: by }, scope: "dm" };
  const asked: RightsHolder = {
    principal: by,
    role: "owner",
    agentId: DEFAULT_AGENT,
    origin: address,
    scope,
    turnId: NO_TURN,
    sessionKey: "none" as SessionKey,
    ...(place === undefined ? {} : { place }),
  };
  const now = await rights.now(asked);
  return now.kind === "held" && now.role === "owner";
}

interface ReceiverCheckDeps {
  readonly rights: Rights;
  readonly sessionChatStore: Pick<SessionChatStore, "of" | "speakerOf">;
  /** Channels that no stranger can write to. */
  isOwnChannel(id: string): boolean;
}

/** Whether the person behind a chat may still be told this. Who lost access may read one notice about it, and no reply. */
export function createReceiverCheck({
  rights,
  sessionChatStore,
  isOwnChannel,
}: ReceiverCheckDeps): (row: OutboxRow) => Promise<boolean> {
  return async ({ to, turnId, sessionKey, message }) => {
    if (isOwnChannel(to.channel)) return true;
    const chat = await sessionChatStore.of(sessionKey);
    const speaker = (await sessionChatStore.speakerOf(turnId)) ?? chat;
    if (!speaker) return true; // a notice of the gateway itself, in a chat in which nobody has spoken
    // the reply was made; whether its agent is still there does not matter
    const asked = { principal: speaker.principal, role: "owner", agentId: DEFAULT_AGENT, origin: to } as const;
    const now = await rights.now({ ...asked, sessionKey, turnId, ...(chat ? { scope: chat.scope } : {}) });
    return now.kind === "held" || (now.tell && message.kind === "notice");
  };
}
