/** A model provider on loopback that speaks the OpenAI streaming protocol and says what a test tells it to. Instant unless told to wait. */
import { once } from "node:events";
import { type IncomingMessage, type ServerResponse, createServer } from "node:http";

export interface FakeProvider extends AsyncDisposable {
  /** For `models.providers.NAME.baseUrl`. */
  readonly baseUrl: string;
  /** Everything asked so far, oldest first. */
  readonly requests: readonly ProviderRequest[];
  /** What it has told its callers that they used; an answer that broke off is not among it. */
  charged(): { readonly inputTokens: number; readonly outputTokens: number };
  /** Requests whose caller hung up before the answer was whole, and when (`performance.now()`). */
  readonly hungUp: readonly { readonly request: ProviderRequest; readonly at: number }[];
  /** Resolves when `count` requests have arrived. Rejects when that takes longer than any test should wait. */
  arrived(count: number): Promise<void>;
}

export interface ProviderRequest {
  readonly authorization: string;
  readonly messages: readonly { readonly role: string; readonly content: unknown }[];
  readonly tools: readonly string[];
  readonly body: Readonly<Record<string, unknown>>;
}

export type FakeReply =
  /** A promise among the pieces holds the stream until it resolves. */
  | {
      readonly kind: "text";
      readonly pieces: readonly (string | Promise<unknown>)[];
      readonly usage?: FakeUsage;
      /** Said before, as providers of models that think say it. */
      readonly thoughts?: readonly string[];
    }
  | {
      readonly kind: "tools";
      readonly calls: readonly {
        readonly name: string;
        readonly input: Readonly<Record<string, unknown>>;
        readonly id?: string;
      }[];
      readonly usage?: FakeUsage;
      /** `length`: the answer was cut off by the output limit. */
      readonly finish?: "tool_calls" | "length";
      /** Holds them back until it resolves. */
      readonly after?: Promise<unknown>;
    }
  | {
      readonly kind: "status";
      readonly status: number;
      readonly message: string;
      readonly headers?: Readonly<Record<string, string>>;
    }
  /** Takes the request and never answers. */
  | { readonly kind: "hang" }
  /** Breaks the connection after these pieces. */
  | { readonly kind: "cut"; readonly pieces: readonly string[] };

export type FakeScript = (request: ProviderRequest, index: number) => FakeReply;

type Write = (data: unknown) => void;

interface FakeUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
}

/** Shorter than the limit of a test, so that a test says what it waited for. */
const ARRIVED_MS = 90_000;
const USAGE: FakeUsage = { inputTokens: 10, outputTokens: 5 };

export function says(...pieces: readonly (string | Promise<unknown>)[]): FakeReply {
  return { kind: "text", pieces };
}

/** Answers in order; the last one is repeated. */
export function inOrder(...replies: readonly FakeReply[]): FakeScript {
  return (_request, index) => replies[Math.min(index, replies.length - 1)] ?? says("ok");
}

/** On node:http, because a cut in the middle has to be a real one: the socket is destroyed. `host`: where it listens. */
export async function startFakeProvider(
  script: FakeScript = () => says("ok"),
  host = "127.0.0.1",
): Promise<FakeProvider> {
  const requests: ProviderRequest[] = [];
  const hungUp: { request: ProviderRequest; at: number }[] = [];
  const watchers = new Set<() => void>();
  let charged: FakeUsage = { inputTokens: 0, outputTokens: 0 };
  const server = createServer(async (http, response) => {
    const request = toRequest(http.headers.authorization ?? "", JSON.parse(await readBody(http)));
    const reply = script(request, requests.length);
    requests.push(request);
    response.on("close", () => void (response.writableEnded || hungUp.push({ request, at: performance.now() })));
    for (const watcher of watchers) watcher();
    if (await respond(reply, response, requests.length)) {
      const { inputTokens, outputTokens } = usageOf(reply);
      charged = { inputTokens: charged.inputTokens + inputTokens, outputTokens: charged.outputTokens + outputTokens };
    }
  });
  server.listen(0, host);
  await once(server, "listening");
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return {
    baseUrl: `http://${host}:${port}/v1`,
    requests,
    hungUp,
    charged: () => charged,
    arrived(count) {
      return new Promise((resolve, reject) => {
        const tooLong = setTimeout(() => {
          watchers.delete(look);
          reject(new Error(`the model was asked ${requests.length} times within ${ARRIVED_MS} ms, not ${count}`));
        }, ARRIVED_MS);
        const look = () => {
          if (requests.length < count) return;
          clearTimeout(tooLong);
          watchers.delete(look);
          resolve();
        };
        watchers.add(look);
        look();
      });
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
    },
  };
}

function usageOf(reply: FakeReply): FakeUsage {
  return ("usage" in reply ? reply.usage : undefined) ?? USAGE;
}

/** True when it said what was used. */
async function respond(reply: FakeReply, response: ServerResponse, count: number): Promise<boolean> {
  const write: Write = (data) => {
    response.write(`data: ${typeof data === "string" ? data : JSON.stringify(data)}\n\n`);
  };
  if (reply.kind === "hang") return false;
  if (reply.kind === "status") {
    response.writeHead(reply.status, { "content-type": "application/json", ...reply.headers });
    response.end(JSON.stringify({ error: { message: reply.message, code: reply.status } }));
    return false;
  }
  response.writeHead(200, { "content-type": "text/event-stream" });
  if (reply.kind === "tools") {
    await reply.after;
    write(delta({ role: "assistant", tool_calls: reply.calls.map((call, index) => toToolCall(call, index, count)) }));
    finish(write, reply.finish ?? "tool_calls", usageOf(reply));
    response.end();
    return true;
  }
  for (const thought of (reply.kind === "text" && reply.thoughts) || [])
    write(delta({ role: "assistant", reasoning_content: thought }));
  for (const piece of reply.pieces) {
    if (typeof piece === "string") write(delta({ role: "assistant", content: piece }));
    else await piece;
  }
  if (reply.kind === "cut") {
    response.destroy();
    return false;
  }
  finish(write, "stop", usageOf(reply));
  response.end();
  return true;
}

async function readBody(http: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of http) chunks.push(chunk);
  return Buffer.concat(chunks).toString("utf8");
}

function finish(write: Write, reason: string, { inputTokens, outputTokens }: FakeUsage): void {
  const total_tokens = inputTokens + outputTokens;
  write(chunk([{ index: 0, delta: {}, finish_reason: reason }]));
  write({ ...chunk([]), usage: { prompt_tokens: inputTokens, completion_tokens: outputTokens, total_tokens } });
  write("[DONE]");
}

function delta(content: Record<string, unknown>): Record<string, unknown> {
  return chunk([{ index: 0, delta: content, finish_reason: null }]);
}

function chunk(choices: readonly unknown[]): Record<string, unknown> {
  return { id: "fake", object: "chat.completion.chunk", created: 0, model: "fake-1", choices };
}

/** Real providers do not use an id twice; a test may. */
function toToolCall(
  call: { readonly name: string; readonly input: unknown; readonly id?: string },
  index: number,
  request: number,
): Record<string, unknown> {
  return {
    index,
    id: call.id ?? `call_${request}_${index}_${call.name}`,
    type: "function",
    function: { name: call.name, arguments: JSON.stringify(call.input) },
  };
}

function toRequest(authorization: string, body: unknown): ProviderRequest {
  const fields = isFields(body) ? body : {};
  const tools = Array.isArray(fields.tools) ? fields.tools.filter(isFields) : [];
  const messages = Array.isArray(fields.messages) ? fields.messages.filter(isFields) : [];
  return {
    authorization,
    body: fields,
    messages: messages.map((message) => ({ role: String(message.role), content: message.content })),
    tools: tools.map((tool) => (isFields(tool.function) ? String(tool.function.name) : "")),
  };
}

function isFields(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
