/** What an agent may do for whom, from where: every tool, role and origin, judged by the function that judges calls. Pure. */
import type { PermissionCell, ToolPermissions } from "../contracts/agents-api.ts";
import type { Caller } from "../contracts/agent.ts";
import type { AgentId, Principal, Role, SessionKey, TurnId } from "../contracts/ids.ts";
import { NO_TURN, type ToolListing, type ToolOrigin } from "../contracts/tools/tool.ts";
import { infoOf, piToolNames } from "./listing.ts";
import { piTool } from "./pi-tools.ts";
import { judgeOf, needsApproval, type ToolInfo, type ToolPolicy } from "./policy.ts";

interface PermissionDeps {
  readonly registry: { list(): readonly ToolListing[]; has(name: string): boolean };
  policy(): ToolPolicy;
}

const ROLES: readonly Role[] = ["owner", "member", "guest"];
const ORIGINS: readonly ToolOrigin[] = ["chat", "group", "cron", "heartbeat", "webhook", "delegate", "api", "mcp"];
const NOT_GIVEN = "this agent has no such tool";

/** Tools that are set aside are in the list too, with the reason. */
export function createPermissionMatrix({
  registry,
  policy,
}: PermissionDeps): (agentId: AgentId) => readonly ToolPermissions[] {
  return (agentId) => {
    const rules = policy();
    const callers = ROLES.flatMap((role) => ORIGINS.map((origin) => callerFrom(agentId, role, origin)));
    const asked = callers.map(({ role, origin, caller }) => ({ role, origin, caller, judge: judgeOf(caller, rules) }));
    const cellsOf = (infoFor: (caller: Caller) => ToolInfo | string): readonly PermissionCell[] =>
      asked.map(({ role, origin, caller, judge }) => {
        const info = infoFor(caller);
        if (typeof info === "string") return { role, origin, may: "no", because: info };
        const { may, because } = judge(info);
        const asks = may ? needsApproval(info, rules) : null;
        return { role, origin, may: may ? (asks === null ? "yes" : "ask") : "no", because: asks ?? because };
      });
    const own = registry.list().map((tool) => ({
      tool: tool.name,
      byPi: false,
      cells: cellsOf(() => (tool.status === "ok" ? infoOf(tool) : (tool.reason ?? "it is set aside"))),
    }));
    const ofPi = piToolNames(rules, [agentId])
      .filter((name) => !registry.has(name))
      .map((name) => ({
        tool: name,
        byPi: true,
        cells: cellsOf((caller) => piTool(name, caller, rules) ?? NOT_GIVEN),
      }));
    return [...ofPi, ...own];
  };
}

/** Somebody of this role whose call begins there, as `originOf` reads it. */
export function callerFrom(agentId: AgentId, role: Role, origin: ToolOrigin) {
  const channel = { cron: "cron", heartbeat: "heartbeat", webhook: "hook", delegate: "delegate", mcp: "mcp" }[
    origin as string
  ];
  const caller: Caller = {
    sessionKey: (origin === "group" ? `agent:${agentId}:webchat:group:1` : `agent:${agentId}:main`) as SessionKey,
    turnId: origin === "api" ? NO_TURN : ("permissions" as TurnId),
    agentId,
    principal: "" as Principal,
    role,
    origin: { channel: channel ?? "webchat", account: "default", chat: "" },
  };
  return { role, origin, caller };
}
