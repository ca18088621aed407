/** The REST side of a fake Discord. It checks what the original checks, writes every call down, and misbehaves when it is told to. */
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { BOT_TOKEN } from "./fake-people.ts";
import { type Answer, type Call, routeCall } from "./fake-routes.ts";
import type { FakeState } from "./fake-state.ts";

/** `cut`: done, and not answered. `late`: done, and answered when it is let go. `broken`: a server error. */
export type RestTrouble = "limited" | "gone" | "cut" | "late" | "broken";

export interface FakeRest extends AsyncDisposable {
  readonly url: string;
  /** Everything that was asked, but for where the gateway is. */
  readonly calls: readonly Call[];
  /** Holds for what is written, until it is told `null`; the first `after` calls are still right. */
  misbehave(trouble: RestTrouble | null, after?: number): void;
  /** Asked for every call that writes and for which nothing else holds; null: no more of that. */
  bewitch(pick: (() => RestTrouble | null) | null): void;
  /** Called when something that was written is done, before anybody is told. Null: no more of that. */
  onWritten(tell: ((call: Call) => void) | null): void;
  /** The next calls that read messages meet a server error. */
  failReads(count: number): void;
  /** What it holds back is answered now. */
  letGo(): void;
  /** What can be downloaded, by its path. */
  readonly downloads: Map<string, Uint8Array>;
  /** Commands as they were last registered. */
  commands(): readonly { readonly name: string }[];
}

interface RestSurroundings {
  gatewayUrl(): string;
  signInsLeft(): number;
  silent(): boolean;
}

const RETRY_AFTER_S = 3;
export const RESET_AFTER_MS = 1_000_000;
const ERROR_GONE: Answer = { status: 404, json: { message: "Unknown Channel", code: 10003 } };

interface RestMemory {
  trouble: RestTrouble | null;
  after: number;
  failingReads: number;
  spell: (() => RestTrouble | null) | null;
  tell: ((call: Call) => void) | null;
  readonly calls: Call[];
  readonly held: (() => void)[];
  readonly downloads: Map<string, Uint8Array>;
  commands: readonly { readonly name: string }[];
}

export async function startFakeRest(state: FakeState, around: RestSurroundings): Promise<FakeRest> {
  const memory: RestMemory = {
    trouble: null,
    after: 0,
    failingReads: 0,
    spell: null,
    tell: null,
    calls: [],
    held: [],
    downloads: new Map(),
    commands: [],
  };
  const server = createServer((request, response) => {
    void serve(memory, state, around, { request, response }).catch((error: unknown) => {
      response.writeHead(500).end(String(error));
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  return {
    url: `http://127.0.0.1:${port}`,
    calls: memory.calls,
    downloads: memory.downloads,
    misbehave(trouble, after = 0) {
      memory.trouble = trouble;
      memory.after = after;
    },
    bewitch(pick) {
      memory.spell = pick;
    },
    onWritten(tell) {
      memory.tell = tell;
    },
    failReads(count) {
      memory.failingReads = count;
    },
    letGo: () => memory.held.splice(0).forEach((go) => go()),
    commands: () => memory.commands,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
    },
  };
}

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

async function serve(
  memory: RestMemory,
  state: FakeState,
  around: RestSurroundings,
  { request, response }: Exchange,
): Promise<void> {
  const url = new URL(request.url ?? "/", "http://fake");
  const body = await bytesOf(request);
  if (around.silent()) return; // nobody answers; the caller gives up
  const file = memory.downloads.get(url.pathname);
  if (file) {
    memory.calls.push({ method: "GET", path: url.pathname, query: url.searchParams, json: null, files: [] });
    return void response.writeHead(200, { "content-length": file.length }).end(file);
  }
  const path = url.pathname.replace(/^\/api\/v10/, "");
  if (path === "/gateway/bot") return answer(response, { status: 200, json: gatewayInfo(around) });
  const call = await readCall(request, { path, url, body });
  memory.calls.push(call);
  if (needsToken(path) && request.headers.authorization !== `Bot ${BOT_TOKEN}`)
    return answer(response, { status: 401, json: { message: "401: Unauthorized", code: 0 } });
  const reads = request.method === "GET";
  const trouble = reads ? (memory.failingReads-- > 0 ? "broken" : null) : troubleNow(memory);
  if (trouble === "limited") return answer(response, limited());
  if (trouble === "gone") return answer(response, ERROR_GONE);
  if (trouble === "broken") return answer(response, { status: 503, json: { message: "busy", code: 0 } });
  const done = routeCall(state, call, (commands) => {
    memory.commands = commands;
  });
  if (!reads) memory.tell?.(call);
  if (trouble === "cut") return void request.socket.destroy();
  if (trouble === "late") await new Promise<void>((go) => memory.held.push(go));
  answer(response, done);
}

function troubleNow(memory: RestMemory): RestTrouble | null {
  return memory.after-- > 0 ? null : (memory.trouble ?? memory.spell?.() ?? null);
}

const needsToken = (path: string) => !path.startsWith("/interactions/") && !path.startsWith("/webhooks/");

function limited(): Answer {
  return {
    status: 429,
    json: { message: "You are being rate limited.", retry_after: RETRY_AFTER_S, global: false },
    headers: { "retry-after": String(RETRY_AFTER_S), "x-ratelimit-scope": "user" },
  };
}

function gatewayInfo({ gatewayUrl, signInsLeft }: RestSurroundings) {
  return {
    url: gatewayUrl(),
    shards: 1,
    session_start_limit: { total: 1000, remaining: signInsLeft(), reset_after: RESET_AFTER_MS, max_concurrency: 1 },
  };
}

function answer(response: ServerResponse, { status, json, headers = {} }: Answer): void {
  if (json === undefined) return void response.writeHead(status, headers).end();
  response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(json));
}

async function bytesOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

interface Asked {
  readonly path: string;
  readonly url: URL;
  readonly body: Buffer;
}

async function readCall({ method = "GET", headers }: IncomingMessage, { path, url, body }: Asked): Promise<Call> {
  const common = { method, path: decodeURIComponent(path), query: url.searchParams };
  const type = headers["content-type"] ?? "";
  if (!type.startsWith("multipart/form-data"))
    return { ...common, json: body.length > 0 ? JSON.parse(body.toString("utf8")) : null, files: [] };
  const form = await new Response(new Uint8Array(body), { headers: { "content-type": type } }).formData();
  const files: { name: string; bytes: number }[] = [];
  for (const [key, value] of form.entries())
    if (key.startsWith("files[") && typeof value !== "string") files.push({ name: value.name, bytes: value.size });
  return { ...common, json: JSON.parse(String(form.get("payload_json") ?? "null")), files };
}
