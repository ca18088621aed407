/**
 * Every preset of `pi-gw mcp add`, walked through as a person does: added, signed in to, tried, and a tool of it called by a real pi. The
 * servers are stand-ins on this machine that ask for what the real ones ask for: variables and arguments, a token, a login.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { chmod, readFile, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { createMcpHandler, Server } from "@modelcontextprotocol/server";
import { MCP_PRESETS } from "../src/cli/mcp/presets.ts";
import { deferred } from "../src/kit/deferred.ts";
import { type FakeProvider, says, startFakeProvider } from "../src/testing/fake-provider.ts";
import { type TempHome, tempHome } from "../src/testing/temp-home.ts";
import { type GatewayProcess, startGatewayProcess } from "../src/testing/whole/gateway-process.ts";
import { asked, endpoint, eventually, textOf, WHOLE_TEST_MS } from "./whole-fixture.ts";

setDefaultTimeout(WHOLE_TEST_MS);

const MAIN = resolve(import.meta.dir, "..", "dist", "main.js");

/** Stands for npx: serves what the named package would, and tells what it was started with. */
const NPX = `#!/usr/bin/env node
  const { createInterface } = require("node:readline");
  const [, spec] = process.argv.slice(2);
  const TOOLS = {
    "slack-mcp-server": "channels_list",
    "@cocal/google-calendar-mcp": "list-calendars",
    "@gnidreve/classic-imap-smtp-mcp": "list_folders",
    "@playwright/mcp": "browser_navigate",
  };
  const tool = { name: TOOLS[spec.replace(/(?<!^)@.*/, "")], inputSchema: { type: "object" }, annotations: { readOnlyHint: true } };
  const own = ["PATH", "HOME", "TMPDIR", "LANG", "PWD"];
  const env = Object.entries(process.env).filter(([name]) => /SLACK|GOOGLE|USERNAME|PASSWORD|IMAP|SMTP/.test(name) && !own.includes(name));
  const text = JSON.stringify({ args: process.argv.slice(2), env: Object.fromEntries(env) });
  const results = {
    initialize: () => ({ protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo: { name: spec, version: "1" } }),
    "tools/list": () => ({ tools: [tool] }),
    "tools/call": () => ({ content: [{ type: "text", text }] }),
  };
  createInterface({ input: process.stdin }).on("line", (line) => {
    const { id, method } = JSON.parse(line);
    if (id === undefined) return;
    const result = results[method]?.();
    const answer = result ? { result } : { error: { code: -32601, message: "unknown method" } };
    console.log(JSON.stringify({ jsonrpc: "2.0", id, ...answer }));
  });`;

let provider: FakeProvider;
let home: TempHome;
let folder: TempHome;
let gateway: GatewayProcess;
let hosted: Hosted;

beforeAll(async () => {
  [home, folder] = [await tempHome(), await tempHome()];
  await writeFile(join(folder.path, "npx"), NPX);
  await chmod(join(folder.path, "npx"), 0o755);
  hosted = startHosted();
  provider = await startFakeProvider((request) => {
    const last = request.messages.at(-1);
    if (last?.role === "tool") return says(`got ${textOf(last.content)}`);
    return { kind: "tools", calls: [{ name: asked(request), input: {} }] };
  });
  gateway = await startGatewayProcess({
    home: home.path,
    env: { PATH: `${folder.path}:${process.env["PATH"] ?? ""}`, GITHUB_TOKEN: "github-pat-of-a-test" },
    config: endpoint(provider),
  });
});
afterAll(async () => {
  for (const one of [gateway, provider, hosted, home, folder]) await one?.[Symbol.asyncDispose]();
});

/** The gateway's own variables are there: a preset refers to those that it finds. */
function piGw(...args: readonly string[]) {
  return Bun.spawn([process.execPath, "--no-env-file", MAIN, ...args, "--home", home.path], {
    env: { PATH: process.env["PATH"] ?? "", HOME: home.path, GITHUB_TOKEN: "github-pat-of-a-test" },
    stdout: "pipe",
    stderr: "pipe",
  });
}

async function run(...args: readonly string[]): Promise<string> {
  const child = piGw(...args);
  const [stdout, stderr] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  return `${await child.exited}\n${stdout}${stderr}`;
}

async function changeFile(change: (text: string) => string): Promise<void> {
  const path = join(home.path, "pi-gateway.jsonc");
  await writeFile(path, change(await readFile(path, "utf8")));
  await gateway.fetch("/api/config/reload", { method: "POST" });
}

const called = async (tool: string): Promise<string> => (await gateway.chat(tool)).body.content ?? "";

interface Hosted extends AsyncDisposable {
  readonly url: string;
  /** The tool that it has, and the token that it takes now. */
  tool: string;
  valid: string;
  /** Answers the next calls with 429. */
  busy: boolean;
  readonly asked: string[];
}

/** A server at an address, with an authorization server in which clients register themselves. */
function startHosted(): Hosted {
  let challenge = "";
  const handler = createMcpHandler(
    () => {
      const server = new Server({ name: "hosted", version: "1" }, { capabilities: { tools: {} } });
      const annotations = { readOnlyHint: true };
      const inputSchema = { type: "object" as const };
      server.setRequestHandler("tools/list", async () => ({
        tools: [{ name: hosted.tool, inputSchema, annotations }],
        ttlMs: 0,
        cacheScope: "private" as const,
      }));
      server.setRequestHandler("tools/call", async () => ({ content: [{ type: "text" as const, text: "it is you" }] }));
      return server;
    },
    { legacy: "stateless" },
  );
  const pages: Readonly<Record<string, (request: Request, at: URL) => Response | Promise<Response>>> = {
    "/mcp": (request, { origin }) => {
      if (hosted.busy) return new Response("slow down", { status: 429, headers: { "retry-after": "7" } });
      if (hosted.valid !== "" && request.headers.get("authorization") === `Bearer ${hosted.valid}`)
        return handler.fetch(request);
      const where = `Bearer resource_metadata="${origin}/.well-known/oauth-protected-resource/mcp"`;
      return new Response("", { status: 401, headers: { "www-authenticate": where } });
    },
    "/.well-known/oauth-protected-resource/mcp": (_request, { origin }) =>
      Response.json({ resource: `${origin}/mcp`, authorization_servers: [origin] }),
    "/.well-known/oauth-authorization-server": (_request, { origin }) =>
      Response.json({
        issuer: origin,
        authorization_endpoint: `${origin}/authorize`,
        token_endpoint: `${origin}/token`,
        registration_endpoint: `${origin}/register`,
        response_types_supported: ["code"],
        grant_types_supported: ["authorization_code", "refresh_token"],
        code_challenge_methods_supported: ["S256"],
        token_endpoint_auth_methods_supported: ["none"],
      }),
    "/register": async (request) =>
      Response.json({ ...((await request.json()) as object), client_id: "registered-1" }, { status: 201 }),
    "/authorize": (_request, { searchParams }) => {
      challenge = searchParams.get("code_challenge") ?? "";
      const back = new URL(searchParams.get("redirect_uri") ?? "");
      back.searchParams.set("state", searchParams.get("state") ?? "");
      back.searchParams.set("code", "the-code");
      return Response.redirect(back.href, 302);
    },
    "/token": async (request) => {
      const form = new URLSearchParams(await request.text());
      const proof = new Bun.CryptoHasher("sha256").update(form.get("code_verifier") ?? "").digest("base64url");
      if (proof !== challenge) return Response.json({ error: "invalid_grant" }, { status: 400 });
      hosted.valid = "access-1";
      return Response.json({ access_token: "access-1", token_type: "Bearer", expires_in: 3_600 });
    },
  };
  const asked: string[] = [];
  const http = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch(request) {
      const at = new URL(request.url);
      asked.push(at.pathname);
      return pages[at.pathname]?.(request, at) ?? new Response("not here", { status: 404 });
    },
  });
  return {
    url: `http://127.0.0.1:${http.port}/mcp`,
    tool: "",
    valid: "",
    busy: false,
    asked,
    async [Symbol.asyncDispose]() {
      await handler.close();
      await http.stop(true);
    },
  };
}

const MAIL = ["MAIL_USER=ada@example.org", "MAIL_PASSWORD=pass-of-a-test", "IMAP_HOST=imap.example.org"];
const PROGRAMS: readonly [preset: string, tool: string, set: readonly string[], told: object][] = [
  ["slack", "channels_list", ["SLACK_TOKEN=xoxp-of-a-test"], { SLACK_MCP_XOXP_TOKEN: "[redacted]" }],
  ["google-calendar", "list-calendars", ["GOOGLE_FOLDER=FOLDER"], { GOOGLE_OAUTH_CREDENTIALS: "[redacted]" }],
  ["mail", "list_folders", [...MAIL, "SMTP_HOST=smtp.example.org"], { IMAP_HOST: "[redacted]", SMTP_PORT: "465" }],
  ["browser", "browser_navigate", [], {}],
];

test("every preset has a test here", () => {
  expect(Object.keys(MCP_PRESETS).sort()).toEqual([...PROGRAMS.map(([name]) => name), "github", "notion"].sort());
});

test.each(PROGRAMS)(
  "the preset %s starts its program with its values, and a real pi calls its tool",
  async (preset, tool, set, told) => {
    const here = (text: string): string =>
      text.replaceAll("FOLDER", (whole, at: number) => (text[at - 1] === "_" ? whole : folder.path));
    const values = set.flatMap((value) => ["--set", here(value)]);
    expect(await run("mcp", "add", preset, ...values)).toStartWith(`0\nAdded mcp.servers.${preset}`);
    expect(await run("mcp", "test", preset)).toContain(`mcp_${preset}_${tool} (read-only)`);
    const said = await called(`mcp_${preset}_${tool}`);
    const [json = "{}"] = /\{"args".*\}/.exec(said) ?? [];
    const { args, env } = JSON.parse(json) as { args: string[]; env: Record<string, string> };
    expect(args).toEqual((MCP_PRESETS[preset]?.settings["args"] as string[] | undefined) ?? []);
    expect(env).toMatchObject(told); // masked on the way to the model
  },
);

test("the preset github sends the token of a variable and writes it nowhere; a token that is refused and a server that is busy are reported as such", async () => {
  hosted.tool = "get_me";
  hosted.valid = "github-pat-of-a-test";
  await run("mcp", "add", "github");
  expect(await readFile(join(home.path, "pi-gateway.jsonc"), "utf8")).not.toContain(hosted.valid);
  await changeFile((text) => text.replace("https://api.githubcopilot.com/mcp/", hosted.url));
  expect(await run("mcp", "test", "github")).toContain("mcp_github_get_me (read-only)");
  expect(await called("mcp_github_get_me")).toContain("it is you");
  hosted.busy = true;
  expect(await called("mcp_github_get_me")).toContain(
    "it answered with status 429, too many requests; try again later: slow down",
  );
  hosted.busy = false;
  hosted.valid = "another-token";
  expect(await run("mcp", "test", "github")).toContain("It refuses the token in mcp.servers.github.headers");
});

test("the preset notion registers a client, signs in by a browser, and then its tools are there", async () => {
  hosted.tool = "notion-search";
  hosted.valid = "";
  await run("mcp", "add", "notion");
  await changeFile((text) => text.replace("https://mcp.notion.com/mcp", hosted.url));
  expect(await run("mcp", "test", "notion")).toContain("pi-gw mcp login notion");
  const child = piGw("mcp", "login", "notion");
  const address = deferred<string>();
  let said = "";
  const reading = (async () => {
    for await (const chunk of child.stdout) {
      said += new TextDecoder().decode(chunk);
      const [found] = /http:\/\/127\S+authorize\S+/.exec(said) ?? [];
      if (found !== undefined) address.resolve(found);
    }
  })();
  const back = (await fetch(await address.promise, { redirect: "manual" })).headers.get("location") ?? "";
  await fetch(back);
  expect([await child.exited, hosted.asked.filter((path) => path === "/register")]).toEqual([0, ["/register"]]);
  await reading;
  await eventually(
    "the tools of the server",
    () => run("mcp", "test", "notion"),
    (text) => text.includes("mcp_notion_notion-search (read-only)"),
  );
  expect(await called("mcp_notion_notion-search")).toContain("it is you");
});
