/** What commands and the API ask about models and roles, answered from configuration, environment and routing. Reads the roles that were given; starts nothing. */
import { createSessionModels, type ProviderFacts, type RoleDesk } from "../commands/index.ts";
import { type Config, type Environment, keysForProvider, PROVIDER_KEYS } from "../config/index.ts";
import type { AgentModel, AgentPool } from "../contracts/agent.ts";
import type { AgentId, Role } from "../contracts/ids.ts";
import type { SessionModels } from "../contracts/session-models.ts";
import type { Clock } from "../kit/clock.ts";
import { type AccessDoors, decideGrant, explainRoute, type RoleGrants } from "../routing/index.ts";

/** What pi lets a model think that a configuration calls able to. */
const USUAL_LEVELS: AgentModel["thinking"] = ["off", "minimal", "low", "medium", "high"];

interface DeskDeps {
  readonly clock: Clock;
  readonly pool: AgentPool;
  readonly environment: Environment;
}

export interface Desk {
  readonly models: SessionModels;
  readonly roles: RoleDesk;
}

export function createDesk(deps: DeskDeps, config: () => Config, parts: RoleParts): Desk {
  return { models: createModelDesk(deps, config), roles: createRoleDesk(deps, config, parts) };
}

function createModelDesk({ clock, pool, environment }: DeskDeps, config: () => Config): SessionModels {
  return createSessionModels({ clock, pool, providers: () => providerFacts(config(), environment) });
}

export function providerFacts({ models }: Pick<Config, "models">, environment: Environment): ProviderFacts {
  const configured = Object.entries(models.providers).map(([provider, { models: served }]) => {
    const list = served.map(({ id, reasoning }) => ({
      name: `${provider}/${id}`,
      thinking: reasoning ? USUAL_LEVELS : (["off"] as const),
    }));
    return [provider, list] as const;
  });
  const known = Object.entries(PROVIDER_KEYS).map(([provider, variables]) => {
    const hasKey = Object.keys(keysForProvider(environment, provider)).length > 0;
    return [provider, { variables, hasKey }] as const;
  });
  return { configured: Object.fromEntries(configured), known: Object.fromEntries(known) };
}

interface RoleParts {
  readonly grants: RoleGrants;
  readonly doors: AccessDoors;
}

function createRoleDesk(
  { clock }: Pick<DeskDeps, "clock">,
  config: () => Config,
  { grants, doors }: RoleParts,
): RoleDesk {
  return {
    why({ message, agentId }) {
      const { verdict } = explainRoute(config(), { ...message, agentId }, doors, grants.current());
      return verdict.kind === "accept" ? verdict.because : [verdict.say];
    },
    allows: ({ agentId, role }) => (role === "owner" ? [workspaceLine(config(), agentId)] : []),
    people() {
      const { owners, members } = config().roles;
      const listed = (ids: readonly string[], role: Role) =>
        ids.map((principal) => ({ principal, role, from: "configuration" as const }));
      const given = [...grants.current()].map(([principal, role]) => ({ principal, role, from: "chat" as const }));
      const named = new Set([...owners, ...members]);
      return [
        ...listed(owners, "owner"),
        ...listed(members, "member"),
        ...given.filter(({ principal }) => !named.has(principal)),
      ];
    },
    async change({ principal, role, by }) {
      const decision = decideGrant({ principal, role }, { roles: config().roles, grants: grants.current() });
      if (!decision.allow) return { kind: "refused", because: decision.because };
      if (role === null) await grants.takeBack(decision.principal, by);
      else await grants.give({ principal: decision.principal, role, grantedBy: by, at: clock.now() });
      return { kind: "changed" };
    },
  };
}

function workspaceLine({ agent, agents }: Config, agentId: AgentId): string {
  const own = agents.find(({ id }) => id === agentId);
  const folder = own?.workspace ?? agent.workspace ?? "workspace/ in the state directory";
  return `Agent: ${agentId}, working in ${folder}`;
}
