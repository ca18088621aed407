/** What a credential opens over MCP, what ends with it, and that what one client was told is of no use to another. */
import { afterEach, describe, expect, test } from "bun:test";
import { KEY_SCOPES, type KeyScope } from "../../contracts/api-keys.ts";
import type { Principal } from "../../contracts/ids.ts";
import type { Tool } from "../../contracts/tools/tool.ts";
import { deferred } from "../../kit/deferred.ts";
import { isObject } from "../../kit/json.ts";
import { secret } from "../../kit/secret.ts";
import { type HttpWorld, startHttpWorld } from "../../testing/http/http-fixture.ts";
import { makeKey } from "../../testing/http/test-keys.ts";
import { MCP_REVISIONS, mcpClient, testMcpDoor } from "../../testing/http/test-mcp-door.ts";
import { createSeqIds } from "../../testing/seq-ids.ts";
import { memoryCalls, policy, says, tool, toolWorld } from "../../testing/tools/tool-world.ts";
import { waitFor } from "../../testing/wait-for.ts";
import { FAMILY_SCOPES } from "./families.ts";

const open: AsyncDisposable[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one[Symbol.asyncDispose]();
});

const FORM = {
  method: "elicitation/create" as const,
  params: { message: "Your name?", requestedSchema: { type: "object", properties: { name: { type: "string" } } } },
};
/** Asks for a name, and says it. */
const ASKS = tool(
  async (...given) => says(JSON.stringify((await given[4].client?.ask({ who: FORM }))?.["who"]?.["content"])),
  { parameters: { type: "object" }, flags: { idempotent: true } },
);

/** `store`: what a previous process has left. */
function start(asks = ASKS, store = memoryCalls()) {
  const world = toolWorld([asks], { store });
  world.rules.now = policy({ keyTools: () => ["*"] });
  const { gate, list, events, clock } = world;
  const approvals = { pending: () => [], decide: async () => "unknown" as const };
  const questions = { pending: () => [], answer: () => ({ kind: "refused", because: "over", say: "" }) as const };
  const http = startHttpWorld({}, { tools: { gate, list } });
  const ids = createSeqIds();
  for (const _row of store.rows) ids.next("mcp"); // no id of the previous process comes again
  const mcp = testMcpDoor({ events, clock, ids, tools: { gate, list, approvals, questions } });
  Object.assign(http.deps.tools, { mcp });
  open.push(http, mcp);
  return { ...world, rows: store.rows, store, http };
}

const META = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": { elicitation: {} },
};

/** One request of 2026-07-28, as it is on the wire. */
async function call(http: HttpWorld, params: object, headers: Record<string, string> = {}): Promise<Fields> {
  const response = await http.postJson(
    "/mcp",
    { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "echo", arguments: {}, _meta: META, ...params } },
    {
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": "tools/call",
      "mcp-name": "echo",
      ...headers,
    },
  );
  return (await response.json()) as Fields;
}

interface Fields {
  readonly result?: { readonly requestState?: string; readonly resultType?: string; readonly content?: unknown };
  readonly error?: { readonly code: number; readonly message: string };
}

const answered = { who: { action: "accept", content: { name: "Ada" } } };

describe("a call that waits for its client", () => {
  test.each([
    ["goes on", ASKS, "Ada"],
    ["is not run twice", { ...ASKS, flags: { idempotent: false } }, "isError"],
  ])("after a restart of the gateway %s, as the tool allows, under the same call id", async (_what, asks, said) => {
    const before = start(asks);
    const { result } = await call(before.http, {});
    expect(result).toMatchObject({ resultType: "input_required" });
    for (const row of before.rows) row.end ??= { status: "unknown", output: "", ms: 0 }; // as the next start finds it
    const after = start(asks, before.store);
    const again = await call(after.http, { inputResponses: answered, requestState: result?.requestState });
    expect(JSON.stringify(again.result)).toContain(said);
    expect(new Set(after.rows.map(({ intent }) => intent.callId)).size).toBe(1);
  });

  test.each([
    ["by another credential", async (http: HttpWorld) => ({ headers: { ...(await otherKey(http)) } })],
    ["with a changed state", async () => ({ change: (state: string) => `${state}x` })],
    ["with other parameters", async () => ({ params: { arguments: { other: 1 } } })],
  ])("cannot be gone on with %s", async (_how, make) => {
    const { http, rows } = start();
    const { result } = await call(http, {});
    const { headers = {}, change = (state: string) => state, params = {} } = (await make(http)) as Attempt;
    const requestState = change(result?.requestState ?? "");
    const again = await call(http, { inputResponses: answered, requestState, ...params }, headers);
    const isRefused = again.error?.code === -32_602 || JSON.stringify(again.result).includes("isError");
    expect([isRefused, rows.filter(({ end }) => end?.status === "success").length]).toEqual([true, 0]);
  });

  test("ends when its key is revoked", async () => {
    const began = deferred<AbortSignal>();
    const asks: Tool = {
      ...ASKS,
      execute(...given) {
        began.resolve(given[2]);
        return ASKS.execute(...given);
      },
    };
    const { http } = start(asks);
    const { keys } = http.deps.people;
    const { key, headers } = await makeKey(keys, { scopes: ["tools"] });
    expect((await call(http, {}, headers)).result).toMatchObject({ resultType: "input_required" });
    const signal = await began.promise;
    expect(signal.aborted).toBe(false);
    await keys.revoke(key.id, "operator" as Principal);
    await waitFor("the end of the tool", () => signal.aborted);
  });
});

const HEADERS = { accept: "application/json, text/event-stream" };
const INITIALIZE = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "a test", version: "1" } },
};

test("a session of an older client is of no use to another credential", async () => {
  const { http } = start();
  const { headers } = await makeKey(http.deps.people.keys, { scopes: ["tools"] });
  const opened = await http.postJson("/mcp", INITIALIZE, { ...HEADERS, ...headers });
  const session = { "mcp-session-id": opened.headers.get("mcp-session-id") ?? "" };
  const ping = (by: Record<string, string>) =>
    http.postJson("/mcp", { jsonrpc: "2.0", id: 1, method: "ping" }, { ...HEADERS, ...session, ...by });
  expect([(await ping(headers)).status, (await ping({})).status]).toEqual([200, 404]);
  await opened.body?.cancel();
});

/** The stream on which a session of an older client hears of changes. */
async function openStream(http: HttpWorld): Promise<Response> {
  const begun = await http.postJson("/mcp", INITIALIZE, HEADERS);
  await begun.text();
  return http.call("/mcp", { headers: { ...HEADERS, "mcp-session-id": begun.headers.get("mcp-session-id") ?? "" } });
}

describe("the stream of an older client", () => {
  test("ends, with its session, when the operator's token is replaced", async () => {
    const { http } = start();
    const stream = await openStream(http);
    const fresh = "another-token-with-22-characters";
    http.http.update({ auth: { token: secret(fresh), password: null }, allowedHosts: [], trustedProxies: [] });
    expect(await stream.text()).not.toContain("data:");
    const headers = { ...HEADERS, authorization: `Bearer ${fresh}` };
    const { status } = await http.call("/mcp", { headers: { ...headers, "mcp-session-id": sessionOf(stream) } });
    expect(status).toBe(404);
  });

  test("ends with the gateway, which does not wait for it", async () => {
    const { http } = start();
    const stream = await openStream(http);
    await Promise.all([stream.text(), http.http[Symbol.asyncDispose]()]);
    expect(http.log.lines.filter(({ words }) => words.includes("cut off"))).toEqual([]);
  });
});

function sessionOf({ headers }: Response): string {
  return headers.get("mcp-session-id") ?? "";
}

describe("a request of an MCP client", () => {
  test("that is nested too deeply is refused before it is parsed", async () => {
    const { http } = start();
    const deep = `{"jsonrpc":"2.0","id":1,"method":"ping","params":${"[".repeat(100_000)}${"]".repeat(100_000)}}`;
    const headers = { ...HEADERS, "content-type": "application/json" };
    const response = await http.call("/mcp", { method: "POST", headers, body: deep });
    expect([response.status, await response.text()]).toEqual([400, expect.stringContaining("64 levels")]);
  });

  test("counts every message that it carries", async () => {
    const { http } = start();
    const { headers } = await makeKey(http.deps.people.keys, { scopes: ["tools"], requestsPerMinute: 10 });
    const pings = (count: number) =>
      http.postJson("/mcp", Array(count).fill({ jsonrpc: "2.0", id: 1, method: "ping" }), { ...HEADERS, ...headers });
    expect([(await pings(5)).status, (await pings(6)).status]).toEqual([400, 429]); // no session was begun
  });
});

interface Attempt {
  readonly headers?: Record<string, string>;
  readonly params?: object;
  change?(state: string): string;
}

async function otherKey(http: HttpWorld): Promise<Record<string, string>> {
  return (await makeKey(http.deps.people.keys, { scopes: ["tools"] })).headers;
}

describe.each(MCP_REVISIONS)("a key with one scope, over %s,", (revision) => {
  test.each(KEY_SCOPES)("is shown what the scope %s opens, and nothing else", async (scope) => {
    const { http } = start();
    const { secret } = await makeKey(http.deps.people.keys, { scopes: [scope] });
    const client = await mcpClient({ url: http.http.url, revision, token: secret });
    const declared = client.getServerCapabilities() ?? {};
    for (const [family, scopes] of Object.entries(FAMILY_SCOPES))
      expect([family, isObject(declared[family as "tools"])]).toEqual([family, isOpen(scope, scopes)]);
    const lists = { tools: "tools/list", resources: "resources/list", prompts: "prompts/list" } as const;
    for (const [family, method] of Object.entries(lists)) {
      const refused = await client.request({ method }).then(
        () => false,
        (error: unknown) => String(error).includes("-32601") || /not support|not found/i.test(String(error)),
      );
      expect([family, refused]).toEqual([family, !isOpen(scope, FAMILY_SCOPES[family as "tools"])]);
    }
    await client.close();
  });
});

function isOpen(scope: KeyScope, scopes: readonly KeyScope[]): boolean {
  return scope === "admin" || scopes.includes(scope);
}
