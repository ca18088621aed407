/** Makes a conversation shorter: an agent says what matters in it, and that stands for all of it in later requests. */
import type { AskedCompaction, CompactedResponse, ResponseRequest } from "../../contracts/responses.ts";
import type { Ids } from "../../kit/ids.ts";
import { objectAt, optionalText, textAt, wrongField } from "../fields.ts";
import type { RequestOptions } from "../request.ts";
import { compactionContent } from "./compaction-item.ts";
import { readResponseRequest } from "./request.ts";
import { prepare, type RunDeps, seconds } from "./run.ts";
import { responseUsage } from "./writer.ts";

const ASK = `Summarise the conversation so far, for yourself: you will go on from your summary alone. Keep names, numbers, decisions, what was asked for
and is still open, and results of tools that still matter. Do not use tools, and do not answer anything else now.`;

interface CompactDeps extends RunDeps {
  readonly ids: Ids;
  readonly options: RequestOptions;
}

export async function compactConversation(
  deps: CompactDeps,
  asked: AskedCompaction,
  signal: AbortSignal,
): Promise<CompactedResponse> {
  const request = readCompactRequest(asked.body, deps.options);
  if (request.previous === null && request.input.length <= 1)
    throw wrongField("input", "is empty; there is nothing to compact.");
  const { turn } = await prepare(deps, { ...asked, request, shows: "whole", recalled: null }, signal);
  const { text, usage } = await deps.answers.answer(turn, () => undefined, signal);
  const id = deps.ids.next("resp");
  const item = {
    id: `cmp_${id.slice("resp_".length)}_0`,
    type: "compaction",
    encrypted_content: compactionContent(text),
  };
  return {
    id,
    object: "response.compaction",
    created_at: seconds(deps.clock),
    output: [item],
    usage: responseUsage(usage),
  };
}

/** The conversation, and after it the wish for a summary. Here the model has to be named, as the specification says. */
function readCompactRequest(body: unknown, options: RequestOptions): ResponseRequest {
  const { model, input, previous_response_id, instructions, prompt_cache_key } = objectAt(body, "body");
  const wish = [ASK, optionalText(instructions, "instructions") ?? ""].filter((text) => text !== "").join("\n\n");
  const fields = { model: textAt(model, "model"), input, previous_response_id, prompt_cache_key, store: false };
  const request = readResponseRequest(fields, null, options);
  return { ...request, input: [...request.input, { kind: "user", text: wish, images: [], files: [] }] };
}
