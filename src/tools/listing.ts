/** The tools as they are listed for people: those of the registry and those of pi, each with who may use it by the rules of now. */
import type { Caller } from "../contracts/agent.ts";
import type { AgentId, Principal, Role, SessionKey, TurnId } from "../contracts/ids.ts";
import type { PiToolListing, ToolAccess, ToolListing, ToolLists, ToolRights } from "../contracts/tools/tool.ts";
import { PI_TOOL_DESCRIPTIONS, piTool, piToolInfo } from "./pi-tools.ts";
import { judgeOf, needsApproval, type ToolInfo, type ToolPolicy } from "./policy.ts";
import { chooseTools } from "./search/choose.ts";

interface ListingDeps {
  readonly registry: { list(): readonly ToolListing[]; has(name: string): boolean };
  policy(): ToolPolicy;
  /** Every agent there is. */
  agents(): readonly AgentId[];
}

const ROLES: readonly Role[] = ["owner", "member", "guest"];
const OF_EXTENSION = "A tool of an extension of pi.";

export function createToolLister({ registry, policy, agents }: ListingDeps): () => ToolLists {
  return () => {
    const rules = policy();
    const everybody = peopleOf(agents(), rules);
    const rightsOf = (infoFor: (caller: Caller) => ToolInfo | null, info: ToolInfo): ToolRights => {
      const usableBy = everybody.map(({ agent, people }) => ({
        agent,
        roles: people.filter(({ caller, judge }) => isAllowed(judge, infoFor(caller))).map(({ role }) => role),
      }));
      return { usableBy: usableBy.filter(({ roles }) => roles.length > 0), asks: needsApproval(info, rules) };
    };
    const listedPiTool = (name: string): PiToolListing => {
      const owners = agents().flatMap((agentId) => piTool(name, callerOf(agentId, "owner"), rules) ?? []);
      // the same tool waits for an owner with one agent and not with another: shown as the one that waits
      const info = owners.find((one) => needsApproval(one, rules) !== null) ?? owners[0] ?? piToolInfo(name);
      const description = PI_TOOL_DESCRIPTIONS.get(name) ?? OF_EXTENSION;
      return { name, description, flags: info.flags, ...rightsOf((caller) => piTool(name, caller, rules), info) };
    };
    const tools = registry.list().map((tool) => {
      const info = infoOf(tool);
      const { usableBy, asks } = rightsOf(() => (tool.status === "ok" ? info : null), info);
      return { ...tool, usableBy, asks };
    });
    const behindSearch = searchedFor(tools, rules.searchAbove);
    return {
      tools: tools.map((tool) => ({ ...tool, behindSearch: behindSearch(tool) })),
      piTools: piToolNames(rules, agents())
        .filter((name) => !registry.has(name))
        .map(listedPiTool),
    };
  };
}

type Judge = ReturnType<typeof judgeOf>;

function isAllowed(judge: Judge, info: ToolInfo | null): boolean {
  return info !== null && judge(info).may;
}

/** Everybody who could use a tool in a private chat, once for all tools: what depends on the person alone is looked up here. */
function peopleOf(agents: readonly AgentId[], rules: ToolPolicy) {
  return agents.map((agent) => ({
    agent,
    people: ROLES.map((role) => {
      const caller = callerOf(agent, role);
      return { role, caller, judge: judgeOf(caller, rules) };
    }),
  }));
}

/** Who has to search for a tool at first: of each agent and role, whoever has too many tools to be told of all. */
function searchedFor(
  tools: readonly (ToolListing & ToolRights)[],
  searchAbove: number,
): (tool: ToolRights & { readonly name: string }) => readonly ToolAccess[] {
  const hidden = new Map<string, ReadonlySet<string>>();
  const hiddenFrom = (agent: string, role: Role): ReadonlySet<string> => {
    const key = `${role} ${agent}`;
    const known = hidden.get(key);
    if (known) return known;
    const usable = tools.filter(({ usableBy }) =>
      usableBy.some((one) => one.agent === agent && one.roles.includes(role)),
    );
    const { behindSearch } = chooseTools({ tools: usable, session: [], searchAbove, live: true });
    const names = new Set(behindSearch);
    hidden.set(key, names);
    return names;
  };
  return ({ name, usableBy }) =>
    usableBy
      .map(({ agent, roles }) => ({ agent, roles: roles.filter((role) => hiddenFrom(agent, role).has(name)) }))
      .filter(({ roles }) => roles.length > 0);
}

/** What pi has by itself, and what the tools of an agent name besides. */
export function piToolNames({ profile }: ToolPolicy, agents: readonly AgentId[]): readonly string[] {
  const named = agents.flatMap((id) => ROLES.map((role) => profile(id, role))).filter((one) => typeof one !== "string");
  return [...new Set([...PI_TOOL_DESCRIPTIONS.keys(), ...named.flat()])];
}

export function infoOf({ name, flags, origins, approval }: ToolListing): ToolInfo {
  return {
    name,
    flags,
    ...(origins === undefined ? {} : { origins }),
    ...(approval === undefined ? {} : { approval }),
  };
}

/** Somebody of this role in a private chat with this agent. */
function callerOf(agentId: AgentId, role: Role): Caller {
  return {
    sessionKey: `agent:${agentId}:main` as SessionKey,
    turnId: "listing" as TurnId,
    agentId,
    principal: "" as Principal,
    role,
    origin: { channel: "webchat", account: "default", chat: "" },
  };
}
