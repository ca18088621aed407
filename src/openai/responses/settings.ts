/** What a response says about its request: every member has a value, and what an agent cannot promise is refused. Pure. */
import type { ResponseSettings } from "../../contracts/responses.ts";
import {
  type Fields,
  flagAt,
  numberAt,
  objectAt,
  optionalText,
  type Refusals,
  refuseFields,
  wrongField,
} from "../fields.ts";

const MAX_METADATA = 16;
const MAX_KEY_CHARS = 64;
const MAX_VALUE_CHARS = 512;
const MAX_IDENTIFIER_CHARS = 64;
const MIN_OUTPUT_TOKENS = 16;
const LOGPROBS = "message.output_text.logprobs";
const TIERS = ["auto", "default", "flex", "priority"];
const TRUNCATIONS = ["auto", "disabled"];

const REFUSED: Refusals = {
  conversation: {
    nothing: [],
    because: "is not kept here. Go on with previous_response_id, or name a session with X-Session-Key.",
  },
  prompt: { nothing: [], because: "is not kept here. Send the words as instructions and input." },
  max_tool_calls: { nothing: [], because: "cannot be promised: an agent calls tools until it has an answer." },
  top_logprobs: { nothing: [0], because: "is not known here." },
};

type Given = Pick<ResponseSettings, "model" | "tools" | "tool_choice">;

export function readSettings(fields: Fields, given: Given): ResponseSettings {
  refuseFields(fields, REFUSED);
  refuseLogprobs(fields["include"]);
  const store = fields["store"] === undefined || fields["store"] === null ? true : flagAt(fields["store"], "store");
  const background = flagAt(fields["background"], "background");
  if (background && !store)
    throw wrongField("background", "needs store: what nobody waits for is asked for later, by its id.");
  return {
    ...given,
    previous_response_id: optionalText(fields["previous_response_id"], "previous_response_id") ?? null,
    instructions: optionalText(fields["instructions"], "instructions") ?? null,
    truncation: oneOf(fields["truncation"], "truncation", TRUNCATIONS, "disabled"),
    parallel_tool_calls:
      fields["parallel_tool_calls"] === undefined ||
      fields["parallel_tool_calls"] === null ||
      flagAt(fields["parallel_tool_calls"], "parallel_tool_calls"),
    text: readText(fields["text"]),
    top_p: numberAt(fields["top_p"], "top_p", 1),
    presence_penalty: numberAt(fields["presence_penalty"], "presence_penalty", 0),
    frequency_penalty: numberAt(fields["frequency_penalty"], "frequency_penalty", 0),
    top_logprobs: 0,
    temperature: numberAt(fields["temperature"], "temperature", 1),
    reasoning: readReasoning(fields["reasoning"]),
    max_output_tokens: maxTokens(fields["max_output_tokens"]),
    max_tool_calls: null,
    store,
    background,
    service_tier: oneOf(fields["service_tier"], "service_tier", TIERS, "default") && "default",
    metadata: readMetadata(fields["metadata"]),
    safety_identifier: identifier(fields["safety_identifier"], "safety_identifier"),
    prompt_cache_key: identifier(fields["prompt_cache_key"], "prompt_cache_key"),
    user: optionalText(fields["user"], "user") ?? null,
  };
}

function refuseLogprobs(include: unknown): void {
  if (include === undefined || include === null) return;
  if (!Array.isArray(include)) throw wrongField("include", "must be a list.");
  if (include.includes(LOGPROBS)) throw wrongField("include", `cannot have ${LOGPROBS}: they are not known here.`);
}

function oneOf(value: unknown, param: string, values: readonly string[], otherwise: string): string {
  const text = optionalText(value, param) ?? otherwise;
  if (values.includes(text)) return text;
  throw wrongField(param, `must be one of: ${values.join(", ")}.`);
}

function readText(value: unknown): object {
  const fields = value === undefined || value === null ? {} : objectAt(value, "text");
  const format = fields["format"];
  if (format !== undefined && format !== null && objectAt(format, "text.format")["type"] !== "text")
    throw wrongField("text.format", "can only be text. Ask for JSON in the instructions.");
  const verbosity = optionalText(fields["verbosity"], "text.verbosity");
  return { format: { type: "text" }, ...(verbosity === undefined ? {} : { verbosity }) };
}

function readReasoning(value: unknown): object {
  const fields = value === undefined || value === null ? {} : objectAt(value, "reasoning");
  return {
    effort: optionalText(fields["effort"], "reasoning.effort") ?? null,
    summary: optionalText(fields["summary"], "reasoning.summary") ?? null,
  };
}

function maxTokens(value: unknown): number | null {
  if (value === undefined || value === null) return null;
  if (typeof value === "number" && Number.isSafeInteger(value) && value >= MIN_OUTPUT_TOKENS) return value;
  throw wrongField("max_output_tokens", `must be a whole number from ${MIN_OUTPUT_TOKENS} on.`);
}

function readMetadata(value: unknown): Readonly<Record<string, string>> {
  if (value === undefined || value === null) return {};
  const pairs = Object.entries(objectAt(value, "metadata"));
  if (pairs.length > MAX_METADATA)
    throw wrongField("metadata", `has ${pairs.length} pairs; the limit is ${MAX_METADATA}.`);
  const texts: Record<string, string> = {};
  for (const [key, text] of pairs) {
    if (key.length > MAX_KEY_CHARS)
      throw wrongField("metadata", `has a name of more than ${MAX_KEY_CHARS} characters.`);
    if (typeof text !== "string" || text.length > MAX_VALUE_CHARS)
      throw wrongField(`metadata.${key}`, `must be a string of at most ${MAX_VALUE_CHARS} characters.`);
    texts[key] = text;
  }
  return texts;
}

function identifier(value: unknown, param: string): string | null {
  const text = optionalText(value, param) ?? null;
  if (text !== null && text.length > MAX_IDENTIFIER_CHARS)
    throw wrongField(param, `has more than ${MAX_IDENTIFIER_CHARS} characters.`);
  return text;
}
