/** Agents whose processes hold a login or credentials themselves, as sentences for the status: no model door stands between. Pure. */
import type { Config, Environment } from "../../config/index.ts";
import { DEFAULT_AGENT } from "../../contracts/ids.ts";
import { chooseModel } from "./model-choice.ts";

export function heldLogins(
  config: Pick<Config, "agent" | "agents" | "models">,
  environment: Environment,
): readonly string[] {
  const all = [{ id: DEFAULT_AGENT as string, model: config.agent.model }, ...config.agents];
  const sentences = all.flatMap(({ id, model = config.agent.model }) => {
    const agent = { ...config.agent, ...(model === undefined ? {} : { model }) };
    const choice = chooseModel({ agent, models: config.models }, environment);
    if (choice.kind === "demo") return [];
    if (agent.agentDir !== undefined) return [holds(id, `pi's folder ${agent.agentDir}`)];
    const isHeld = choice.kind !== "login" && Object.keys(choice.access.held).length > 0;
    return isHeld ? [holds(id, `the credentials of ${choice.provider}`)] : [];
  });
  return [...new Set(sentences)];
}

function holds(id: string, what: string): string {
  return `The agent ${id} holds this login itself: ${what}. Whatever runs in its processes can read it and has the machine's network; agent.fallbacks and several keys do not hold for it, and a budget ends its turns only after the call that passes it.`;
}
