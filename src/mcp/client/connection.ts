/**
 * One connection to an MCP server by the official library: the newest protocol that both speak, its tools listed, calls with progress and
 * cancellation, and questions of the server handed to whoever the call is for. Loaded when the first server is needed, because the library is large.
 */
import {
  Client,
  type ClientOptions,
  type ElicitRequest,
  type ElicitResult,
  isInputRequiredResult,
  isSpecType,
  SdkHttpError,
  type Transport,
  UnauthorizedError,
} from "@modelcontextprotocol/client";
import type { McpServerSettings } from "../../config/index.ts";
import { isObject } from "../../kit/json.ts";
import type { Log } from "../../kit/log.ts";

export interface Connected {
  /** `legacy`: the protocol of 2025-11-25 or before. */
  readonly era: "modern" | "legacy";
  readonly protocol: string;
  readonly server: string;
  readonly hasResources: boolean;
  /** The tools as the server lists them. */
  list(signal: AbortSignal): Promise<readonly unknown[]>;
  call(call: ServerCall, signal: AbortSignal): Promise<ServerResult>;
  read(uri: string, signal: AbortSignal): Promise<readonly unknown[]>;
  /** Never rejects. */
  close(): Promise<void>;
}

export interface ServerCall {
  readonly tool: string;
  readonly params: Readonly<Record<string, unknown>>;
  progress(text: string): void;
  /** The server asks something in the middle of this call. */
  elicit(request: ElicitRequest["params"], signal: AbortSignal): Promise<ElicitResult>;
}

export interface ServerResult {
  readonly content: readonly unknown[];
  readonly structured: unknown;
  readonly isError: boolean;
}

export interface ConnectOptions {
  readonly version: string;
  /** It is known to speak only the protocol of before 2026. */
  readonly legacy: boolean;
  readonly startMs: number;
  /** How long the first question of the newer protocol may take. */
  readonly probeMs: number;
  readonly transport: Transport;
  /** It has another list of tools. */
  listChanged(): void;
  /** The connection is gone. */
  closed(why: string): void;
  /** Anything at all was heard from it. */
  heard(): void;
}

/** The deadline of a call is ours; the library's own must not come before it. */
const NO_LIMIT_MS = 24 * 3_600_000;
const MAX_PAGES = 32;
const UNAUTHORIZED = 401;
const TOO_MANY_REQUESTS = 429;
const MAX_REFUSED_TOOLS = 64;
/** How often a server may ask before its call gets a result. */
const MAX_ROUNDS = 8;

/** Results are text for a model and never believed, so checking their structure would only let a schema of the server run in the gateway. */
const NOT_CHECKED: NonNullable<ClientOptions["jsonSchemaValidator"]> = {
  getValidator: () => (input) => ({ valid: true, data: input as never, errorMessage: undefined }),
};

export async function connect(
  { log }: { readonly log: Log },
  options: ConnectOptions,
  signal: AbortSignal,
): Promise<Connected> {
  const running = new Set<ServerCall>();
  const client = new Client(
    { name: "pi-gateway", version: options.version },
    {
      capabilities: { elicitation: { form: {}, url: {} } },
      versionNegotiation: { mode: "auto", probe: { timeoutMs: options.probeMs } },
      inputRequired: { autoFulfill: false },
      jsonSchemaValidator: NOT_CHECKED,
      listMaxPages: MAX_PAGES,
      listChanged: { tools: { autoRefresh: false, onChanged: () => options.listChanged() } },
    },
  );
  let last = "it closed the connection";
  client.onerror = (error) => {
    last = error.message;
    log.debug("an MCP server is in trouble", { error: error.message });
  };
  client.onclose = () => options.closed(last);
  client.setRequestHandler("elicitation/create", (request, context) =>
    elicitOlder(running, request, context.mcpReq.signal),
  );
  const refused = new Map<string, unknown>();
  watchMessages(options, refused);
  const prior = options.legacy ? { prior: { kind: "legacy" as const } } : {};
  await client.connect(options.transport, { timeout: options.startMs, signal, ...prior });
  return {
    era: client.getProtocolEra() ?? "legacy",
    protocol: client.getNegotiatedProtocolVersion() ?? "",
    server: nameOf(client),
    hasResources: client.getServerCapabilities()?.resources !== undefined,
    async list(until) {
      refused.clear();
      return listTools(client, refused, { signal: until, timeout: options.startMs });
    },
    call: (call, until) =>
      callTool(client, running, call, until).catch((error: unknown) => {
        if (isBroken(error) && !until.aborted) options.closed(wordsOf(error));
        throw error instanceof SdkHttpError ? new Error(wordsOf(error), { cause: error }) : error;
      }),
    async read(uri, until) {
      const { contents } = await client.readResource({ uri }, { signal: until, timeout: NO_LIMIT_MS });
      return contents;
    },
    close: () => client.close().catch(() => undefined), // closed is what it should be
  };
}

/** The way to the server does not work, or the server does not know us any more: the next call begins anew. One that is busy knows us. */
function isBroken(error: unknown): boolean {
  if (error instanceof SdkHttpError) return error.status !== TOO_MANY_REQUESTS;
  return error instanceof UnauthorizedError || error instanceof TypeError;
}

function wordsOf(error: unknown): string {
  if (error instanceof SdkHttpError) return statusWords(error);
  return error instanceof Error ? error.message : String(error);
}

/** The library says what it did, and not which status came back. */
function statusWords({ status, message }: SdkHttpError): string {
  const said = message.replace(/^(?:Version negotiation probe failed: )?(?:Error POSTing to endpoint: ?)?/, "").trim();
  const busy = status === TOO_MANY_REQUESTS ? ", too many requests; try again later" : "";
  return `it answered with status ${status}${busy}${said === "" ? "" : `: ${said}`}`;
}

interface ExplainedServer {
  readonly name: string;
  readonly settings: Pick<McpServerSettings, "headers">;
}

/** For people, with what to do. */
export function explained(error: unknown, { name, settings: { headers } }: ExplainedServer): unknown {
  if (error instanceof UnauthorizedError || (error instanceof SdkHttpError && error.status === UNAUTHORIZED)) {
    const hasHeader = Object.keys(headers).some((header) => header.toLowerCase() === "authorization");
    const say = hasHeader
      ? `it refuses the token in mcp.servers.${name}.headers. Give it another one`
      : `it wants a login. Run: pi-gw mcp login ${name}`;
    return new Error(say, { cause: error });
  }
  if (error instanceof SdkHttpError) return new Error(wordsOf(error), { cause: error });
  const words = wordsOf(error).replace(/^Version negotiation probe failed: /, "");
  return words === wordsOf(error) ? error : new Error(words, { cause: error });
}

/** Whatever comes counts: a server that says something is not hung. */
function watchMessages({ transport, heard }: ConnectOptions, refused: Map<string, unknown>): void {
  let handler: Transport["onmessage"];
  Object.defineProperty(transport, "onmessage", {
    configurable: true,
    get: () => handler,
    set(given: Transport["onmessage"]) {
      handler =
        given &&
        ((message, extra) => {
          heard();
          takeOutTools(message, refused);
          given(message, extra);
        });
    },
  });
}

/** The library refuses a whole list for one tool that is not as it should be. Such tools are kept aside, and judged one by one with the others. */
function takeOutTools(message: unknown, refused: Map<string, unknown>): void {
  if (!isObject(message) || !isObject(message["result"]) || !Array.isArray(message["result"]["tools"])) return;
  const { result } = message;
  const tools = result["tools"] as unknown[];
  const kept = tools.filter((tool) => isSpecType.Tool(tool));
  if (kept.length === tools.length) return;
  for (const tool of tools) {
    if (isSpecType.Tool(tool) || refused.size >= MAX_REFUSED_TOOLS) continue;
    refused.set(isObject(tool) ? String(tool["name"]) : "", tool);
  }
  Object.assign(result, { tools: kept });
}

function nameOf(client: Client): string {
  const { name = "", version = "" } = client.getServerVersion() ?? {};
  return `${name} ${version}`.trim();
}

async function listTools(
  client: Client,
  refused: ReadonlyMap<string, unknown>,
  options: { readonly signal: AbortSignal; readonly timeout: number },
): Promise<readonly unknown[]> {
  if (client.getServerCapabilities()?.tools === undefined) return [];
  const { tools } = await client.listTools({}, { ...options, cacheMode: "refresh" });
  return [...tools, ...refused.values()];
}

async function callTool(
  client: Client,
  running: Set<ServerCall>,
  call: ServerCall,
  signal: AbortSignal,
): Promise<ServerResult> {
  const options = {
    signal,
    timeout: NO_LIMIT_MS,
    allowInputRequired: true,
    onprogress: (progress: ServerProgress) => call.progress(progressText(progress)),
  };
  running.add(call);
  try {
    let more: Readonly<Record<string, unknown>> = {};
    for (let round = 0; round < MAX_ROUNDS; round++) {
      const params = { name: call.tool, arguments: { ...call.params }, ...more };
      const result: unknown = await client.callTool(params, options);
      if (!isInputRequiredResult(result)) return resultOf(result);
      more = {
        inputResponses: await answers(call, result.inputRequests ?? {}, signal),
        ...(result.requestState === undefined ? {} : { requestState: result.requestState }),
      };
    }
    throw new Error(`it asked ${MAX_ROUNDS} times and gave no result`);
  } finally {
    running.delete(call);
  }
}

/** One after the other, because people are asked one thing at a time. */
async function answers(call: ServerCall, requests: Readonly<Record<string, unknown>>, signal: AbortSignal) {
  const given: Record<string, unknown> = {};
  for (const [key, request] of Object.entries(requests)) {
    if (!isObject(request) || request["method"] !== "elicitation/create")
      throw new Error("it asks for something that the gateway does not offer (sampling or roots)");
    given[key] = await call.elicit(request["params"] as ElicitRequest["params"], signal);
  }
  return given;
}

function resultOf(result: unknown): ServerResult {
  if (!isObject(result)) throw new Error("its result cannot be read");
  const { content, structuredContent, isError } = result;
  return { content: Array.isArray(content) ? content : [], structured: structuredContent, isError: isError === true };
}

interface ServerProgress {
  readonly progress: number;
  readonly total?: number | undefined;
  readonly message?: string | undefined;
}

function progressText({ progress, total, message }: ServerProgress): string {
  const amount = total === undefined ? `${progress}` : `${progress} of ${total}`;
  return message === undefined ? amount : `${message} (${amount})`;
}

/** The older protocol does not say which call a question belongs to. With calls of several people at once nobody is asked. */
async function elicitOlder(
  running: ReadonlySet<ServerCall>,
  { params }: ElicitRequest,
  signal: AbortSignal,
): Promise<ElicitResult> {
  const [call, ...others] = running;
  if (call === undefined || others.length > 0) return { action: "cancel" };
  return call.elicit(params, signal);
}
