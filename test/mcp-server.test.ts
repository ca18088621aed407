/**
 * The gateway as an MCP server, as its users have it: the official client over HTTP and over stdio, in both revisions of the protocol, against a
 * real gateway with real pi and a played provider; and the public conformance suite.
 */
import { afterAll, afterEach, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Client, ClientOptions } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { hasPassed, runConformance } from "../scripts/compatibility/conformance.ts";
import { LEFT_OUT } from "../scripts/compatibility/mcp-server.ts";
import { deferred } from "../src/kit/deferred.ts";
import { type FakeProvider, type FakeReply, says, startFakeProvider } from "../src/testing/fake-provider.ts";
import { MCP_REVISIONS, mcpClient, mcpClientOn, type McpRevision } from "../src/testing/http/test-mcp-door.ts";
import { type TempHome, tempHome } from "../src/testing/temp-home.ts";
import { type GatewayProcess, startGatewayProcess } from "../src/testing/whole/gateway-process.ts";
import { startTokenProxy } from "../src/testing/whole/token-proxy.ts";
import { ASKING_EXTENSION } from "./asking-extension.ts";
import { CONFORMANCE_PLUGIN, putConformancePlugin } from "./mcp-conformance-home.ts";
import { asked, endpoint, eventually, statusOf, textOf, WHOLE_TEST_MS } from "./whole-fixture.ts";

setDefaultTimeout(WHOLE_TEST_MS);

const MAIN = join(import.meta.dir, "..", "dist", "main.js");
const WAYS = ["http", "stdio"] as const;
type Way = (typeof WAYS)[number];

let home: TempHome;
let provider: FakeProvider;
let gateway: GatewayProcess;
const open: Client[] = [];
let slow = deferred<void>();
/** The client has heard how an answer begins. A library forgets progress that comes together with the result. */
let heardFirst = deferred<void>();

/** What the model does, by the words that it was told last. */
function play(words: string, result: string | null): FakeReply {
  if (words.includes("break")) return { kind: "status", status: 400, message: "the model is broken" };
  if (words.includes("slowly")) return says("so ", slow.promise, "far");
  if (words.includes("morning")) return says("hello ", heardFirst.promise, "there");
  if (result !== null) return says(`got ${result}`);
  if (words.includes("water")) return { kind: "tools", calls: [{ name: "add_task", input: { title: "water" } }] };
  if (words.includes("drink")) return { kind: "tools", calls: [{ name: "ask_choice", input: {} }] };
  return says("hello ", "there");
}

beforeAll(async () => {
  home = await tempHome();
  const extension = join(home.path, "asking.ts");
  await writeFile(extension, ASKING_EXTENSION);
  provider = await startFakeProvider((request) => {
    const last = request.messages.at(-1);
    return play(asked(request), last?.role === "tool" ? textOf(last.content) : null);
  });
  await putConformancePlugin(home.path);
  const { agent, models } = endpoint(provider);
  gateway = await startGatewayProcess({
    home: home.path,
    config: {
      models,
      agent,
      agents: [{ id: "asker", extensions: [extension], tools: ["ask_choice", "add_task"] }],
      plugins: { enabled: [CONFORMANCE_PLUGIN] },
      tools: { approvals: { ask: ["add_task"], never: ["ask_choice"] } },
    },
  });
});
afterEach(async () => {
  slow.resolve();
  slow = deferred();
  heardFirst = deferred();
  await Promise.all(open.splice(0).map((client) => client.close()));
});
afterAll(async () => {
  await gateway?.[Symbol.asyncDispose]();
  await provider?.[Symbol.asyncDispose]();
  await home?.[Symbol.asyncDispose]();
});

async function connect(way: Way, revision: McpRevision, options: ClientOptions = {}): Promise<Client> {
  const client =
    way === "http"
      ? await mcpClient({ url: gateway.url, token: gateway.token, revision }, options)
      : await mcpClientOn(stdio(), revision, options);
  open.push(client);
  return client;
}

function stdio(): StdioClientTransport {
  const args = ["--no-env-file", MAIN, "mcp", "serve", "--home", home.path];
  return new StdioClientTransport({ command: process.execPath, args, stderr: "pipe" });
}

const said = (result: unknown): string =>
  (result as { content: readonly { text?: string }[] }).content.map(({ text = "" }) => text).join("");

const combinations = WAYS.flatMap((way) => MCP_REVISIONS.map((revision) => [way, revision] as const));

describe.each(combinations)("an MCP client over %s that speaks %s", (way, revision) => {
  test("talks to an agent, hears it speak, and is remembered", async () => {
    const client = await connect(way, revision);
    const session = `talk-${way}-${revision}`;
    const heard: string[] = [];
    const onprogress = ({ message = "" }): void => {
      heard.push(message);
      heardFirst.resolve();
    };
    const result = await client.callTool(
      { name: "ask_agent", arguments: { message: "Good morning", session } },
      { onprogress },
    );
    expect(result.structuredContent).toMatchObject({ text: "hello there", session });
    expect(heard[0]).toStartWith("hello");
    await client.callTool({ name: "ask_agent", arguments: { message: "And again", session } });
    expect(JSON.stringify(provider.requests.at(-1)?.messages)).toContain("Good morning");
  });

  test("is asked for an approval by the turn that it began, and for what an extension wants to know", async () => {
    const client = await connect(way, revision, { capabilities: { elicitation: {} } });
    const forms: string[] = [];
    client.setRequestHandler("elicitation/create", ({ params }) => {
      forms.push(params.message);
      return {
        action: "accept",
        content: params.message.startsWith("May") ? { decision: "Allow once" } : { answer: "tea" },
      };
    });
    const ask = (message: string) => client.callTool({ name: "ask_agent", arguments: { message, agent: "asker" } });
    expect(said(await ask("Please water the plants"))).toContain('"created":true');
    expect(said(await ask("A drink, please"))).toBe('got "tea"');
    expect(forms).toEqual([expect.stringContaining("May add_task run?"), "Which one?"]);
  });

  test("stops the turn that it began by cancelling the call", async () => {
    const client = await connect(way, revision);
    const stop = new AbortController();
    const call = client.callTool(
      { name: "ask_agent", arguments: { message: "Speak slowly", session: "cancelled" } },
      { signal: stop.signal, onprogress: () => stop.abort() },
    );
    await expect(call).rejects.toThrow();
    const turns = async () =>
      (await (await gateway.fetch("/api/turns?limit=1")).json()) as { items: { turn: { outcome: string | null } }[] };
    await eventually("the stopped turn", turns, ({ items }) => items[0]?.turn.outcome === "aborted");
  });

  test("is told what is wrong: with a call, a model, a tool that is not there", async () => {
    const client = await connect(way, revision);
    const broken = await client.callTool({ name: "ask_agent", arguments: { message: "break", session: "broken" } });
    expect(broken).toMatchObject({ isError: true });
    expect(JSON.parse(said(broken))).toMatchObject({ status: "error", tool: "ask_agent" });
    await expect(client.callTool({ name: "no_such_tool" })).rejects.toMatchObject({ code: -32_602 });
    await expect(client.readResource({ uri: "pi-gateway://notes/none" })).rejects.toMatchObject({ code: -32_602 });
  });

  test("reads transcripts and notes, and gets the reply of a slash command as a prompt", async () => {
    const client = await connect(way, revision);
    await client.callTool({ name: "ask_agent", arguments: { message: "Good evening", session: "read" } });
    await client.callTool({ name: "save_note", arguments: { title: "Wi-Fi", content: `by ${way} ${revision}` } });
    const { resources } = await client.listResources();
    const uri = (name: RegExp) => resources.find((one) => name.test(one.name))?.uri ?? "";
    const [transcript] = (await client.readResource({ uri: uri(/:read$/) })).contents;
    expect(transcript).toMatchObject({ mimeType: "text/markdown", text: expect.stringContaining("hello there") });
    const [note] = (await client.readResource({ uri: uri(/^Wi-Fi$/) })).contents;
    expect(note).toMatchObject({ text: expect.stringContaining(`by ${way} ${revision}`) });
    const { prompts } = await client.listPrompts();
    expect(prompts.map(({ name }) => name)).toContain("status");
    const { messages } = await client.getPrompt({ name: "status" });
    expect(JSON.stringify(messages)).toContain("The gateway answers `/status`");
    const queue = { ref: { type: "ref/prompt", name: "queue" }, argument: { name: "arguments", value: "st" } } as const;
    expect((await client.complete(queue)).completion.values).toEqual(["steer"]);
  });
});

test("a client with a key calls tools and talks to an agent, in sessions of its own", async () => {
  const asking = { name: "editor", scopes: ["tools", "chat"] };
  const headers = { "content-type": "application/json" };
  const made = await gateway.fetch("/api/keys", { method: "POST", headers, body: JSON.stringify(asking) });
  const { secret } = (await made.json()) as { secret: string };
  const client = await mcpClient({ url: gateway.url, token: secret, revision: "2026-07-28" });
  open.push(client);
  expect(said(await client.callTool({ name: "list_tasks", arguments: {} }))).toBe('{"tasks":[]}');
  expect(said(await client.callTool({ name: "ask_agent", arguments: { message: "Hello" } }))).toBe("hello there");
  const sessions = (await client.listResources()).resources.filter(({ uri }) => uri.includes("//sessions/"));
  expect(sessions.map(({ name }) => name)).toEqual([expect.stringMatching(/^agent:default:api:dm:key-.*\.mcp$/)]);
});

describe("a client over stdio", () => {
  test.each(MCP_REVISIONS)("of %s goes on after a restart of the gateway", async (revision) => {
    const client = await connect("stdio", revision);
    expect((await client.listTools()).tools.length).toBeGreaterThan(5);
    await gateway.kill();
    await expect(client.callTool({ name: "list_tasks", arguments: {} })).rejects.toThrow("The gateway did not answer");
    gateway = await startGatewayProcess({ home: home.path });
    await eventually(
      "a gateway that answers",
      () => statusOf(gateway),
      ({ version }) => version !== "",
    );
    expect(said(await client.callTool({ name: "list_tasks", arguments: {} }))).toContain("tasks");
  });

  test("that finds no gateway is told so on stderr, and ends", async () => {
    await using empty = await tempHome();
    const child = Bun.spawn([process.execPath, "--no-env-file", MAIN, "mcp", "serve", "--home", empty.path], {
      stdio: ["ignore", "pipe", "pipe"],
    });
    expect(await new Response(child.stderr).text()).toContain("No gateway is running");
    expect(await child.exited).not.toBe(0);
  });
});

describe("the conformance suite of MCP", () => {
  test.each(MCP_REVISIONS)("passes for %s, but for what docs/compatibility.md names", async (revision) => {
    await using proxy = startTokenProxy(gateway);
    const scenarios = await runConformance("server", revision, ["--url", `${proxy.url}/mcp`]);
    expect(scenarios.length).toBeGreaterThan(25);
    const failed = scenarios.filter((one) => !hasPassed(one));
    expect(failed.map(({ name }) => name)).toEqual(Object.keys(LEFT_OUT[revision] ?? {}));
  });
});
