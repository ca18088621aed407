/** What is said about models, thinking levels and summaries, from facts to sentences. Pure; also for programs that ask. */
import type { Compaction } from "../contracts/agent.ts";
import { ERRORS } from "../contracts/errors.ts";
import type { FoundLevel, FoundModel, ModelOffer } from "../contracts/session-models.ts";
import { thousands } from "./replies.ts";

const MAX_LISTED = 30;

export function modelList({ models, providers }: ModelOffer, current: string | null | undefined): string {
  const lines = models.slice(0, MAX_LISTED).map(({ name }) => `- ${name}${name === current ? " (now)" : ""}`);
  const more =
    models.length > MAX_LISTED ? [`- and ${models.length - MAX_LISTED} more; \`/model words\` finds them`] : [];
  const keys =
    providers.length > 0 ? [`There are keys for ${providers.join(", ")} too: \`/model provider/model\`.`] : [];
  const how = "`/model name` chooses one for this conversation, `/model default` goes back to the agent's own.";
  return ["You can choose:", ...lines, ...more, "", ...keys, how].join("\n");
}

export function notFoundText(asked: string, found: Exclude<FoundModel, { kind: "found" }>): string {
  if (found.kind === "several")
    return `Several models fit ${quoted(asked)}: ${found.names.join(", ")}. Write more of the name.`;
  if (found.kind === "unknown") {
    const near = found.near.length > 0 ? ` Did you mean ${found.near.join(", ")}?` : " `/model` shows what there is.";
    return `There is no model ${quoted(asked)} here.${near}`;
  }
  const [variable] = found.variables;
  const where = variable === undefined ? "" : `${variable} in the gateway's environment, or `;
  return `The gateway has no key for ${found.provider}, so nothing was changed. Set ${where}models.providers.${found.provider}.apiKey in the configuration, then try again.`;
}

export function levelText(asked: string, found: Exclude<FoundLevel, { kind: "found" }>): string {
  if (found.kind === "not_here") {
    if (found.levels.length <= 1) return `${found.model} does not think before it answers, so nothing was changed.`;
    return `${found.model} does not have that level, so nothing was changed. It has: ${found.levels.join(", ")}.`;
  }
  const near = found.near === null ? "" : ` Did you mean ${found.near}?`;
  return `There is no thinking level ${quoted(asked)}.${near} \`/help\` shows them.`;
}

export function compactionText(result: Compaction): string {
  switch (result.kind) {
    case "done":
      return `Summarised: about ${thousands(result.tokensBefore)} tokens before, ${thousands(result.tokensAfter)} now. What was said stays readable here.`;
    case "nothing":
      return "There is nothing to summarise yet: the conversation is short, or it was summarised a moment ago.";
    case "stopped":
      return "Stopped. The conversation is as it was.";
    case "failed":
      return `The summary could not be made, and the conversation is as it was. ${ERRORS[result.code].say}`;
  }
}

const MAX_QUOTED_CHARS = 100;

function quoted(text: string): string {
  return JSON.stringify(text.slice(0, MAX_QUOTED_CHARS).toWellFormed());
}
