/** What the built-in commands need, in one place: models and roles are the real decisions over made-up facts. */
import { type BuiltinCommandDeps, createLastStats, createSessionModels } from "../commands/index.ts";
import type { RoleDirectory } from "../contracts/channels/roles.ts";
import type { AgentModel, ModelQuery } from "../contracts/agent.ts";
import type { ProviderFacts, SessionModels } from "../contracts/session-models.ts";
import type { Store } from "../contracts/store.ts";
import type { GatewayStatus } from "../contracts/wire.ts";
import { type Clock, systemClock } from "../kit/clock.ts";
import { createEvents } from "../observe/index.ts";
import { noJobs } from "./automation/no-jobs.ts";
import { testPersonTimes } from "./automation/person-times.ts";
import { freeBudget } from "./free-budget.ts";
import { recordingLog } from "./recording-log.ts";

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

/** For `builtinCommands`. A new field of BuiltinCommandDeps is filled here for tests, and in src/wiring/built-in-commands.ts for the gateway. */
export function testCommandDeps(store: Store, given: Partial<BuiltinCommandDeps> = {}): BuiltinCommandDeps {
  const log = recordingLog();
  return {
    clock: systemClock,
    log,
    events: createEvents({ log }),
    store,
    stats: createLastStats(),
    models: testModels(systemClock),
    roles: testRoles(),
    status: () =>
      ({
        model: {},
        pool: {},
        queue: {},
        sandbox: { setting: "off" },
        uptimeMs: 0,
        notices: [],
      }) as unknown as GatewayStatus,
    jobs: noJobs(),
    budget: freeBudget(),
    people: testPersonTimes(systemClock),
    queued: { session: () => ({ waiting: 0, mode: "collect", chosen: false }), choose: async () => undefined },
    configured: () => ({ model: "fake/one", thinking: null }),
    approvals: { pending: () => [], decide: async () => "unknown" },
    pairing: { approve: async () => ({ kind: "unknown" }), list: () => [] },
    tools: {
      specs: () => [],
      call: async () => ({ kind: "failed", code: "tool_failed", message: "This gate has no tools." }),
      recordRejected: () => undefined,
    },
    ...given,
  };
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
