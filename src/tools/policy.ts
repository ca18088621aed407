/** Who may use which tool from where. One pure decision, with its reason, for what is offered and for what is called. */
import type { Config, ToolsFilter } from "../config/index.ts";
import type { Caller } from "../contracts/agent.ts";
import type { AgentId, Principal, Role } from "../contracts/ids.ts";
import { NO_TURN, type Tool, type ToolLimit, type ToolOrigin } from "../contracts/tools/tool.ts";
import { originsOf } from "./origin.ts";
import { isGiven } from "./pi-tools.ts";

type ToolSettings = Config["tools"];
type ToolLists = NonNullable<ToolSettings["roles"]["owner"]>;

/** What the settings say about tools, without how they are run. */
export interface ToolPolicy extends Pick<ToolSettings, PolicyKey> {
  readonly approvals: Pick<ToolSettings["approvals"], "ask" | "never">;
  /** What this agent is given, of the gateway's tools and of pi's own. */
  profile(agentId: AgentId, role: Role): ToolsFilter;
  /** Agent processes are behind a wall. Absent: they are not. */
  readonly confined?: boolean;
  /** What the key behind this id may call; undefined: no key is behind it. */
  keyTools?(principal: Principal): readonly string[] | undefined;
}

type PolicyKey =
  | "allow"
  | "deny"
  | "roles"
  | "origins"
  | "agents"
  | "principals"
  | "limits"
  | "maxPerSession"
  | "maxTotal"
  | "searchAbove";

/** What is known about a tool before it is called; pi's own have no more than this. */
export type ToolInfo = Pick<Tool, "name" | "flags" | "origins" | "limit" | "approval" | "review"> & {
  /** Brought along by a program, which runs it: lists that say what the gateway offers do not name it, and can only forbid it. */
  readonly client?: true;
  /** It runs inside of an agent process. */
  readonly byPi?: true;
};

type Verdict = { readonly may: boolean; readonly because: string };

interface Layer {
  readonly allow?: readonly string[] | undefined;
  readonly deny?: readonly string[] | undefined;
  /** Naming an optional tool here does not switch it on. */
  readonly onlyNarrows?: boolean;
  /** For the sentence: "tools.deny". */
  readonly key: string;
}

const yes: Verdict = { may: true, because: "the lists allow it" };
const no = (because: string): Verdict => ({ may: false, because });

/** Where nobody sits who knows that it is the owner who speaks. */
const UNATTENDED: readonly ToolOrigin[] = ["group", "cron", "heartbeat", "webhook", "delegate", "mcp"];

/** `caller` null: before anybody is served; only what the gateway's own lists say counts. */
export function mayUse(tool: ToolInfo, caller: Caller | null, policy: ToolPolicy): Verdict {
  return judgeOf(caller, policy)(tool);
}

/** The same for many tools at once: what depends on the caller alone is looked up once. */
export function judgeOf(caller: Caller | null, policy: ToolPolicy): (tool: ToolInfo) => Verdict {
  const origins = caller ? originsOf(caller) : [];
  const layers = layersOf(policy, caller, origins);
  return (tool) => judge(tool, layers, caller ? { caller, origins, policy } : null);
}

interface Asking {
  readonly caller: Caller;
  readonly origins: readonly ToolOrigin[];
  readonly policy: ToolPolicy;
}

function judge(tool: ToolInfo, layers: readonly Layer[], asking: Asking | null): Verdict {
  const denied = layers.find(({ deny }) => deny && lists(deny, tool.name));
  if (denied) return no(`${denied.key}.deny names it`);
  if (tool.client) return yes;
  const missing = layers.find(({ allow }) => allow && !lists(allow, tool.name));
  if (missing) return no(`${missing.key}.allow does not name it`);
  const named = layers.some(({ allow, onlyNarrows }) => !onlyNarrows && allow?.includes(tool.name));
  if (tool.flags.optional && !named) return no("it is optional, and no list names it");
  return asking ? byCaller(tool, asking) : yes;
}

function byCaller({ name, flags, origins }: ToolInfo, { caller, origins: begun, policy }: Asking): Verdict {
  const elsewhere = origins && begun.find((origin) => !origins.includes(origin));
  if (elsewhere) return no(`it may not be called from ${elsewhere}`);
  const ownersOnly = flags.ownerOnly || flags.pty || flags.elevated;
  if (ownersOnly && caller.role !== "owner") return no("only owners may use it");
  const granted = (given: ToolLists | undefined): boolean => given?.allow?.includes(name) ?? false;
  const alone = begun.find((origin) => UNATTENDED.includes(origin) && !granted(policy.origins[origin]));
  if (ownersOnly && alone && !origins) return no(`it is for owners, and tools.origins.${alone}.allow does not name it`);
  if (!flags.workspaceOnly) return yes;
  if (caller.turnId === NO_TURN) return no("it works in the workspace of an agent, and no agent is calling");
  if (caller.role === "owner" || isGiven(name, policy.profile(caller.agentId, caller.role))) return yes;
  if (!granted(policy.roles[caller.role]))
    return no(`it works on files, and tools.roles.${caller.role}.allow does not name it`);
  return yes;
}

function layersOf(policy: ToolPolicy, caller: Caller | null, origins: readonly ToolOrigin[]): readonly Layer[] {
  const layers: Layer[] = [{ key: "tools", allow: policy.allow, deny: policy.deny }];
  if (!caller) return layers;
  const { agentId, role, principal } = caller;
  const profile = policy.profile(agentId, role);
  if (typeof profile !== "string") layers.push({ key: `the tools of agent ${agentId}`, allow: profile });
  const own = Object.hasOwn(policy.agents, agentId) ? policy.agents[agentId] : undefined;
  const person = Object.hasOwn(policy.principals, principal) ? policy.principals[principal] : undefined;
  return [
    ...layers,
    { key: `tools.agents.${agentId}`, ...own },
    { key: `tools.roles.${role}`, ...policy.roles[role] },
    { key: `tools.principals["${principal}"]`, ...person },
    { key: "the key that calls", allow: policy.keyTools?.(principal), onlyNarrows: true },
    ...origins.map((origin) => ({ key: `tools.origins.${origin}`, ...policy.origins[origin] })),
  ];
}

/** `*` is everything, `notes_*` all that begins so. */
function lists(patterns: readonly string[], name: string): boolean {
  return patterns.some((pattern) => (pattern.endsWith("*") ? name.startsWith(pattern.slice(0, -1)) : pattern === name));
}

/** Why a call of this tool waits for the owner's word; null: it does not. `outside`: what this one call would do beyond its workspace. */
export function needsApproval(
  { name, flags, approval, review, byPi }: ToolInfo,
  policy: ToolPolicy,
  outside: string | null = null,
): string | null {
  if (review) return review.because;
  if (lists(policy.approvals.never, name)) return null;
  if (outside !== null) return outside;
  if (flags.elevated && byPi && policy.confined) return "it may do anything the sandbox lets through";
  if (flags.elevated) return "it may do anything the gateway's user may";
  if (flags.pty) return "it opens a terminal";
  if (approval) return "the tool always asks";
  return lists(policy.approvals.ask, name) ? "tools.approvals.ask names it" : null;
}

/** Calls of one person of any one tool that says nothing about it itself. */
const GENERAL_LIMIT: ToolLimit = { calls: 6_000, perMs: 60_000 };

export function limitOf({ name, limit }: ToolInfo, policy: Pick<ToolPolicy, "limits">): ToolLimit {
  const own = Object.hasOwn(policy.limits, name) ? policy.limits[name] : undefined;
  return { ...(own ?? limit ?? GENERAL_LIMIT), durable: own?.durable ?? limit?.durable ?? false };
}
