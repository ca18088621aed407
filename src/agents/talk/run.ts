/** What one prompt has produced so far: pi's events in, the gateway's events out, and the one last word. Holds no process and no timer. */
import type { AgentEvent } from "../../contracts/agent.ts";
import type { Usage } from "../../contracts/chat.ts";
import type { ErrorCode } from "../../contracts/errors.ts";
import { addUsage, NO_USAGE } from "./entry-usage.ts";
import { classifyFailure } from "./failure.ts";
import type { PiEvent, PiMessage } from "./protocol.ts";

export type Ending =
  | { readonly because: "settled" }
  | { readonly because: "stopped" }
  | { readonly because: "failed"; readonly code: ErrorCode; readonly detail: string; readonly again: boolean };

export interface Run {
  apply(event: PiEvent): readonly AgentEvent[];
  /** The last event of the stream. */
  end(ending: Ending): AgentEvent;
  /** A tool that runs may be quiet for as long as its own deadline allows. */
  toolsRunning(): number;
}

export function createRun(model: string): Run {
  const finished: PiMessage[] = [];
  const answered: string[] = []; // before more was said into the prompt
  const tools = new Set<string>();
  let streamed = ""; // of the message that is being written
  let said = false; // anything was shown before the current message
  let toolsUsed = 0;
  let usage = NO_USAGE;
  let lastModel = model;

  const totals = () => ({ text: joined([...answered, textOf(finished, streamed)]), usage, model: lastModel });

  const closeMessage = (message: PiMessage): void => {
    usage = addUsage(usage, message.usage);
    if (message.model !== "/") lastModel = message.model;
    finished.push(message.text === "" ? { ...message, text: streamed } : message);
    said ||= streamed !== "";
    streamed = "";
  };

  return {
    toolsRunning: () => tools.size,
    apply(event) {
      switch (event.type) {
        case "text": {
          const gap = streamed === "" && said ? "\n\n" : "";
          streamed += event.delta;
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
          tools.add(event.callId);
          toolsUsed++;
          return [{ type: "tool_start", callId: event.callId, tool: event.tool, input: event.input }];
        case "tool_ended":
          tools.delete(event.callId);
          return [{ ...event, type: "tool_end" }];
        case "retrying":
          finished.pop(); // the failed attempt; pi takes it out of the conversation too
          streamed = "";
          said = answered.length > 0 || finished.some((message) => message.text !== "");
          return [{ type: "retrying", because: event.because }];
        default:
          return [];
      }
    },
    end(ending) {
      if (ending.because === "stopped") return { type: "aborted", ...totals() };
      if (ending.because === "failed") return { type: "failed", ...without(ending), ...totals() };
      return settle(finished.at(-1), toolsUsed + answered.length, totals());
    },
  };
}

/** pi says that it is done; whether that was a success is in its last message. */
function settle(
  last: PiMessage | undefined,
  toolsUsed: number,
  totals: { readonly text: string; readonly usage: Usage; readonly model: string },
): AgentEvent {
  if (last?.stop === "error") {
    return { type: "failed", code: classifyFailure(last.error), detail: last.error, again: false, ...totals };
  }
  if (last?.stop === "aborted") {
    return {
      type: "failed",
      code: "provider_cut",
      detail: last.error || "aborted by nobody we know",
      again: false,
      ...totals,
    };
  }
  if (totals.text === "" && toolsUsed === 0) {
    return {
      type: "failed",
      code: "agent_empty",
      detail: "settled without text, tool or error",
      again: false,
      ...totals,
    };
  }
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

function without(ending: Extract<Ending, { because: "failed" }>) {
  return { code: ending.code, detail: ending.detail, again: ending.again };
}
