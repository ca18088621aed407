/** The models a process can be told to use. Asks pi; which levels of thinking a model has is read from how pi describes it. */
import { type AgentModel } from "../../contracts/agent.ts";
import { THINKING_LEVELS, type ThinkingLevel } from "../../contracts/session-settings.ts";
import { GatewayError } from "../../contracts/errors.ts";
import type { AgentProcess } from "../process/process.ts";
import { type Fields, isFields, modelName } from "./protocol.ts";

/** Only models that say so have these. */
const ON_REQUEST: ReadonlySet<ThinkingLevel> = new Set(["xhigh", "max"]);

export async function availableModels(
  process: Pick<AgentProcess, "request">,
  signal: AbortSignal,
): Promise<readonly AgentModel[]> {
  const answer = await process.request({ type: "get_available_models" }, signal);
  if (!answer.ok) throw new GatewayError("agent_unavailable", `pi did not list its models: ${answer.error}`);
  const models = Array.isArray(answer.data.models) ? answer.data.models.filter(isFields) : [];
  return models.flatMap((model) => {
    const name = modelName(model);
    return name === null ? [] : [{ name, thinking: levelsOf(model), ...priceOf(model) }];
  });
}

/** A model for which pi has no price costs nothing there; that is not the same as free. */
function priceOf({ cost }: Fields): Pick<AgentModel, "price"> {
  if (!isFields(cost)) return {};
  const { input, output } = cost;
  const isKnown = typeof input === "number" && typeof output === "number" && input + output > 0;
  return isKnown ? { price: { input, output } } : {};
}

function levelsOf(model: Fields): readonly ThinkingLevel[] {
  if (model.reasoning !== true) return ["off"];
  const map = isFields(model.thinkingLevelMap) ? model.thinkingLevelMap : {};
  return THINKING_LEVELS.filter((level) => {
    if (map[level] === null) return false;
    return !ON_REQUEST.has(level) || map[level] !== undefined;
  });
}
