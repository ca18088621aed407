/** Servers at an address, by the official server library over loopback: both protocols, progress, cancelling, questions, changes, and answers that go on for ever. */
import { afterEach, describe, expect, test } from "bun:test";
import { createMcpHandler, inputRequired, type McpHttpHandler, Server } from "@modelcontextprotocol/server";
import { checkConfigText, type McpServerSettings } from "../../config/index.ts";
import { systemClock } from "../../kit/clock.ts";
import { silentLog } from "../../kit/log.ts";
import { waitFor } from "../../testing/wait-for.ts";
import type { Connected, ServerCall } from "./connection.ts";
import { credentialsFile } from "./oauth/credentials-file.ts";
import { createOpenConnection } from "./open-connection.ts";

const NEVER = new AbortController().signal;
const open: AsyncDisposable[] = [];
afterEach(async () => {
  for (const one of open.splice(0).toReversed()) await one[Symbol.asyncDispose]();
});

interface Shop {
  readonly url: string;
  readonly handler: McpHttpHandler;
  readonly requests: { readonly method: string; readonly headers: Headers }[];
  /** Names of tools that were cancelled. */
  readonly cancelled: string[];
  tools: readonly object[];
  /** Answers with 429. */
  busy: boolean;
}

const object = { type: "object", properties: {} };

/** `legacy`: it answers nothing but the older protocol. */
function startShop(legacy = false): Shop {
  const cancelled: string[] = [];
  const requests: Shop["requests"] = [];
  const handler = createMcpHandler(() => shopServer(shop), { legacy: "stateless" });
  const http = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      requests.push({ method: request.method, headers: request.headers });
      if (legacy && request.headers.get("mcp-protocol-version") === "2026-07-28")
        return Response.json(
          { jsonrpc: "2.0", id: null, error: { code: -32000, message: "Bad Request" } },
          { status: 400 },
        );
      return shop.busy ? new Response("slow down", { status: 429 }) : handler.fetch(request);
    },
  });
  open.push({ [Symbol.asyncDispose]: async () => (await handler.close(), void (await http.stop(true))) });
  const shop: Shop = {
    url: `http://127.0.0.1:${http.port}/mcp`,
    handler,
    requests,
    cancelled,
    tools: ["slow", "ask", "add"].map((name) => ({ name, inputSchema: object })),
    busy: false,
  };
  return shop;
}

function shopServer(shop: Shop): Server {
  const server = new Server({ name: "shop", version: "1" }, { capabilities: { tools: { listChanged: true } } });
  server.setRequestHandler("tools/list", async () => ({
    tools: shop.tools as never,
    ttlMs: 0,
    cacheScope: "private" as const,
  }));
  server.setRequestHandler("tools/call", async ({ params }, { mcpReq }) => {
    if (params.name === "add") return { content: [{ type: "text", text: JSON.stringify(params.arguments) }] };
    if (params.name === "ask") {
      const given = mcpReq.inputResponses?.["sure"];
      if (given !== undefined) return { content: [{ type: "text", text: JSON.stringify(given) }] };
      const requestedSchema = { type: "object" as const, properties: {} };
      return inputRequired({ inputRequests: { sure: inputRequired.elicit({ message: "Sure?", requestedSchema }) } });
    }
    const progressToken = mcpReq._meta?.progressToken ?? 0;
    await mcpReq.notify({
      method: "notifications/progress",
      params: { progressToken, progress: 1, total: 3, message: "one" },
    });
    await new Promise((resolve) => mcpReq.signal.addEventListener("abort", resolve, { once: true }));
    shop.cancelled.push(params.name);
    return { content: [] };
  });
  return server;
}

function settingsOf(url: string, more: object = {}): McpServerSettings {
  const text = JSON.stringify({ mcp: { servers: { shop: { url, startMs: "5s", ...more } } } });
  const checked = checkConfigText(text, () => undefined);
  const settings = checked.config?.mcp.servers["shop"];
  if (!settings) throw new Error(`these settings are not valid: ${JSON.stringify(checked.problems)}`);
  return settings;
}

async function connected(
  settings: McpServerSettings,
  parts: Partial<{ listChanged(): void; closed(why: string): void }> = {},
) {
  const deps = {
    clock: systemClock,
    log: silentLog,
    version: "1",
    programs: { start: () => Promise.reject(new Error("no programs here")) },
    credentials: credentialsFile("/nowhere", "shop"),
    resolve: async (host: string) => (host === "public.example" ? ["10.0.0.1"] : []),
  };
  const quiet = {
    legacy: false,
    listChanged: () => undefined,
    closed: () => undefined,
    heard: () => undefined,
    ...parts,
  };
  const connection = await createOpenConnection(deps, "shop")(settings, quiet, NEVER);
  open.push({ [Symbol.asyncDispose]: () => connection.close() });
  return connection;
}

function callOf(tool: string, more: Partial<ServerCall> = {}): ServerCall {
  return { tool, params: {}, progress: () => undefined, elicit: async () => ({ action: "cancel" }), ...more };
}

const say = async (connection: Connected, call: ServerCall) => (await connection.call(call, NEVER)).content;

describe("a server at an address", () => {
  test.each([
    ["2026-07-28", false],
    ["2025-11-25", true],
  ] as const)("is spoken to in the protocol %s, with the headers of the settings", async (protocol, legacy) => {
    const shop = startShop(legacy);
    const connection = await connected(
      settingsOf(shop.url, { headers: { Authorization: "Bearer a-key-of-the-shop" } }),
    );
    expect(connection.protocol).toBe(protocol);
    expect(await connection.list(NEVER)).toMatchObject([{ name: "slow" }, { name: "ask" }, { name: "add" }]);
    expect(await say(connection, callOf("add", { params: { a: 1 } }))).toEqual([{ type: "text", text: '{"a":1}' }]);
    expect(shop.requests.every(({ headers }) => headers.get("authorization") === "Bearer a-key-of-the-shop")).toBe(
      true,
    );
  });

  test("tells of progress, and hears that a call is cancelled", async () => {
    const shop = startShop();
    const connection = await connected(settingsOf(shop.url));
    const stop = new AbortController();
    const said: string[] = [];
    const call = connection.call(callOf("slow", { progress: (text) => void said.push(text) }), stop.signal);
    await waitFor("progress", () => said.length > 0);
    stop.abort(new Error("enough"));
    await call.catch(() => undefined);
    await waitFor("the cancelled call", () => shop.cancelled.length > 0);
    expect([said, shop.cancelled]).toEqual([["one (1 of 3)"], ["slow"]]);
  });

  test("asks in the middle of a call, and goes on with the answer", async () => {
    const connection = await connected(settingsOf(startShop().url));
    const asked: unknown[] = [];
    const content = await say(
      connection,
      callOf("ask", {
        async elicit(request) {
          asked.push(request);
          return { action: "accept", content: {} };
        },
      }),
    );
    expect(asked).toMatchObject([{ message: "Sure?" }]);
    expect(content).toEqual([{ type: "text", text: '{"action":"accept","content":{}}' }]);
  });

  test("says when its list of tools has changed", async () => {
    const shop = startShop();
    let changes = 0;
    const connection = await connected(settingsOf(shop.url), { listChanged: () => void changes++ });
    shop.tools = [{ name: "other", inputSchema: object }];
    shop.handler.notify.toolsChanged();
    await waitFor("the change", () => changes > 0);
    expect(await connection.list(NEVER)).toMatchObject([{ name: "other" }]);
  });

  test("with one schema that the library refuses keeps its other tools", async () => {
    const shop = startShop();
    shop.tools = [
      { name: "add", inputSchema: object },
      { name: "bad", inputSchema: { type: "nothing" } },
    ];
    expect(await (await connected(settingsOf(shop.url))).list(NEVER)).toHaveLength(2);
  });

  test("that wants a login says so, with the command", async () => {
    const http = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response("no", { status: 401 }) });
    open.push({ [Symbol.asyncDispose]: async () => void (await http.stop(true)) });
    const failed = connected(settingsOf(`http://127.0.0.1:${http.port}/`));
    await expect(failed).rejects.toThrow("it wants a login. Run: pi-gw mcp login shop");
  });

  test("that refuses the token of the settings says so, and one that cannot be reached why", async () => {
    const http = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response("no", { status: 401 }) });
    const url = `http://127.0.0.1:${http.port}/`;
    const headers = { authorization: "Bearer an-old-token" };
    await expect(connected(settingsOf(url, { headers }))).rejects.toThrow(
      "it refuses the token in mcp.servers.shop.headers",
    );
    await http.stop(true);
    await expect(connected(settingsOf(url))).rejects.toThrow("it could not be reached: nothing listens there");
  });

  test("that has too many requests says so, and the connection stays", async () => {
    const shop = startShop();
    const endings: string[] = [];
    const connection = await connected(settingsOf(shop.url), { closed: (why) => void endings.push(why) });
    shop.busy = true;
    await expect(connection.call(callOf("add"), NEVER)).rejects.toThrow(
      "it answered with status 429, too many requests",
    );
    shop.busy = false;
    expect([await say(connection, callOf("add")), endings]).toEqual([[{ type: "text", text: "{}" }], []]);
  });

  test("that sends its client to another origin is not followed there", async () => {
    const shop = startShop();
    const elsewhere = shop.url.replace("127.0.0.1", "localhost"); // another origin than the one that was written down
    const http = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => Response.redirect(elsewhere, 307) });
    open.push({ [Symbol.asyncDispose]: async () => void (await http.stop(true)) });
    await expect(connected(settingsOf(`http://127.0.0.1:${http.port}/mcp`))).rejects.toThrow();
    expect(shop.requests).toEqual([]);
  });
});
