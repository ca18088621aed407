/** Messages of MCP as the relay of `pi-gw mcp serve` sees them: which kind each is, and which headers it travels with. Pure. */
import { isObject } from "../kit/json.ts";

export type Message = Readonly<Record<string, unknown>>;
export type RequestId = string | number;

/** Of one message, in either direction. */
export const LINE_LIMITS = { maxChars: 16 * 1024 * 1024, maxDepth: 64 };

const VERSION = "io.modelcontextprotocol/protocolVersion";
/** Which parameter the header `Mcp-Name` repeats. */
const NAMED_BY: Readonly<Record<string, string>> = {
  "tools/call": "name",
  "prompts/get": "name",
  "resources/read": "uri",
};

export function requestIdOf(message: Message): RequestId | null {
  const { id, method } = message;
  return typeof method === "string" && (typeof id === "string" || typeof id === "number") ? id : null;
}

/** The request that a client no longer waits for; null: the message is about something else. */
export function cancelledId({ method, params }: Message): RequestId | null {
  if (method !== "notifications/cancelled" || !isObject(params)) return null;
  const { requestId } = params;
  return typeof requestId === "string" || typeof requestId === "number" ? requestId : null;
}

/** The revision that the message itself names, as those of 2026-07-28 do; null: it belongs to a session. */
export function revisionOf({ params }: Message): string | null {
  const meta = isObject(params) ? params["_meta"] : undefined;
  const revision = isObject(meta) ? meta[VERSION] : undefined;
  return typeof revision === "string" ? revision : null;
}

/** The headers by which a server sees what is in a request of 2026-07-28 without reading it. */
export function modernHeaders(message: Message, revision: string): Record<string, string> {
  const { method, params } = message;
  if (typeof method !== "string") return {};
  const named = NAMED_BY[method];
  const name = named !== undefined && isObject(params) ? params[named] : undefined;
  return {
    "mcp-protocol-version": revision,
    "mcp-method": headerText(method),
    ...(typeof name === "string" ? { "mcp-name": headerText(name) } : {}),
  };
}

/** A header cannot carry every character: what it cannot is written in base64, in the form of the protocol. */
function headerText(text: string): string {
  const isPlain = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(text) && !/^=\?.*\?=$/.test(text);
  return isPlain ? text : `=?base64?${Buffer.from(text).toString("base64")}?=`;
}

const INTERNAL_ERROR = -32_603;

/** What a client is told when the gateway gave no answer of its own. */
export function failure(id: RequestId, message: string): Message {
  return { jsonrpc: "2.0", id, error: { code: INTERNAL_ERROR, message } };
}
