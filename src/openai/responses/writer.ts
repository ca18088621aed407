/**
 * A response as it grows: words and calls become items, and each change is an event with the next number. What the agent says before it uses a
 * tool is commentary; its last words are the answer.
 */
import type { ClientCall } from "../../contracts/client-request.ts";
import type { CompletionProgress, SessionAnswer } from "../../contracts/openai.ts";
import type {
  OutputItem,
  ResponseEvent,
  ResponseObject,
  ResponseStatus,
  ResponseUsage,
} from "../../contracts/responses.ts";
import type { Usage } from "../../contracts/chat.ts";
import type { Problem } from "../problem.ts";
import {
  type CallItem,
  callMade,
  type Change,
  itemMade,
  messageClosed,
  messageGrown,
  type MessageItem,
  messageOpened,
  newMessage,
  outputText,
  textOf,
} from "./item-events.ts";

export interface ResponseWriter {
  /** Announces it, once: as queued, or as in progress. */
  begin(status: "queued" | "in_progress"): void;
  show(progress: CompletionProgress): void;
  /** Its last items, and what it will be with `complete`: nobody hears that it is complete before it is stored. */
  end(answer: SessionAnswer, at: number): ResponseObject;
  complete(ended: ResponseObject): ResponseObject;
  /** Words that were not finished are dropped. `announced`: an event tells of the problem first. */
  fail(problem: Problem, announced: boolean): ResponseObject;
  cancel(): ResponseObject;
  /** As it is now. */
  now(): ResponseObject;
  isBegun(): boolean;
}

const ITEM = /^(?:msg|fc)_([A-Za-z0-9]+)_(\d{1,4})$/;
const RESPONSE = "resp_";

export function createResponseWriter(first: ResponseObject, emit: (event: ResponseEvent) => void): ResponseWriter {
  const growing = createGrowth(first, emit);
  let begun: "queued" | "in_progress" | null = null;
  const begin = (status: "queued" | "in_progress"): void => {
    if (begun === status || begun === "in_progress") return;
    if (begun === null) growing.created(status);
    begun = status;
    growing.become(status);
  };
  return {
    begin,
    now: growing.now,
    isBegun: () => begun !== null,
    show(progress) {
      if (progress.type === "step") return growing.close("commentary");
      begin("in_progress");
      growing.say(progress.delta);
    },
    end(answer, at) {
      begin("in_progress");
      const { text, calls, usage } = answer;
      if (text !== "" && !growing.hasSaid(text)) growing.say(text);
      growing.close(calls.length > 0 ? "commentary" : "final_answer");
      for (const call of calls) growing.call(call);
      return {
        ...growing.now(),
        status: "completed",
        completed_at: at,
        usage: responseUsage(usage),
        pi_gateway: metadataOf(answer),
      };
    },
    complete: (ended) => growing.become("completed", ended),
    fail({ type, code, message, param }, announced) {
      begin("in_progress");
      const error = { type, code, message, param };
      if (announced) growing.tell({ ...error, type: "error", error });
      return growing.become("failed", { error: { code, message } });
    },
    cancel: () => growing.become("cancelled"),
  };
}

/** What a response has only when it has ended. */
type Ending = Pick<ResponseObject, "completed_at" | "usage" | "pi_gateway" | "error">;

/** The object, the message that is being written, and the numbers of the events. */
function createGrowth(first: ResponseObject, emit: (event: ResponseEvent) => void) {
  let response = first;
  let open: { readonly item: MessageItem; text: string } | null = null; // the text apart: putting it together for every word takes long
  let numbers = 0;
  const tell = (...changes: readonly Change[]): void => {
    for (const { type, ...members } of changes) emit({ type, sequence_number: numbers++, ...members });
  };
  const add = (item: OutputItem): void => {
    response = { ...response, output: [...response.output, item] };
  };
  const index = (): number => response.output.length;
  return {
    tell,
    now: () => response,
    created(status: ResponseStatus): void {
      response = { ...response, status };
      tell({ type: "response.created", response });
    },
    become(status: ResponseStatus, end: Partial<Ending> = {}): ResponseObject {
      const { completed_at = null, usage = null, pi_gateway = null, error = null } = end;
      response = { ...response, status, completed_at, usage, pi_gateway, error };
      tell(terminalChange(response));
      return response;
    },
    say(delta: string): void {
      if (open === null) {
        open = { item: newMessage(itemId("msg", response)), text: "" };
        tell(...messageOpened(open.item, index()));
      }
      tell(messageGrown(open.item, index(), delta));
      open.text += delta;
    },
    close(phase: MessageItem["phase"]): void {
      if (open === null) return;
      const done: MessageItem = { ...open.item, status: "completed", phase, content: [outputText(open.text)] };
      open = null;
      tell(...messageClosed(done, index()));
      add(done);
    },
    call({ callId, tool, input }: ClientCall): void {
      const item: CallItem = {
        id: itemId("fc", response),
        type: "function_call",
        status: "completed",
        call_id: callId,
        name: tool,
        arguments: JSON.stringify(input ?? {}),
      };
      tell(...callMade(item, index()));
      add(item);
    },
    /** Being written, or the last that was. */
    hasSaid(text: string): boolean {
      const last = response.output.findLast((item) => item.type === "message");
      return open !== null || (last !== undefined && textOf(last) === text);
    },
  };
}

/** The events of a response that has ended, for somebody who was not there. */
export function eventsOf(response: ResponseObject): readonly ResponseEvent[] {
  const bare: ResponseObject = {
    ...response,
    status: "in_progress",
    completed_at: null,
    output: [],
    usage: null,
    error: null,
  };
  const changes: readonly Change[] = [
    { type: "response.created", response: bare },
    { type: "response.in_progress", response: bare },
    ...response.output.flatMap(itemMade),
    terminalChange(response),
  ];
  return changes.map(({ type, ...members }, number) => ({ type, sequence_number: number, ...members }));
}

export function terminalChange(response: ResponseObject): Change {
  return { type: `response.${response.status}`, response };
}

/** Says which response has the item, so that it is found by its id alone. */
function itemId(prefix: "msg" | "fc", { id, output }: ResponseObject): string {
  return `${prefix}_${id.slice(RESPONSE.length)}_${output.length}`;
}

/** Null: no item of ours has such an id. */
export function placeOfItem(id: string): { readonly responseId: string; readonly index: number } | null {
  const [, response, index] = ITEM.exec(id) ?? [];
  return response === undefined ? null : { responseId: `${RESPONSE}${response}`, index: Number(index) };
}

export function responseUsage({ inputTokens, cachedTokens = 0, outputTokens }: Usage): ResponseUsage {
  return {
    input_tokens: inputTokens,
    input_tokens_details: { cached_tokens: cachedTokens },
    output_tokens: outputTokens,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: inputTokens + outputTokens,
  };
}

/** Tools of the gateway ran already: a program that saw them as calls would run them again. */
function metadataOf({ turnId, sessionKey, toolCalls, usage }: SessionAnswer): object {
  return { turn_id: turnId, session_key: sessionKey, tool_calls: toolCalls, cost_usd: usage.costUsd };
}
