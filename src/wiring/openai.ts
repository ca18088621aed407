/** The OpenAI-compatible door, with the pool, the budget and the names it stands on. */
import { createHash } from "node:crypto";
import { agentProfiles } from "../agents/index.ts";
import type { AgentId } from "../contracts/ids.ts";
import type { OpenAiDoor } from "../contracts/openai.ts";
import { systemResolver } from "../kit/outside/public-address.ts";
import { createAnswers, createOpenAiDoor } from "../openai/index.ts";
import { explainRoute, requestSessionKey } from "../routing/index.ts";
import type { Core } from "./core.ts";
import type { Groups } from "./groups.ts";

const BYTES_PER_MB = 1024 * 1024;
/** A name of a session is short; so much of a digest tells apart what anybody says. */
const DIGEST_CHARS = 32;

export function openCompletions(core: Core, { people, tools, agents }: Groups): OpenAiDoor {
  const { clock, ids, config, secrets } = core;
  const names = {
    agents: () => [...new Set([...agentProfiles(config()).values()].map(({ id }) => String(id)))],
    isTool: (name: string) => isToolName(tools.list(), name),
    digest: (text: string) => createHash("sha256").update(text).digest("hex").slice(0, DIGEST_CHARS),
    startedAt: clock.now(),
  };
  const answers = createAnswers({
    clock,
    ids,
    pool: agents.pool,
    budget: people.budget,
    delegations: agents.delegations,
    mask: secrets.mask,
    timeoutMs: (agentId) => config().agents.find(({ id }) => id === agentId)?.timeoutMs ?? config().agent.timeoutMs,
    images: { clock, resolve: systemResolver, maxImageBytes: () => config().media.maxMb * BYTES_PER_MB },
    route: (principal, agent, chat) =>
      explainRoute(
        config(),
        {
          address: { channel: "api", account: "default", chat },
          scope: "dm",
          sender: { principal, name: "" },
          mentioned: true,
          ...(agent === undefined ? {} : { agentId: agent as AgentId }),
        },
        people.policies,
        people.grants.current(),
      ).verdict,
    sessionKey: requestSessionKey,
  });
  return createOpenAiDoor({ clock, answers, names });
}

/** Names that differ in case alone are one name: some providers do not tell them apart. */
function isToolName({ tools, piTools }: ReturnType<Groups["tools"]["list"]>, name: string): boolean {
  const asked = name.toLowerCase();
  return [...tools, ...piTools].some((tool) => tool.name.toLowerCase() === asked);
}
