/** What commands ask about models and roles, answered by the real decisions over made-up facts. */
import { createSessionModels } from "../commands/index.ts";
import type { RoleDirectory } from "../contracts/channels/roles.ts";
import type { AgentModel, ModelQuery } from "../contracts/agent.ts";
import type { ProviderFacts, SessionModels } from "../contracts/session-models.ts";
import type { Clock } from "../kit/clock.ts";

const LEVELS = ["off", "minimal", "low", "medium", "high"] as const;

/** What pi would offer: two models of the agent's own provider, one of each other provider that has a key. */
export const OFFERED: readonly AgentModel[] = [
  { name: "fake/one", thinking: ["off"] },
  { name: "fake/two-large", thinking: LEVELS },
];

const PROVIDERS: ProviderFacts = {
  configured: { local: [{ name: "local/small", thinking: ["off"] }] },
  known: {
    openai: { variables: ["OPENAI_API_KEY"], hasKey: false },
    groq: { variables: ["GROQ_API_KEY"], hasKey: true },
  },
};

export function testModels(
  clock: Clock,
  ask: (query: ModelQuery) => Promise<readonly AgentModel[]> = async ({ provider }) =>
    provider === undefined ? OFFERED : [{ name: `${provider}/fast`, thinking: ["off"] }],
): SessionModels {
  return createSessionModels({ clock, pool: { models: ask }, providers: () => PROVIDERS });
}

/** Remembers what was asked for and refuses ids that say so. */
export function testRoles(): RoleDirectory & { readonly asked: unknown[] } {
  const asked: unknown[] = [];
  return {
    asked,
    why: ({ role }) => [`${role}: the test says so`],
    allows: () => [],
    people: () => [{ principal: "telegram:user:7", role: "member", from: "chat" }],
    async change(wish) {
      asked.push(wish);
      return wish.principal.startsWith("telegram:user:")
        ? { kind: "changed" }
        : { kind: "refused", because: "not_a_person" };
    },
  };
}
