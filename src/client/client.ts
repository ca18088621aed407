/**
 * `pi-gateway/client`: a typed client of a running gateway, for Bun and Node. Routes, bodies and answers are those of the gateway's own route
 * table; the WebSocket has the methods and events of its own list. Holds the token in memory, and keeps nothing.
 */
import type { ChatRequest, ChatStreamEvent, HttpApi, RouteName } from "../contracts/http-api.ts";
import type { ChatReply, ToolCallReply } from "../contracts/wire.ts";
import { isObject, parseJson } from "../kit/json.ts";
import { type HttpOptions, isGatewayRequestError, readJson, requestError, send } from "./http.ts";
import { readServerEvents } from "./server-events.ts";
import { type GatewaySocket, openSocket } from "./socket.ts";

export type { ChatRequest, ChatStreamEvent, HttpApi, RouteName } from "../contracts/http-api.ts";
export type { ClientEventName, GatewayEvents } from "../contracts/events.ts";
export type { ChatReply, GatewayStatus, ToolCallReply, WireError, WireEvent, WireMethods } from "../contracts/wire.ts";
export type { GatewayRequestError, HttpOptions, IsGatewayRequestError } from "./http.ts";
export type { GatewaySocket } from "./socket.ts";

/** What a route takes besides its name: `path`, `query` and `body` as it has them. */
export type RouteInput<R extends RouteName> = Omit<HttpApi[R], "result"> & { readonly signal?: AbortSignal };

/** A route that needs nothing may be asked without. */
export type RouteArguments<R extends RouteName> =
  object extends Omit<HttpApi[R], "result"> ? [input?: RouteInput<R>] : [input: RouteInput<R>];

export interface MessageOptions {
  readonly signal?: AbortSignal;
  /** The same key again is the same message: it is answered once. */
  readonly idempotencyKey?: string;
}

/** What is refused is thrown as a GatewayRequestError, with the code of the list of errors. */
export interface GatewayClient {
  request<R extends RouteName>(route: R, ...input: RouteArguments<R>): Promise<HttpApi[R]["result"]>;
  /** Says something and waits for the answer. */
  chat(message: ChatRequest, options?: MessageOptions): Promise<ChatReply>;
  /** The same, as it is written. The last event is `done` or `error`. */
  chatStream(message: ChatRequest, options?: MessageOptions): AsyncIterable<ChatStreamEvent>;
  /** A call that did not work is an answer too (`ok: false`), with the code and the sentence for a model. */
  callTool(tool: string, params: unknown, options?: ToolCallOptions): Promise<ToolCallReply>;
  /** For `attachments` of a message. */
  upload(data: Uint8Array, options: { readonly name: string; readonly signal?: AbortSignal }): Promise<UploadedFile>;
  connect(signal?: AbortSignal): Promise<GatewaySocket>;
}

export interface ToolCallOptions {
  readonly signal?: AbortSignal;
  readonly callId?: string;
}

export interface UploadedFile {
  readonly mediaId: string;
  /** Signed, and expires. */
  readonly url: string;
}

export type CreateGatewayClient = (options: HttpOptions) => GatewayClient;

const NEVER = new AbortController().signal;
const EVENT_LIMITS = { maxChars: 16 * 1024 * 1024, maxDepth: 64 };

export const createGatewayClient: CreateGatewayClient = (options) => {
  const post = (path: string, body: unknown, { signal = NEVER, idempotencyKey }: MessageOptions, accept: string) => {
    const key = idempotencyKey === undefined ? {} : { "idempotency-key": idempotencyKey };
    return send(options, { method: "POST", path, body, headers: { accept, ...key } }, signal);
  };
  const client: GatewayClient = {
    async request(route, ...[input]) {
      const { path, query, body, signal = NEVER } = (input ?? {}) as AnyInput;
      const [method = "GET", pattern = ""] = route.split(" ");
      const request = { method, path: addressOf(pattern, path, query), ...(body === undefined ? {} : { body }) };
      return (await readJson(await send(options, request, signal))) as HttpApi[typeof route]["result"];
    },
    async chat(message, how = {}) {
      const response = await post("/api/chat", message, how, "application/json");
      return (await readJson(response)) as ChatReply;
    },
    async *chatStream(message, how = {}) {
      const response = await post("/api/chat", { ...message, stream: true }, how, "text/event-stream");
      if (!response.body) return;
      for await (const { event, data } of readServerEvents(response.body)) {
        const parsed = parseJson(data, EVENT_LIMITS);
        if (parsed.ok) yield { event, data: parsed.value } as ChatStreamEvent;
      }
    },
    async callTool(tool, params, { callId, signal } = {}) {
      const body = { tool, params, ...(callId === undefined ? {} : { callId }) };
      try {
        return await client.request("POST /api/tools/call", { body, ...(signal ? { signal } : {}) });
      } catch (error) {
        const reply = isGatewayRequestError(error) ? error.body : null;
        if (isObject(reply) && reply["ok"] === false && "envelope" in reply) return reply as unknown as ToolCallReply;
        throw error;
      }
    },
    async upload(data, { name, signal = NEVER }) {
      const headers = { "x-filename": encodeURIComponent(name) };
      const response = await send(options, { method: "POST", path: "/api/media", body: data, headers }, signal);
      return (await readJson(response)) as UploadedFile;
    },
    connect: (signal = NEVER) => openSocket(options, signal),
  };
  return client;
};

export { isGatewayRequestError } from "./http.ts";

interface AnyInput {
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string | number | undefined>>;
  readonly body?: unknown;
  readonly signal?: AbortSignal;
}

function addressOf(pattern: string, path: AnyInput["path"] = {}, query: AnyInput["query"] = {}): string {
  const filled = pattern.replaceAll(/:(\w+)/g, (_, name: string) => {
    const value = path[name];
    if (value) return encodeURIComponent(value);
    throw requestError({ status: 0, code: "bad_request", message: `path.${name} is missing.` });
  });
  const asked = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) asked.set(name, String(value));
  return asked.size === 0 ? filled : `${filled}?${asked}`;
}
