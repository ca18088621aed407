/** How a turn ends: pure decisions, from what the agent did to what the chat shows. Every ending shows something. */
import type { AgentEvent, FailedModel } from "../../contracts/agent.ts";
import type { Usage } from "../../contracts/chat.ts";
import { ERRORS, type ErrorCode } from "../../contracts/errors.ts";
import type { FileChange } from "../../contracts/store/session-files.ts";
import type { ReplyPart } from "../../contracts/delivery.ts";
import { providerOf, type TimeText, withTime } from "./provider-wait.ts";
import type { Batch, StopCause, TurnEnd, UnbegunReply } from "../../contracts/queue.ts";

export type AgentEnding = Extract<AgentEvent, { type: "done" | "failed" | "aborted" }>;
export interface EndWithoutSize extends Omit<TurnEnd, "settledBytes" | "fileChange" | "spent"> {
  /** Usage of the last attempt alone, without earlier attempts and without other agents. Absent: nothing. */
  readonly own?: Usage;
}

export type AttemptResult =
  | {
      readonly kind: "end";
      readonly end: EndWithoutSize;
      readonly settledBytes: number;
      readonly fileChange?: FileChange;
    }
  | { readonly kind: "again"; readonly because: string }
  | { readonly kind: "leave" };

/** Attempts since the gateway was started, the first one included: a crash or a restart of the gateway is not the agent's failure. */
export const MAX_ATTEMPTS = 3;
export const NOTHING_USED: Usage = { inputTokens: 0, outputTokens: 0, costUsd: 0 };

/** Another attempt is right only when the process failed, not the model, and there are attempts left. */
export function shouldRetry(ending: AgentEnding, attempt: number): boolean {
  return ending.type === "failed" && ending.again && attempt < MAX_ATTEMPTS;
}

/** An agent whose events stopped without a last one. */
export function streamCutOff(again: boolean): AgentEnding {
  const detail = "the stream ended without an ending";
  return { type: "failed", code: "agent_exited", detail, again, text: "", usage: NOTHING_USED, model: "" };
}

const POSTING_TOOLS: readonly string[] = ["send_message", "send_media"];

/** The chat has been shown something by a tool. */
export function isPost(event: AgentEvent): boolean {
  return event.type === "tool_end" && !event.isError && POSTING_TOOLS.includes(event.tool);
}

/** `stoppedBy` matters only to an ending that was asked for: by a person, by a newer message, or by the turn's own deadline. */
export function endOf(
  ending: AgentEnding,
  stoppedBy: StopCause | "deadline",
  posted = false,
  time?: TimeText,
): EndWithoutSize {
  const { usage, model } = ending;
  if (ending.type === "done") {
    // what was to be said has been said by a tool
    if (ending.text.trim() === "" && posted) return { outcome: "done", reply: [], usage, model };
    if (ending.text.trim() === "") return failure("agent_empty", "settled without text", { usage, model });
    const notice = ending.failed ? fallbackSentence(ending.failed, model) : "";
    return { outcome: "done", reply: parts(["reply", ending.text], ["notice", notice]), usage, model };
  }
  if (ending.type === "failed") {
    const say = ending.say ?? providerSentence(ending, time);
    return failure(ending.code, ending.detail, { usage, model, text: ending.text, ...(say === null ? {} : { say }) });
  }
  if (stoppedBy === "deadline")
    return failure("agent_timeout", "turn deadline reached", { usage, model, text: ending.text });
  return { outcome: "aborted", reply: parts(["reply", ending.text], ["notice", STOPPED[stoppedBy]]), usage, model };
}

/** In a group an answer points at the newest message that it answers, because others may have spoken since. */
export function withReplyTo<T extends { readonly reply: readonly ReplyPart[] }>(
  { entries }: Pick<Batch, "entries">,
  end: T,
): T {
  const answered = entries.findLast(
    ({ message }) => message.scope === "group" && (message.origin ?? "chat") === "chat",
  );
  if (!answered) return end;
  const reply = end.reply.map((part) =>
    part.part === 0 ? { ...part, message: { replyTo: answered.id, ...part.message } } : part,
  );
  return { ...end, reply };
}

/** A command was answered by the gateway itself; most ask nothing of a model. */
export function commandEnd(text: string, usage = NOTHING_USED, model = ""): EndWithoutSize {
  return { outcome: "done", reply: parts(["reply", text]), usage, model };
}

/** The same end, with what earlier attempts at the turn had cost. */
export function withLost(end: EndWithoutSize, lost: Usage): EndWithoutSize {
  return { ...end, usage: addUsage(end.usage, lost), own: end.usage };
}

export function addUsage(a: Usage, b: Usage): Usage {
  const cachedTokens = (a.cachedTokens ?? 0) + (b.cachedTokens ?? 0);
  return {
    inputTokens: a.inputTokens + b.inputTokens,
    ...(cachedTokens > 0 ? { cachedTokens } : {}),
    outputTokens: a.outputTokens + b.outputTokens,
    costUsd: a.costUsd + b.costUsd,
  };
}

/** The end of a turn that never reached an agent, or that fell apart around it. */
export function failure(
  code: ErrorCode,
  detail: string,
  more: {
    readonly text?: string;
    readonly usage?: TurnEnd["usage"];
    readonly model?: string;
    readonly say?: string;
  } = {},
): EndWithoutSize {
  return {
    outcome: "failed",
    reply: parts(["reply", more.text ?? ""], ["notice", more.say ?? ERRORS[code].say]),
    usage: more.usage ?? NOTHING_USED,
    model: more.model ?? "",
    error: { code, detail: detail.slice(0, 2_000) },
  };
}

/** Said in the turn in which it happened; later ones have the model in their record. */
function fallbackSentence({ model, because }: FailedModel, answered: string): string {
  return `${answered} answered, because ${model} failed: ${because}`;
}

const MAX_QUOTED_CHARS = 300;

/** The error of the provider in its own words, and what to do, on one line. Null: the failure is not the provider's. */
export function providerSentence(
  { code, detail, model, tryAt }: Pick<Extract<AgentEnding, { type: "failed" }>, "code" | "detail" | "model" | "tryAt">,
  time?: TimeText,
): string | null {
  if (!code.startsWith("provider_")) return null;
  const provider = providerOf(model);
  const status =
    /^\s*(?:error\D{0,3})?([45]\d\d)\b/i.exec(detail)?.[1] ?? /\b(?:status|code)\D{0,3}([45]\d\d)\b/i.exec(detail)?.[1];
  const said = messageIn(detail)
    .replaceAll(/[\s\p{Cc}]+/gu, " ")
    .trim();
  const quoted = said.length > MAX_QUOTED_CHARS ? `${said.slice(0, MAX_QUOTED_CHARS).toWellFormed()}…` : said;
  const what = status === undefined ? `${provider} failed` : `${provider} answered with status ${status}`;
  const advice = tryAt === undefined || !time ? ERRORS[code].say : withTime(ERRORS[code].say, time(tryAt));
  return `${what}${quoted === "" ? "." : `: "${quoted}"`} ${advice}`;
}

/** The sentence in an error: providers wrap it in JSON, and libraries put the status before it. */
function messageIn(detail: string): string {
  const plain = detail.replace(/^\s*[45]\d\d\b\s*(?:status code)?[:\s]*/i, "");
  return /"message"\s*:\s*"((?:[^"\\]|\\.)*)"/.exec(plain)?.[1]?.replaceAll(/\\(["\\/])/g, "$1") ?? plain;
}

/** Said after whatever the assistant had said so far. */
const STOPPED: Readonly<Record<StopCause, string>> = {
  stopped: "Stopped.",
  interrupted: "Stopped, to answer your next message.",
};

/** A message that waited too long is not answered: its sender may have given up on it, and can send it again. */
export function expiredEnd({ entries, hidden }: Pick<Batch, "entries" | "hidden">, waitedMs: number): EndWithoutSize {
  const many = entries.length + hidden;
  const what = many === 1 ? "This message" : `These ${many} messages`;
  const [was, it, matters] = many === 1 ? ["was", "it", "matters"] : ["were", "them", "matter"];
  const say = `${what} waited ${longTime(waitedMs)} and ${was} not answered. Send ${it} again if ${many === 1 ? "it" : "they"} still ${matters}.`;
  return failure("message_expired", `waited ${Math.round(waitedMs)} ms`, { say });
}

/** A waiting message that its sender withdrew. */
export function withdrawnEnd(): UnbegunReply {
  return { outcome: "aborted", reply: parts(["notice", "Withdrawn before it was answered."]) };
}

function longTime(ms: number): string {
  const minutes = Math.max(1, Math.floor(ms / 60_000));
  if (minutes < 120) return `${minutes} ${minutes === 1 ? "minute" : "minutes"}`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} hours` : `${Math.floor(hours / 24)} days`;
}

export function stoppedBeforeStart(): EndWithoutSize {
  return {
    outcome: "aborted",
    reply: parts(["notice", "Stopped before the assistant began."]),
    usage: NOTHING_USED,
    model: "",
  };
}

function parts(...texts: readonly (readonly ["reply" | "notice", string])[]): ReplyPart[] {
  return texts
    .filter(([, text]) => text.trim() !== "")
    .map(([kind, text], part) => ({ part, message: { kind, text } }));
}
