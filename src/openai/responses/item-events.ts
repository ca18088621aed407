/** The events in which one item of a response appears, in their order. Pure. */
import type { OutputItem, OutputText } from "../../contracts/responses.ts";

export type MessageItem = Extract<OutputItem, { type: "message" }>;
export type CallItem = Extract<OutputItem, { type: "function_call" }>;

/** An event without its number. */
export interface Change {
  readonly type: string;
  readonly [member: string]: unknown;
}

export function newMessage(id: string): MessageItem {
  return { id, type: "message", status: "in_progress", role: "assistant", content: [], phase: "final_answer" };
}

export function messageOpened(item: MessageItem, index: number): readonly Change[] {
  return [
    { type: "response.output_item.added", output_index: index, item },
    { type: "response.content_part.added", ...placeOf(item, index), part: outputText("") },
  ];
}

export function messageGrown(item: MessageItem, index: number, delta: string): Change {
  return { type: "response.output_text.delta", ...placeOf(item, index), delta, logprobs: [] };
}

export function messageClosed(item: MessageItem, index: number): readonly Change[] {
  const text = textOf(item);
  return [
    { type: "response.output_text.done", ...placeOf(item, index), text, logprobs: [] },
    { type: "response.content_part.done", ...placeOf(item, index), part: outputText(text) },
    { type: "response.output_item.done", output_index: index, item },
  ];
}

/** All at once: the arguments of a call are known when it is made. */
export function callMade(item: CallItem, index: number): readonly Change[] {
  const at = { item_id: item.id, output_index: index };
  const begun: CallItem = { ...item, status: "in_progress", arguments: "" };
  return [
    { type: "response.output_item.added", output_index: index, item: begun },
    { type: "response.function_call_arguments.delta", ...at, delta: item.arguments },
    { type: "response.function_call_arguments.done", ...at, name: item.name, arguments: item.arguments },
    { type: "response.output_item.done", output_index: index, item },
  ];
}

/** Of an item that is complete, for somebody who was not there when it grew. */
export function itemMade(item: OutputItem, index: number): readonly Change[] {
  if (item.type === "function_call") return callMade(item, index);
  const begun: MessageItem = { ...item, status: "in_progress", content: [] };
  return [...messageOpened(begun, index), messageGrown(item, index, textOf(item)), ...messageClosed(item, index)];
}

export function textOf({ content }: MessageItem): string {
  return content.map(({ text }) => text).join("");
}

export function outputText(text: string): OutputText {
  return { type: "output_text", text, annotations: [], logprobs: [] };
}

function placeOf({ id }: MessageItem, index: number) {
  return { item_id: id, output_index: index, content_index: 0 };
}
