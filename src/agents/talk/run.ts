/** What one prompt has produced so far: pi's events in, the gateway's events out, and the one last word. Holds no process and no timer. */
import type { AgentEvent } from "../../contracts/agent.ts";
import type { Usage } from "../../contracts/chat.ts";
import type { ErrorCode } from "../../contracts/errors.ts";
import { addUsage, NO_USAGE } from "./entry-usage.ts";
import { classifyFailure } from "./provider-failure.ts";
import type { PiEvent, PiMessage } from "./protocol.ts";

export type Ending =
  | { readonly because: "settled" }
  | { readonly because: "stopped" }
  | { readonly because: "failed"; readonly code: ErrorCode; readonly detail: string; readonly again: boolean };

export interface Run {
  apply(event: PiEvent): readonly AgentEvent[];
  /** The prompt was told to stop: from here on words are shown only as part of a complete answer. */
  cutOff(): void;
  /** The last event of the stream. A complete answer that arrived after the cut-off is the ending, whatever the reason to stop was. */
  end(ending: Ending): AgentEvent;
  /** A tool that runs may be quiet for as long as its own deadline allows. */
  toolsRunning(): number;
  /** Whether any tool has been called so far. */
  hasUsedTools(): boolean;
  /** The model that spoke last. */
  model(): string;
}

interface Totals {
  readonly text: string;
  readonly usage: Usage;
  readonly model: string;
}

export function createRun(model: string): Run {
  const answer = createAnswer(model);
  const thoughts = createThoughts();
  return {
    ...answer,
    apply: (event) => [...thoughts.apply(event), ...answer.apply(event)],
    cutOff() {
      thoughts.cutOff();
      answer.cutOff();
    },
  };
}

/** What the model says and the tools that it uses. */
function createAnswer(model: string): Run {
  const finished: PiMessage[] = [];
  const answered: string[] = []; // before more was steered into the prompt
  const tools = new Set<string>();
  let streamed = ""; // of the message that is being written
  let said = false; // anything was shown before the current message
  let toolsUsed = 0;
  let usage = NO_USAGE;
  let lastModel = model;
  let textAtCutOff: string | null = null;

  const allText = (): string => joined([...answered, textOf(finished, streamed)]);
  const totals = (text = allText()): Totals => ({ text, usage, model: lastModel });
  const isAnswered = (): boolean => streamed === "" && tools.size === 0 && answersIn(finished).length > 0;

  const closeMessage = (message: PiMessage): void => {
    usage = addUsage(usage, message.usage);
    if (message.model !== "/") lastModel = message.model;
    finished.push(message.text === "" ? { ...message, text: streamed } : message);
    said ||= streamed !== "";
    streamed = "";
  };

  return {
    toolsRunning: () => tools.size,
    hasUsedTools: () => toolsUsed > 0,
    model: () => lastModel,
    apply(event) {
      switch (event.type) {
        case "text": {
          const gap = streamed === "" && said ? "\n\n" : "";
          streamed += event.delta;
          if (textAtCutOff !== null) return [];
          return [{ type: "text", delta: gap + event.delta }];
        }
        case "user_said":
          answered.push(...answersIn(finished.splice(0)));
          return [];
        case "message_ended":
          closeMessage(event.message);
          return [];
        case "spent":
          usage = addUsage(usage, event.usage);
          return [];
        case "tool_started":
          toolsUsed++;
          return toolEvents(event, tools);
        case "tool_updated":
        case "tool_ended":
          return toolEvents(event, tools);
        case "retrying":
          finished.pop(); // the failed attempt; pi takes it out of the conversation too
          streamed = "";
          said = answered.length > 0 || finished.some((message) => message.text !== "");
          return [{ type: "retrying", because: event.because }];
        default:
          return [];
      }
    },
    cutOff() {
      textAtCutOff ??= allText();
    },
    end(ending) {
      const answeredLate = textAtCutOff !== null && isAnswered();
      if (ending.because === "settled" || answeredLate)
        return settle(finished.at(-1), toolsUsed + answered.length, totals());
      return cutShort(ending, totals(textAtCutOff ?? allText()));
    },
  };
}

/** What a model thinks, with a gap where it did something else in between. Nothing of it is shown after the cut-off. */
function createThoughts(): Pick<Run, "apply" | "cutOff"> {
  let thinks: "not yet" | "now" | "again" | "no more" = "not yet";
  return {
    cutOff() {
      thinks = "no more";
    },
    apply(event) {
      if (thinks === "no more") return [];
      if (event.type !== "thought") {
        if (thinks === "now" && event.type !== "alive") thinks = "again";
        return [];
      }
      const gap = thinks === "again" ? "\n\n" : "";
      thinks = "now";
      return [{ type: "thought", delta: gap + event.delta }];
    },
  };
}

/** Keeps `running` as it is after the event. Updates that say nothing, or come after the end, are dropped. */
function toolEvents(
  event: Extract<PiEvent, { type: "tool_started" | "tool_updated" | "tool_ended" }>,
  running: Set<string>,
): readonly AgentEvent[] {
  const { callId } = event;
  switch (event.type) {
    case "tool_started":
      running.add(callId);
      return [{ type: "tool_start", callId, tool: event.tool, input: event.input }];
    case "tool_updated":
      return event.text === "" || !running.has(callId) ? [] : [{ type: "tool_update", callId, text: event.text }];
    case "tool_ended":
      running.delete(callId);
      return [{ ...event, type: "tool_end" }];
  }
}

function cutShort(ending: Exclude<Ending, { because: "settled" }>, totals: Totals): AgentEvent {
  if (ending.because === "stopped") return { type: "aborted", ...totals };
  const { code, detail, again } = ending;
  return { type: "failed", code, detail, again, ...totals };
}

/** pi says that it is done; whether that was a success is in its last message. */
function settle(last: PiMessage | undefined, toolsUsed: number, totals: Totals): AgentEvent {
  const failed = (code: ErrorCode, detail: string): AgentEvent => ({
    type: "failed",
    code,
    detail,
    again: false,
    ...totals,
  });
  if (last?.stop === "error") return failed(classifyFailure(last.error), last.error);
  if (last?.stop === "aborted") return failed("provider_cut", last.error || "aborted by nobody we know");
  if (totals.text === "" && toolsUsed === 0) return failed("agent_empty", "settled without text, tool or error");
  return { type: "done", ...totals };
}

/** The last message is the answer. Earlier ones ("let me look that up") stand in only when it is empty. */
function textOf(finished: readonly PiMessage[], streamed: string): string {
  const last = streamed || (finished.at(-1)?.text ?? "");
  return last.trim() !== "" ? last : joined(finished.map((message) => message.text));
}

/** The model had come to an end before it heard more: that is an answer, and stays one. "Let me look" before a tool is none. */
function answersIn(finished: readonly PiMessage[]): readonly string[] {
  const last = finished.at(-1);
  if (last?.stop !== "stop" && last?.stop !== "length") return [];
  return last.text.trim() === "" ? [] : [last.text];
}

function joined(parts: readonly string[]): string {
  return parts.filter((part) => part.trim() !== "").join("\n\n");
}
