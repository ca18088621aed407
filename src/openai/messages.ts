/** The messages of a request: what was said before, what is said now, and what the model is told besides. Pure. */
import type { ClientCall } from "../contracts/client-request.ts";
import type { ClientResult, CompletionPrompt, RequestMessage } from "../contracts/openai.ts";
import { parseJson } from "../kit/json.ts";
import { type Fields, listAt, objectAt, optionalText, textAt, wrongField } from "./fields.ts";

const MAX_IMAGES = 8;
const MAX_MESSAGES = 2_000;
const MAX_PARTS = 256;
const MAX_CALLS = 128;
const ARGUMENTS = { maxChars: 1024 * 1024, maxDepth: 64 };

interface Conversation {
  readonly before: readonly RequestMessage[];
  readonly prompt: CompletionPrompt;
  /** Of all messages of the system and the developer, in order. */
  readonly instructions: string;
  /** Calls and results that do not belong together, as part of a sentence; null: all do. */
  readonly unpaired: string | null;
}

/** Throws when nothing is left to answer. */
export function readMessages(value: unknown): Conversation {
  const given = listAt(value, "messages", MAX_MESSAGES).map((one, at) => ({
    fields: objectAt(one, `messages[${at}]`),
    at: `messages[${at}]`,
  }));
  if (given.length === 0) throw wrongField("messages", "is empty.");
  const instructions: string[] = [];
  const said: RequestMessage[] = [];
  const names = new Map<string, string>();
  for (const { fields, at } of given) {
    const role = fields["role"];
    if (role === "system" || role === "developer") instructions.push(plainText(fields["content"], `${at}.content`));
    else said.push(readMessage(fields, at, names));
  }
  return { ...splitConversation(said, "messages"), instructions: instructions.join("\n\n") };
}

/** At the last answer. `param`: the field that all of it came from. Throws when nothing is left to answer. */
export function splitConversation(said: readonly RequestMessage[], param: string): Omit<Conversation, "instructions"> {
  const from = said.findLastIndex(({ role }) => role === "assistant") + 1;
  const now = said.slice(from);
  if (now.length === 0) throw wrongField(param, "ends with an answer; add what is to be answered.");
  const prompt = promptOf(now);
  if (prompt.images.length > MAX_IMAGES) throw wrongField(param, `has more than ${MAX_IMAGES} new images.`);
  return { before: said.slice(0, from), prompt, unpaired: unpairedIn(said) };
}

/** A provider refuses a conversation in which a call has no result right after it, or a result no call. */
function unpairedIn(said: readonly RequestMessage[]): string | null {
  let open = new Set<string>();
  for (const one of said) {
    if (one.role === "tool") {
      if (!open.delete(one.callId))
        return `has a result for ${one.callId}, and the answer before it made no such call.`;
      continue;
    }
    const [missing] = open;
    if (missing !== undefined) return `has no result for the call ${missing}.`;
    if (one.role === "assistant") open = new Set(one.calls.map(({ callId }) => callId));
  }
  const [missing] = open;
  return missing === undefined ? null : `has no result for the call ${missing}.`;
}

function promptOf(now: readonly RequestMessage[]): CompletionPrompt {
  const people = now.filter((one) => one.role === "user");
  const results = now.filter((one) => one.role === "tool");
  return {
    text: people
      .map(({ text }) => text)
      .filter((text) => text !== "")
      .join("\n\n"),
    images: people.flatMap(({ images }) => images),
    results: results.map(({ callId, tool, text }): ClientResult => ({ callId, tool, text })),
  };
}

/** `names`: of calls, by their ids, as far as they were read. */
function readMessage(fields: Fields, at: string, names: Map<string, string>): RequestMessage {
  const { role, content } = fields;
  if (role === "user") return { role, ...userParts(content, `${at}.content`) };
  if (role === "assistant") {
    const calls = readCalls(fields["tool_calls"], `${at}.tool_calls`);
    for (const { callId, tool } of calls) names.set(callId, tool);
    const text = content === undefined || content === null ? "" : plainText(content, `${at}.content`);
    return { role, text, calls };
  }
  if (role === "tool") {
    const callId = textAt(fields["tool_call_id"], `${at}.tool_call_id`);
    return { role, callId, tool: names.get(callId) ?? "", text: plainText(content, `${at}.content`) };
  }
  throw wrongField(`${at}.role`, "must be one of: system, developer, user, assistant, tool.");
}

function plainText(content: unknown, at: string): string {
  if (typeof content === "string") return content;
  return listAt(content, at, MAX_PARTS)
    .map((one, index) => {
      const part = objectAt(one, `${at}[${index}]`);
      if (part["type"] === "text") return textAt(part["text"], `${at}[${index}].text`);
      if (part["type"] === "refusal") return textAt(part["refusal"], `${at}[${index}].refusal`);
      throw wrongField(`${at}[${index}].type`, "must be text here.");
    })
    .join("\n");
}

function userParts(content: unknown, at: string): { readonly text: string; readonly images: readonly string[] } {
  if (typeof content === "string") return { text: content, images: [] };
  const texts: string[] = [];
  const images: string[] = [];
  for (const [index, one] of listAt(content, at, MAX_PARTS).entries()) {
    const part = objectAt(one, `${at}[${index}]`);
    if (part["type"] === "text") texts.push(textAt(part["text"], `${at}[${index}].text`));
    else if (part["type"] === "image_url") images.push(imageUrl(part["image_url"], `${at}[${index}].image_url`));
    else throw wrongField(`${at}[${index}].type`, "must be text or image_url: audio and files are not taken here.");
  }
  return { text: texts.join("\n"), images };
}

function imageUrl(value: unknown, at: string): string {
  return textAt(objectAt(value, at)["url"], `${at}.url`);
}

function readCalls(value: unknown, at: string): readonly ClientCall[] {
  if (value === undefined || value === null) return [];
  return listAt(value, at, MAX_CALLS).map((one, index) => {
    const call = objectAt(one, `${at}[${index}]`);
    const called = objectAt(call["function"], `${at}[${index}].function`);
    const written = optionalText(called["arguments"], `${at}[${index}].function.arguments`) ?? "";
    return {
      callId: textAt(call["id"], `${at}[${index}].id`),
      tool: textAt(called["name"], `${at}[${index}].function.name`),
      input: readArguments(written),
    };
  });
}

/** What a model wrote wrongly stays a call without arguments. */
export function readArguments(written: string): unknown {
  const parsed = parseJson(written === "" ? "{}" : written, ARGUMENTS);
  return parsed.ok ? parsed.value : {};
}
