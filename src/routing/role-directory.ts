/** Who has which role and why, read from configuration and grants; changes of roles are decided by `decideGrant` and written through. */
import type { Config } from "../config/index.ts";
import type { RoleDirectory } from "../contracts/channels/roles.ts";
import type { AgentId, Role } from "../contracts/ids.ts";
import type { Clock } from "../kit/clock.ts";
import { decideGrant, type RoleGrants } from "./grants.ts";
import { type AccessPolicies, explainRoute } from "./router.ts";

interface RoleDirectoryDeps {
  readonly clock: Clock;
  readonly config: () => Config;
  readonly grants: RoleGrants;
  readonly policies: AccessPolicies;
}

export function createRoleDirectory({ clock, config, grants, policies }: RoleDirectoryDeps): RoleDirectory {
  return {
    why({ message, agentId }) {
      const { verdict } = explainRoute(config(), { ...message, agentId }, policies, grants.current());
      return verdict.kind === "accept" ? verdict.because : [verdict.say];
    },
    allows: ({ agentId, role }) => (role === "owner" ? [workspaceLine(config(), agentId)] : []),
    people() {
      const { owners, members } = config().roles;
      const named = new Set([...owners, ...members]);
      const granted = [...grants.current()].filter(([principal]) => !named.has(principal));
      return [
        ...owners.map((principal) => ({ principal, role: "owner" as Role, from: "configuration" as const })),
        ...members.map((principal) => ({ principal, role: "member" as Role, from: "configuration" as const })),
        ...granted.map(([principal, role]) => ({ principal, role, from: "chat" as const })),
      ];
    },
    async change({ principal, role, by }) {
      const decision = decideGrant({ principal, role }, { roles: config().roles, grants: grants.current() });
      if (!decision.allow) return { kind: "refused", because: decision.because };
      if (role === null) await grants.remove(decision.principal, by);
      else await grants.give({ principal: decision.principal, role, grantedBy: by, at: clock.now() });
      return { kind: "changed" };
    },
  };
}

function workspaceLine({ agent, agents }: Config, agentId: AgentId): string {
  const own = agents.find(({ id }) => id === agentId);
  const settings = [own?.workspace, agent.workspace].map((one) => (typeof one === "string" ? { path: one } : one));
  const path = settings.find((one) => one?.path !== undefined)?.path ?? "workspace/ in the state directory";
  const scope = settings.find((one) => one?.scope !== undefined)?.scope ?? "agent";
  return `Agent: ${agentId}, working in ${path}${scope === "person" ? ", each person in a folder of their own" : ""}`;
}
