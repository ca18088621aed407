/** The MCP door as the official client sees it, over a real port, in both revisions of the protocol. The gate and its tools are real. */
import { afterEach, describe, expect, test } from "bun:test";
import type { Client, ClientOptions } from "@modelcontextprotocol/client";
import type { ApprovalNews, PendingApproval } from "../../contracts/tools/approval.ts";
import { NO_RULES } from "../../testing/tools/quiet-deps.ts";
import type { Tool } from "../../contracts/tools/tool.ts";
import { deferred } from "../../kit/deferred.ts";
import { type HttpWorld, startHttpWorld } from "../../testing/http/http-fixture.ts";
import { makeKey } from "../../testing/http/test-keys.ts";
import { MCP_REVISIONS, mcpClient, type McpRevision, testMcpDoor } from "../../testing/http/test-mcp-door.ts";
import { policy, says, tool, toolWorld } from "../../testing/tools/tool-world.ts";
import { waitFor } from "../../testing/wait-for.ts";
import { createApprovals } from "../../tools/index.ts";

const open: AsyncDisposable[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one[Symbol.asyncDispose]();
});

const ECHO = tool(async (_id, params) => says(`said ${(params as { text: string }).text}`));
const ANYTHING = { type: "object" };
const nothing = { pending: () => [], answer: () => ({ kind: "refused", because: "over", say: "over" }) as const };

/** Owners who are asked by the real module; what they are asked is stored nowhere. */
function ownersOf(world: ReturnType<typeof toolWorld>) {
  const store = {
    grantedBy: async () => null,
    put: async () => undefined,
    openHash: async () => null,
    end: async () => true,
    endWithRule: async () => "over" as const,
    ended: async () => ({ items: [] }),
    prune: async () => 0,
  };
  const { clock, log, events } = world;
  let id = 0;
  const ids = { next: (prefix: string) => `${prefix}${++id}`, secret: () => "" };
  return createApprovals({ clock, ids, log, events, store, rules: NO_RULES, mayDecide: async () => true }, () => ({
    waitMs: 60_000,
  }));
}

function start(tools: readonly Tool[], rules: Parameters<typeof policy>[0] = {}) {
  let ask: ReturnType<typeof ownersOf>["ask"] = async () => "expired";
  const approver = { ask: (...given: Parameters<typeof ask>) => ask(...given) };
  const world = toolWorld(tools, { approvals: { ...approver, pending: () => [], decide: async () => "unknown" } });
  world.rules.now = policy(rules);
  const approvals = ownersOf(world);
  ask = approvals.ask;
  const { gate, list, events, clock } = world;
  const mcp = testMcpDoor({ events, clock, tools: { gate, list, approvals, questions: nothing } });
  const http = startHttpWorld({}, { tools: { gate, list, mcp } });
  open.push(http, mcp);
  return { ...world, approvals, http };
}

async function connect(
  { http }: { readonly http: HttpWorld },
  revision: McpRevision,
  options: ClientOptions & { readonly token?: string } = {},
): Promise<Client> {
  const { token, ...rest } = options;
  const client = await mcpClient({ url: http.http.url, revision, ...(token ? { token } : {}) }, rest);
  open.push({ [Symbol.asyncDispose]: () => client.close() });
  return client;
}

const textOf = (result: unknown): string =>
  (result as { content: readonly { text?: string }[] }).content.map(({ text = "" }) => text).join("");

describe.each(MCP_REVISIONS)("an MCP client of %s", (revision) => {
  test("sees the tools that it may call, with title, schema and what they are", async () => {
    const hidden = tool(async () => says("no"), { name: "hidden" });
    const inChat = tool(async () => says("no"), { name: "in_chat", flags: { idempotent: true, inConversation: true } });
    const world = start([ECHO, hidden, inChat], { deny: ["hidden"] });
    const client = await connect(world, revision);
    const { tools } = await client.listTools();
    expect(tools).toMatchObject([
      { name: "echo", title: "Echo", inputSchema: ECHO.parameters, annotations: { idempotentHint: false } },
    ]);
    expect(client.getServerVersion()).toMatchObject({ name: "pi-gateway", version: "1.2.3" });
  });

  test("calls a tool, and what is wrong with a call is told as everywhere", async () => {
    const client = await connect(start([ECHO]), revision);
    expect(textOf(await client.callTool({ name: "echo", arguments: { text: "hello" } }))).toBe("said hello");
    const wrong = await client.callTool({ name: "echo", arguments: { text: 1, more: 2 } });
    expect(wrong.isError).toBe(true);
    expect(JSON.parse(textOf(wrong))).toMatchObject({ status: "error", tool: "echo" });
    await expect(client.callTool({ name: "no_such_tool", arguments: {} })).rejects.toMatchObject({ code: -32_602 });
  });

  test("gets a value by the output schema, sounds and documents beside the text", async () => {
    const outputSchema = { type: "object", properties: { celsius: { type: "number" } }, required: ["celsius"] };
    const weather = tool(
      async () => ({
        ...says("21 degrees"),
        structured: { celsius: 21 },
        media: [
          { type: "audio" as const, data: "UklGRg==", mimeType: "audio/wav" },
          { type: "resource" as const, uri: "weather://now", mimeType: "text/plain", text: "21" },
        ],
      }),
      { name: "weather", parameters: ANYTHING, outputSchema },
    );
    const client = await connect(start([weather]), revision);
    expect((await client.listTools()).tools[0]?.outputSchema).toMatchObject(outputSchema);
    const result = await client.callTool({ name: "weather", arguments: {} });
    expect(result.structuredContent).toEqual({ celsius: 21 });
    expect(result.content).toMatchObject([
      { type: "text", text: "21 degrees" },
      { type: "audio", mimeType: "audio/wav" },
      { type: "resource", resource: { uri: "weather://now", text: "21" } },
    ]);
  });

  test("hears progress while a tool runs", async () => {
    const heard = [deferred<void>(), deferred<void>()];
    const slow = tool(
      async (_id, _params, _signal, onUpdate) => {
        for (const [at, one] of heard.entries()) {
          onUpdate(says(`${at + 1} of 2`));
          await one.promise;
        }
        return says("done");
      },
      { parameters: ANYTHING, timeoutMs: 100_000 },
    );
    const world = start([slow]);
    const client = await connect(world, revision);
    const progress: unknown[] = [];
    const onprogress = (news: unknown) => heard[progress.push(news) - 1]?.resolve();
    const call = client.callTool({ name: "echo", arguments: {} }, { onprogress });
    await waitFor("the second report", async () => {
      if (progress.length === 1) await world.clock.advance(100); // reports come at a pace
      return progress.length === 2;
    });
    expect(textOf(await call)).toBe("done");
    expect(progress).toEqual([
      { progress: 1, message: "1 of 2" },
      { progress: 2, message: "2 of 2" },
    ]);
  });

  test("cancels a call: the tool is told, and the row says so", async () => {
    const began = deferred<AbortSignal>();
    const endless = tool(
      (_id, _params, signal) => {
        began.resolve(signal);
        return new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
      },
      { parameters: ANYTHING },
    );
    const world = start([endless]);
    const client = await connect(world, revision);
    const stop = new AbortController();
    const call = client.callTool({ name: "echo", arguments: {} }, { signal: stop.signal });
    call.catch(() => undefined);
    const signal = await began.promise;
    stop.abort();
    await expect(call).rejects.toThrow();
    await waitFor("the end of the tool", () => signal.aborted);
    await waitFor("the end of the call in its row", () => world.last()?.end !== null);
    expect(world.last()?.end).toMatchObject({ status: "error", output: "echo was cancelled." });
  });

  test.each([
    ["Allow once", "said hello"],
    ["Deny", "The owner did not approve it"],
  ])("asks the person in front of it for an approval, who says %s", async (decision, expected) => {
    const world = start([ECHO], { approvals: { ask: ["echo"], never: [] } });
    const client = await connect(world, revision, { capabilities: { elicitation: {} } });
    const forms: unknown[] = [];
    client.setRequestHandler("elicitation/create", ({ params }) => {
      forms.push(params);
      return { action: "accept", content: { decision } };
    });
    const result = await client.callTool({ name: "echo", arguments: { text: "hello" } });
    expect(textOf(result)).toContain(expected);
    expect(forms).toMatchObject([
      {
        message: expect.stringContaining("May echo run?"),
        requestedSchema: { properties: { decision: { enum: ["Allow once", "Allow for this conversation", "Deny"] } } },
      },
    ]);
    expect(world.rows).toHaveLength(1);
  });

  test("that cannot ask anybody waits until an owner has answered elsewhere", async () => {
    const world = start([ECHO], { approvals: { ask: ["echo"], never: [] } });
    const client = await connect(world, revision);
    const asked = deferred<ApprovalNews>();
    world.events.on("approval", (news) => asked.resolve(news));
    const call = client.callTool({ name: "echo", arguments: { text: "hello" } });
    const { id } = await asked.promise;
    await world.clock.advance(1_000); // a program would be told by now that it has to come back
    await world.approvals.decide(id, "once", "operator" as PendingApproval["principal"]);
    expect(textOf(await call)).toBe("said hello");
  });

  test("with a key that may not approve is not asked", async () => {
    const world = start([ECHO], { approvals: { ask: ["echo"], never: [] }, keyTools: () => ["*"] });
    const { secret } = await makeKey(world.http.deps.people.keys, { scopes: ["tools"] });
    const client = await connect(world, revision, { token: secret, capabilities: { elicitation: {} } });
    client.setRequestHandler("elicitation/create", () => {
      throw new Error("asked");
    });
    const asked = deferred<ApprovalNews>();
    world.events.on("approval", (news) => asked.resolve(news));
    const call = client.callTool({ name: "echo", arguments: { text: "hello" } });
    const { id, principal } = await asked.promise;
    expect(principal).toStartWith("key:user:");
    await world.approvals.decide(id, "deny", "operator" as PendingApproval["principal"]);
    expect(textOf(await call)).toContain("did not approve it");
  });

  test("answers what a tool asks for, in as many rounds as it takes", async () => {
    const asks = tool(
      async (...given) => {
        const { client } = given[4];
        const form = (message: string) => ({
          method: "elicitation/create" as const,
          params: { message, requestedSchema: { type: "object", properties: { it: { type: "string" } } } },
        });
        const first = await client?.ask({ name: form("Your name?") });
        const second = await client?.ask({ colour: form("Your colour?") });
        return says(JSON.stringify([first?.["name"], second?.["colour"]]));
      },
      { parameters: ANYTHING },
    );
    const world = start([asks]);
    const client = await connect(world, revision, { capabilities: { elicitation: {} } });
    client.setRequestHandler("elicitation/create", ({ params }) => ({
      action: "accept",
      content: { it: params.message },
    }));
    const said = textOf(await client.callTool({ name: "echo", arguments: {} }));
    expect(JSON.parse(said)).toMatchObject([{ content: { it: "Your name?" } }, { content: { it: "Your colour?" } }]);
    expect(world.rows).toHaveLength(1);
  });

  test("with a key sees the tools of the key, and none without the scope", async () => {
    const world = start([ECHO, tool(async () => says("x"), { name: "other" })], { keyTools: () => ["echo"] });
    const { secret } = await makeKey(world.http.deps.people.keys, { scopes: ["tools"], tools: ["echo"] });
    const client = await connect(world, revision, { token: secret });
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(["echo"]);
    const { secret: chats } = await makeKey(world.http.deps.people.keys, { scopes: ["chat"] });
    const other = await connect(world, revision, { token: chats });
    expect(other.getServerCapabilities()?.tools).toBeUndefined();
  });

  test("is refused without a credential, and from pages of other sites", async () => {
    const world = start([ECHO]);
    await expect(
      mcpClient({ url: world.http.http.url, revision, token: "wrong-token-of-nobody-at-all" }),
    ).rejects.toThrow();
    const post = (headers: Record<string, string>) =>
      world.http.call("/mcp", {
        method: "POST",
        body: "{}",
        headers: { "content-type": "application/json", ...headers },
      });
    expect((await post({ origin: "https://evil.example" })).status).toBe(403);
    expect((await post({ host: "evil.example" })).status).toBe(421);
  });
});
