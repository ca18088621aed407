/** A model provider on loopback that speaks the four APIs of pi's models and misbehaves as a test tells it to. */
import { once } from "node:events";
import type { Config } from "../config/index.ts";
import { secret } from "../kit/secret.ts";
import { type IncomingMessage, type ServerResponse, createServer } from "node:http";

export const MODEL_APIS = [
  "openai-completions",
  "openai-responses",
  "anthropic-messages",
  "google-generative-ai",
] as const;
export type ModelApi = (typeof MODEL_APIS)[number];

interface WireRequest {
  readonly api: ModelApi;
  /** The first part of the path, so that one server can be several providers. */
  readonly provider: string;
  /** What was in the header that this API has its key in. */
  readonly key: string;
  readonly model: string;
  readonly body: string;
  /** A result of a tool is among what was sent. */
  readonly hasToolResult: boolean;
  readonly at: number;
}

export type WireReply =
  | { readonly kind: "text"; readonly pieces: Iterable<string | Promise<unknown>>; readonly usage?: WireUsage }
  | { readonly kind: "tool"; readonly name: string; readonly input: object; readonly usage?: WireUsage }
  | {
      readonly kind: "status";
      readonly status: number;
      readonly message: string;
      readonly headers?: Readonly<Record<string, string>>;
    }
  /** Takes the request and never answers. */
  | { readonly kind: "hang" }
  /** Breaks the connection after these pieces. */
  | { readonly kind: "cut"; readonly pieces: readonly (string | Promise<unknown>)[] }
  /** Sends signs of life and never a word. */
  | { readonly kind: "trickle" }
  /** A page of something that is no model, with the status of success. */
  | { readonly kind: "page" };

interface WireUsage {
  readonly input: number;
  readonly cached: number;
  readonly output: number;
}

export interface WireProvider extends AsyncDisposable {
  /** For `models.providers.NAME.baseUrl`. */
  baseUrl(provider: string, api: ModelApi): string;
  readonly requests: readonly WireRequest[];
  /** Requests whose caller hung up before the answer was whole. */
  readonly hungUp: readonly WireRequest[];
}

/** Providers by name, each with one model `m` and a key of its own. */
export function modelsOn(wires: WireProvider, apis: Readonly<Record<string, ModelApi>>): Config["models"] {
  const cost = { input: 1, output: 2, cacheRead: 0, cacheWrite: 0 };
  const model = { id: "m", reasoning: false, input: ["text" as const], contextWindow: 32_000, maxTokens: 4_096, cost };
  const entries = Object.entries(apis).map(([name, api]) => {
    const baseUrl = wires.baseUrl(name, api);
    return [name, { api: api as never, baseUrl, apiKey: secret(`key-of-${name}`), models: [model] }];
  });
  return { keys: {}, providers: Object.fromEntries(entries) };
}

const USAGE: WireUsage = { input: 10, cached: 0, output: 5 };

export async function startWireProvider(script: (request: WireRequest) => WireReply): Promise<WireProvider> {
  const requests: WireRequest[] = [];
  const hungUp: WireRequest[] = [];
  const server = createServer(async (http, response) => {
    const request = await toRequest(http);
    requests.push(request);
    response.on("close", () => void (response.writableEnded || hungUp.push(request)));
    await respond(script(request), request, response);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return {
    baseUrl: (provider, api) => `http://127.0.0.1:${port}/${provider}/${api}`,
    requests,
    hungUp,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
    },
  };
}

async function toRequest(http: IncomingMessage): Promise<WireRequest> {
  const chunks: Buffer[] = [];
  for await (const chunk of http) chunks.push(chunk);
  const body = Buffer.concat(chunks).toString("utf8");
  const [, provider = "", name = "", ...path] = (http.url ?? "").split("/");
  const api = MODEL_APIS.find((one) => one === name) ?? "openai-completions";
  const { authorization = "", "x-api-key": anthropic, "x-goog-api-key": google } = http.headers;
  const key = String(anthropic ?? google ?? authorization.replace(/^Bearer /, ""));
  const fields = JSON.parse(body) as { readonly model?: string };
  const model = fields.model ?? /([^/:]+):/.exec(path.at(-1) ?? "")?.[1] ?? "";
  const hasToolResult = /"tool_call_id"|"function_call_output"|"tool_result"|"functionResponse"/.test(body);
  return { api, provider, key, model, body, hasToolResult, at: performance.now() };
}

async function respond(reply: WireReply, { api }: WireRequest, response: ServerResponse): Promise<void> {
  if (reply.kind === "hang") return;
  if (reply.kind === "status") {
    response.writeHead(reply.status, { "content-type": "application/json", ...reply.headers });
    response.end(JSON.stringify({ error: { message: reply.message, code: reply.status } }));
    return;
  }
  if (reply.kind === "page") {
    response.writeHead(200, { "content-type": "text/html" });
    response.end("<html><body>Please log in to the network</body></html>");
    return;
  }
  response.writeHead(200, { "content-type": "text/event-stream" });
  if (reply.kind === "trickle") return trickle(response);
  const wire = WIRES[api]((event) => write(response, event));
  const usage = "usage" in reply ? (reply.usage ?? USAGE) : USAGE;
  await wire.begin(usage);
  if (reply.kind === "tool") await wire.tool(reply.name, reply.input);
  else for (const piece of reply.pieces) await (typeof piece === "string" ? wire.text(piece) : piece);
  if (reply.kind === "cut") return void response.destroy();
  await wire.end(reply.kind === "tool" ? "tool" : "stop", usage);
  response.end();
}

/** As providers keep a connection open while a model loads. */
function trickle(response: ServerResponse): void {
  const timer = setInterval(() => response.write(": still here\n\n"), 50);
  response.on("close", () => clearInterval(timer));
}

/** Waits for the reader, so that a long answer is not held here. */
async function write(response: ServerResponse, event: string | Record<string, unknown>): Promise<void> {
  const name = typeof event === "object" && typeof event.type === "string" ? `event: ${event.type}\n` : "";
  const text = `${name}data: ${typeof event === "string" ? event : JSON.stringify(event)}\n\n`;
  if (!response.write(text) && !response.destroyed)
    await Promise.race([once(response, "drain"), once(response, "close")]);
}

type Send = (event: string | Record<string, unknown>) => Promise<void>;

interface Wire {
  begin(usage: WireUsage): Promise<void>;
  text(piece: string): Promise<void>;
  tool(name: string, input: object): Promise<void>;
  end(reason: "stop" | "tool", usage: WireUsage): Promise<void>;
}

let calls = 0;
const nextId = (): string => `call_${++calls}`;

const WIRES: Readonly<Record<ModelApi, (send: Send) => Wire>> = {
  "openai-completions": (send) => {
    const chunk = (delta: object, finish: string | null = null) =>
      send({
        id: "x",
        object: "chat.completion.chunk",
        created: 0,
        model: "m",
        choices: [{ index: 0, delta, finish_reason: finish }],
      });
    return {
      begin: async () => undefined,
      text: (content) => chunk({ role: "assistant", content }),
      tool: (name, input) =>
        chunk({
          role: "assistant",
          tool_calls: [
            { index: 0, id: nextId(), type: "function", function: { name, arguments: JSON.stringify(input) } },
          ],
        }),
      async end(reason, { input, cached, output }) {
        await chunk({}, reason === "tool" ? "tool_calls" : "stop");
        const usage = {
          prompt_tokens: input + cached,
          completion_tokens: output,
          total_tokens: input + cached + output,
          prompt_tokens_details: { cached_tokens: cached },
        };
        await send({ id: "x", object: "chat.completion.chunk", created: 0, model: "m", choices: [], usage });
        await send("[DONE]");
      },
    };
  },
  "openai-responses": (send) => {
    let said = "";
    let opened = false;
    const message = () => ({
      type: "message",
      id: "msg_1",
      role: "assistant",
      status: "in_progress",
      content: [] as object[],
    });
    return {
      begin: () => send({ type: "response.created", response: { id: "resp_1", status: "in_progress" } }),
      async text(delta) {
        if (!opened) {
          opened = true;
          await send({ type: "response.output_item.added", output_index: 0, item: message() });
          const part = { type: "output_text", text: "", annotations: [] };
          await send({
            type: "response.content_part.added",
            item_id: "msg_1",
            output_index: 0,
            content_index: 0,
            part,
          });
        }
        if (said.length < 1_000) said += delta;
        await send({ type: "response.output_text.delta", item_id: "msg_1", output_index: 0, content_index: 0, delta });
      },
      async tool(name, input) {
        const item = { type: "function_call", id: `fc_${nextId()}`, call_id: nextId(), name, arguments: "" };
        const args = JSON.stringify(input);
        await send({ type: "response.output_item.added", output_index: 0, item });
        await send({ type: "response.function_call_arguments.delta", item_id: item.id, output_index: 0, delta: args });
        await send({ type: "response.output_item.done", output_index: 0, item: { ...item, arguments: args } });
      },
      async end(_reason, { input, cached, output }) {
        if (opened) {
          const content = [{ type: "output_text", text: said, annotations: [] }];
          await send({ type: "response.output_item.done", output_index: 0, item: { ...message(), content } });
        }
        const usage = {
          input_tokens: input + cached,
          input_tokens_details: { cached_tokens: cached },
          output_tokens: output,
          output_tokens_details: { reasoning_tokens: 0 },
          total_tokens: input + cached + output,
        };
        await send({ type: "response.completed", response: { id: "resp_1", status: "completed", usage } });
      },
    };
  },
  "anthropic-messages": (send) => {
    let opened = false;
    return {
      begin: ({ input, cached }) => {
        const usage = {
          input_tokens: input,
          cache_read_input_tokens: cached,
          cache_creation_input_tokens: 0,
          output_tokens: 1,
        };
        const message = { id: "msg_1", type: "message", role: "assistant", content: [], model: "m", usage };
        return send({ type: "message_start", message: { ...message, stop_reason: null, stop_sequence: null } });
      },
      async text(text) {
        if (!opened) await send({ type: "content_block_start", index: 0, content_block: { type: "text", text: "" } });
        opened = true;
        await send({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text } });
      },
      async tool(name, input) {
        opened = true;
        const block = { type: "tool_use", id: nextId(), name, input: {} };
        await send({ type: "content_block_start", index: 0, content_block: block });
        const delta = { type: "input_json_delta", partial_json: JSON.stringify(input) };
        await send({ type: "content_block_delta", index: 0, delta });
      },
      async end(reason, { output }) {
        if (opened) await send({ type: "content_block_stop", index: 0 });
        const delta = { stop_reason: reason === "tool" ? "tool_use" : "end_turn", stop_sequence: null };
        await send({ type: "message_delta", delta, usage: { output_tokens: output } });
        await send({ type: "message_stop" });
      },
    };
  },
  "google-generative-ai": (send) => {
    const part = (one: object) => send({ candidates: [{ content: { role: "model", parts: [one] }, index: 0 }] });
    return {
      begin: async () => undefined,
      text: (text) => part({ text }),
      tool: (name, args) => part({ functionCall: { name, args } }),
      end: (_reason, { input, cached, output }) =>
        send({
          candidates: [{ content: { role: "model", parts: [] }, finishReason: "STOP", index: 0 }],
          usageMetadata: {
            promptTokenCount: input + cached,
            cachedContentTokenCount: cached,
            candidatesTokenCount: output,
            totalTokenCount: input + cached + output,
          },
        }),
    };
  },
};
