/** A chat completion as it was asked for: checked, with what this gateway does not do refused or left out. Pure. */
import { GatewayError } from "../contracts/errors.ts";
import type { ChatCompletionRequest } from "../contracts/openai.ts";
import { readClientTools } from "./client-tools.ts";
import {
  type Fields,
  flagAt,
  objectAt,
  optionalText,
  type Refusals,
  refuseFields,
  textAt,
  wrongField,
} from "./fields.ts";
import { readMessages } from "./messages.ts";

export const MODEL = "pi-gateway";
const USER_SESSION = "openai-";
const MAX_USER_CHARS = 512;
const SHORT_NAME = /^[a-z0-9-]{1,57}$/;

/** Fields that change what an answer is, which an agent with tools cannot promise; each with the values that ask for nothing. */
const REFUSED: Refusals = {
  n: { nothing: [1], because: "can only be 1: a turn has one answer." },
  logprobs: { nothing: [false], because: "is not known here." },
  top_logprobs: { nothing: [0], because: "is not known here." },
  audio: { nothing: [], because: "is not made here." },
  functions: { nothing: [], because: "is the old form. Use tools." },
  function_call: { nothing: [], because: "is the old form. Use tool_choice." },
  prediction: { nothing: [], because: "is not used here." },
  web_search_options: { nothing: [], because: "is not used here: the agent has tools of its own." },
};

export interface RequestOptions {
  /** Agents that can be named. */
  isAgent(id: string): boolean;
  isTaken(tool: string): boolean;
  /** Of a text, as a name: lower-case letters and digits. */
  digest(text: string): string;
}

export function readRequest(body: unknown, header: string | null, options: RequestOptions): ChatCompletionRequest {
  const fields = objectAt(body, "body");
  refuseUnknownAnswers(fields);
  const model = textAt(fields["model"], "model");
  const { before, prompt, instructions, unpaired } = readMessages(fields["messages"]);
  const session = header ?? userSession(fields, options);
  if (session === null && unpaired !== null) throw wrongField("messages", unpaired);
  return {
    model,
    agent: agentOf(model, options),
    session,
    history: session === null ? before : [],
    prompt,
    client: { tools: readClientTools(fields, options.isTaken), instructions },
    stream: flagAt(fields["stream"], "stream"),
    includeUsage: includesUsage(fields["stream_options"]),
  };
}

function refuseUnknownAnswers(fields: Fields): void {
  refuseFields(fields, REFUSED);
  const format = fields["response_format"];
  if (format !== undefined && format !== null && objectAt(format, "response_format")["type"] !== "text")
    throw wrongField("response_format", "can only be text. Ask for JSON in the instructions.");
  const modalities = fields["modalities"];
  if (Array.isArray(modalities) && modalities.some((one) => one !== "text"))
    throw wrongField("modalities", "can only be text.");
}

export function agentOf(model: string, { isAgent }: Pick<RequestOptions, "isAgent">): string | undefined {
  if (model === MODEL) return undefined;
  const agent = model.startsWith(`${MODEL}/`) ? model.slice(MODEL.length + 1) : "";
  if (isAgent(agent)) return agent;
  throw unknownModel(model);
}

/** Answered with 404 and `model_not_found`, as OpenAI does. */
function unknownModel(model: string): GatewayError {
  const name = JSON.stringify(model.slice(0, MAX_USER_CHARS));
  return new GatewayError("not_found", "no such model", {
    say: `There is no model ${name} here. GET /v1/models lists them.`,
    fields: { param: "model", code: "model_not_found" },
  });
}

/** One session for each value of `user`, apart from all that people name themselves. */
export function userSession(fields: Fields, { digest }: Pick<RequestOptions, "digest">): string | null {
  const user = optionalText(fields["user"], "user") ?? "";
  if (user === "") return null;
  if (user.length > MAX_USER_CHARS) throw wrongField("user", `has more than ${MAX_USER_CHARS} characters.`);
  return USER_SESSION + (SHORT_NAME.test(user) ? user : digest(user));
}

function includesUsage(value: unknown): boolean {
  if (value === undefined || value === null) return false;
  return flagAt(objectAt(value, "stream_options")["include_usage"], "stream_options.include_usage");
}
