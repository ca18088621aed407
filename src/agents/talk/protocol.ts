/** pi's records, checked and reduced to what the gateway uses. The only file that knows pi's words; records it does not know become `unknown`. */
import type { ChatNote, ChatQuestion } from "../../contracts/channels/question.ts";
import type { Usage } from "../../contracts/chat.ts";
import { parseJson } from "../../kit/json.ts";

export const MAX_LINE_BYTES = 16 * 1024 * 1024;
const LIMITS = { maxChars: MAX_LINE_BYTES, maxDepth: 64 };

export type PiRecord =
  | { readonly kind: "response"; readonly id: string; readonly ok: true; readonly data: Fields }
  | { readonly kind: "response"; readonly id: string; readonly ok: false; readonly error: string }
  | { readonly kind: "event"; readonly event: PiEvent }
  /** A dialog of an extension; ours carry tool calls. */
  | { readonly kind: "dialog"; readonly id: string; readonly title: string; readonly body: string; readonly asks: Asks }
  /** Something an extension tells people, without waiting for an answer. */
  | { readonly kind: "note"; readonly note: ChatNote }
  | { readonly kind: "extension_error"; readonly where: string; readonly error: string }
  | { readonly kind: "unknown"; readonly type: string }
  /** Not a record at all, such as the output of a careless library. */
  | { readonly kind: "stray" };

/** A dialog as a question to a person. */
export type Asks = ChatQuestion & { readonly timeoutMs?: number };

export type PiEvent =
  /** Known, and of interest only as a sign of life. */
  | { readonly type: "alive" }
  | { readonly type: "message_started" }
  /** A message of the user has become part of the conversation: the prompt, or one that was steered into it. */
  | { readonly type: "user_said" }
  | { readonly type: "text"; readonly delta: string }
  /** What a model thinks before it answers. */
  | { readonly type: "thought"; readonly delta: string }
  | { readonly type: "message_ended"; readonly message: PiMessage }
  | { readonly type: "tool_started"; readonly callId: string; readonly tool: string; readonly input: unknown }
  | {
      readonly type: "tool_ended";
      readonly callId: string;
      readonly tool: string;
      readonly isError: boolean;
      readonly output: string;
    }
  /** How much a running tool has said so far, and the end of it. */
  | { readonly type: "tool_updated"; readonly callId: string; readonly chars: number; readonly text: string }
  | { readonly type: "retrying"; readonly because: string }
  /** `state` as in an answer to `get_state`. */
  | { readonly type: "session_opened"; readonly state: Fields }
  /** The provider refused, and said how long to wait. */
  | { readonly type: "provider_asked"; readonly waitMs: number }
  /** The next request is held back for as long. */
  | { readonly type: "provider_waiting"; readonly waitMs: number }
  /** A model was asked without anything being said: a summary, the work of a tool, a cache kept warm. */
  | { readonly type: "spent"; readonly usage: Usage }
  | { readonly type: "settled" };

/** An answer of the model, as far as it came. */
export interface PiMessage {
  readonly text: string;
  readonly model: string;
  readonly usage: Usage;
  readonly stop: "stop" | "toolUse" | "length" | "error" | "aborted" | "other";
  readonly error: string;
}

export type Fields = Readonly<Record<string, unknown>>;

/** Records that repeat what was already said and can be very large. They are signs of life, and not worth parsing. */
const LARGE_REPEATS = [
  '{"type":"agent_end"',
  '{"type":"turn_end"',
  '{"type":"message_start","message":{"role":"system"',
  '{"type":"message_end","message":{"role":"system"',
];
const SIGNS_OF_LIFE = new Set([
  "agent_start",
  "agent_end",
  "turn_start",
  "turn_end",
  "queue_update",
  "session_info_changed",
  "thinking_level_changed",
  "compaction_start",
  "auto_retry_end",
  "bash_execution_update",
  "summarization_retry_start",
  "summarization_retry_end",
]);
const SESSION_STATUS = "pi-gateway:session";
const STATUS_EVENTS: ReadonlyMap<string, "provider_asked" | "provider_waiting"> = new Map([
  ["pi-gateway:provider_asked", "provider_asked"],
  ["pi-gateway:provider_waiting", "provider_waiting"],
]);
const ALIVE: PiRecord = { kind: "event", event: { type: "alive" } };
const STRAY: PiRecord = { kind: "stray" };

export function parseRecord(line: string): PiRecord {
  if (LARGE_REPEATS.some((start) => line.startsWith(start))) return ALIVE;
  const parsed = parseJson(line, LIMITS);
  if (!parsed.ok || !isFields(parsed.value)) return STRAY;
  const record = parsed.value;
  const type = text(record.type);
  if (type === "") return STRAY;
  if (type === "response") return toResponse(record);
  if (type === "extension_ui_request") return toDialog(record);
  if (type === "extension_error")
    return { kind: "extension_error", where: text(record.extensionPath), error: text(record.error) };
  const event = toEvent(type, record);
  return event ? { kind: "event", event } : { kind: "unknown", type };
}

export function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}

export function count(value: unknown): number {
  return typeof value === "number" && Number.isFinite(value) && value >= 0 ? value : 0;
}

/** `provider/model` from a model object of get_state; null when pi has none it could use. */
export function modelName(model: unknown): string | null {
  if (!isFields(model) || text(model.id) === "" || model.id === "unknown") return null;
  return `${text(model.provider)}/${text(model.id)}`;
}

function toResponse(record: Fields): PiRecord {
  const id = text(record.id);
  if (id === "") return { kind: "unknown", type: "response without id" };
  if (record.success !== true)
    return { kind: "response", id, ok: false, error: text(record.error) || "refused without a reason" };
  return { kind: "response", id, ok: true, data: isFields(record.data) ? record.data : {} };
}

/** Only dialogs wait for an answer. What an extension would put around a terminal (status, widget, title) has no place in a chat. */
function toDialog(record: Fields): PiRecord {
  if (record.method === "notify") return toNote(record);
  if (record.method === "setStatus") return toStatus(record);
  const asks = toQuestion(record);
  if (!asks || text(record.id) === "") return ALIVE;
  const timeoutMs = count(record.timeout);
  return {
    kind: "dialog",
    id: text(record.id),
    title: text(record.title),
    body: text(record.placeholder),
    asks: { ...asks, ...(timeoutMs > 0 ? { timeoutMs } : {}) },
  };
}

/** The bridge's own; those of other extensions are for a terminal. */
function toStatus({ statusKey, statusText }: Fields): PiRecord {
  const said = parseJson(text(statusText), LIMITS);
  const fields = said.ok && isFields(said.value) ? said.value : {};
  if (statusKey === SESSION_STATUS) return { kind: "event", event: { type: "session_opened", state: fields } };
  const type = STATUS_EVENTS.get(text(statusKey));
  const waitMs = count(fields.waitMs);
  return type === undefined || waitMs === 0 ? ALIVE : { kind: "event", event: { type, waitMs } };
}

function toNote({ message, notifyType }: Fields): PiRecord {
  const level = notifyType === "warning" || notifyType === "error" ? notifyType : "info";
  return { kind: "note", note: { text: text(message), level } };
}

function toQuestion({ method, title, message, options, placeholder, prefill }: Fields): ChatQuestion | null {
  const asked = { title: text(title) };
  switch (method) {
    case "select":
      return { kind: "select", ...asked, options: Array.isArray(options) ? options.map(text) : [] };
    case "confirm":
      return { kind: "confirm", ...asked, text: text(message) };
    case "input":
      return { kind: "input", ...asked, placeholder: text(placeholder) };
    case "editor":
      return { kind: "input", ...asked, prefill: text(prefill), many: true };
    default:
      return null;
  }
}

function toEvent(type: string, record: Fields): PiEvent | null {
  if (SIGNS_OF_LIFE.has(type)) return { type: "alive" };
  switch (type) {
    case "message_start":
      if (isFrom("user", record.message)) return { type: "user_said" };
      return isFrom("assistant", record.message) ? { type: "message_started" } : { type: "alive" };
    case "message_update":
      return toDelta(record.assistantMessageEvent);
    case "message_end":
      if (isFrom("assistant", record.message)) return { type: "message_ended", message: toMessage(record.message) };
      return spent(isFields(record.message) ? record.message.usage : null);
    case "compaction_end":
      return spent(isFields(record.result) ? record.result.usage : null);
    case "entry_appended":
      return spent(isFields(record.entry) && record.entry.type === "usage" ? record.entry.usage : null);
    case "tool_execution_start":
      return { type: "tool_started", callId: text(record.toolCallId), tool: text(record.toolName), input: record.args };
    case "tool_execution_update":
      return toolUpdated(record);
    case "tool_execution_end":
      return {
        type: "tool_ended",
        callId: text(record.toolCallId),
        tool: text(record.toolName),
        isError: record.isError === true,
        output: isFields(record.result) ? textBlocks(record.result.content) : "",
      };
    case "auto_retry_start":
      return { type: "retrying", because: text(record.errorMessage) };
    case "agent_settled":
      return { type: "settled" };
    default:
      return null;
  }
}

/** People see one line of it, so that a queue of updates need not hold all a tool has written. */
const MAX_UPDATE_CHARS = 8_192;

function toolUpdated({ toolCallId, partialResult }: Fields): PiEvent {
  const said = isFields(partialResult) ? textBlocks(partialResult.content) : "";
  return { type: "tool_updated", callId: text(toolCallId), chars: said.length, text: said.slice(-MAX_UPDATE_CHARS) };
}

function spent(usage: unknown): PiEvent {
  return isFields(usage) ? { type: "spent", usage: toUsage(usage) } : { type: "alive" };
}

function toDelta(event: unknown): PiEvent {
  const delta = isFields(event) ? text(event.delta) : "";
  if (!isFields(event) || delta === "") return { type: "alive" };
  if (event.type === "thinking_delta") return { type: "thought", delta };
  return event.type === "text_delta" ? { type: "text", delta } : { type: "alive" };
}

function isFrom(role: "user" | "assistant", message: unknown): message is Fields {
  return isFields(message) && message.role === role;
}

function toMessage(message: Fields): PiMessage {
  return {
    text: textBlocks(message.content),
    model: `${text(message.provider)}/${text(message.model)}`,
    usage: toUsage(message.usage),
    stop: toStop(message.stopReason),
    error: text(message.errorMessage),
  };
}

function toStop(reason: unknown): PiMessage["stop"] {
  switch (reason) {
    case "stop":
    case "toolUse":
    case "length":
    case "error":
    case "aborted":
      return reason;
    default:
      return "other";
  }
}

export function toUsage(usage: unknown): Usage {
  if (!isFields(usage)) return { inputTokens: 0, outputTokens: 0, costUsd: 0 };
  return {
    inputTokens: count(usage.input) + count(usage.cacheRead) + count(usage.cacheWrite),
    ...(count(usage.cacheRead) > 0 ? { cachedTokens: count(usage.cacheRead) } : {}),
    outputTokens: count(usage.output),
    costUsd: isFields(usage.cost) ? count(usage.cost.total) : 0,
  };
}

function textBlocks(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content
    .filter(isFields)
    .filter((block) => block.type === "text")
    .map((block) => text(block.text))
    .join("\n\n");
}
