/** Items as a conversation: calls belong to the answer that made them, and results to their calls. Pure. */
import type { RequestedTurn, RequestMessage } from "../../contracts/openai.ts";
import type { GivenItem, OutputItem, ResponseRequest, SaidItems } from "../../contracts/responses.ts";
import { wrongField } from "../fields.ts";
import { readArguments, splitConversation } from "../messages.ts";

/** With everything it refers to looked up. */
export type KnownItem = Exclude<GivenItem, { readonly kind: "reference" }>;

export const NOTHING_SAID: SaidItems = { messages: [], system: [] };

export function saidOf(items: readonly KnownItem[]): SaidItems {
  const messages: RequestMessage[] = [];
  const system: string[] = [];
  for (const item of items) {
    if (item.kind === "system") system.push(item.text);
    else if (item.kind === "user") messages.push({ role: "user", text: item.text, images: item.images });
    else if (item.kind === "result") messages.push({ role: "tool", callId: item.callId, tool: "", text: item.text });
    else addToAnswer(messages, item);
  }
  return { messages, system };
}

/** Words and calls that follow each other are one answer, as a model gave it. */
function addToAnswer(messages: RequestMessage[], item: Extract<KnownItem, { kind: "assistant" | "call" }>): void {
  const last = messages.at(-1);
  const begun = last?.role === "assistant" ? last : { role: "assistant" as const, text: "", calls: [] };
  if (begun === last) messages.pop();
  if (item.kind === "call") {
    const { callId, tool, input } = item;
    messages.push({ ...begun, calls: [...begun.calls, { callId, tool, input }] });
  } else {
    const text = [begun.text, item.text].filter((one) => one !== "").join("\n\n");
    messages.push({ ...begun, text });
  }
}

export function joined(...parts: readonly SaidItems[]): SaidItems {
  return { messages: parts.flatMap(({ messages }) => messages), system: parts.flatMap(({ system }) => system) };
}

/** What a response has said, as items of the next request. */
export function outputAsItems(output: readonly OutputItem[]): readonly KnownItem[] {
  return output.map((item) =>
    item.type === "message"
      ? { kind: "assistant", text: item.content.map(({ text }) => text).join("\n") }
      : { kind: "call", callId: item.call_id, tool: item.name, input: readArguments(item.arguments) },
  );
}

/** `said`: from the first message of the conversation to the last. Throws when there is nothing to answer, or a result is missing. */
export function turnOf({ agent, session, tools, settings }: ResponseRequest, said: SaidItems): RequestedTurn {
  if (said.messages.length === 0) throw wrongField("input", "is empty; add what is to be answered.");
  const { before, prompt, unpaired } = splitConversation(withToolNames(said.messages), "input");
  if (session === null && unpaired !== null) throw wrongField("input", unpaired);
  const instructions = [settings.instructions ?? "", ...said.system].filter((text) => text !== "").join("\n\n");
  return { agent, session, history: session === null ? before : [], prompt, client: { tools, instructions } };
}

/** How much it is to be kept. */
export function charsIn({ messages, system }: SaidItems): number {
  const texts = [...system, ...messages.map(({ text }) => text)];
  const images = messages.flatMap((one) => (one.role === "user" ? one.images : []));
  const calls = messages.flatMap((one) => (one.role === "assistant" ? one.calls : []));
  const written = calls.map(({ input }) => JSON.stringify(input ?? {}));
  return [...texts, ...images, ...written].reduce((sum, { length }) => sum + length, 0);
}

function withToolNames(messages: readonly RequestMessage[]): readonly RequestMessage[] {
  const names = new Map<string, string>();
  for (const one of messages)
    if (one.role === "assistant") for (const { callId, tool } of one.calls) names.set(callId, tool);
  return messages.map((one) => (one.role === "tool" ? { ...one, tool: names.get(one.callId) ?? "" } : one));
}
