/** `pi-gw mcp`: what it writes into the configuration file, and what it says about servers. */
import { describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { checkConfigText } from "../../config/index.ts";
import { EXIT_CONFIG } from "../exit-code.ts";
import { cliFixture, fakeGateway } from "../../testing/cli-fixture.ts";
import { presetSettings } from "./preset-settings.ts";
import { MCP_PRESETS } from "./presets.ts";

const fileOf = (home: string) => join(home, "pi-gateway.jsonc");
const textOf = (home: string) => readFileSync(fileOf(home), "utf8");

describe("pi-gw mcp add", () => {
  test("writes a program with its variables, hosts and folders, and keeps comments and a backup of the file", async () => {
    await using fx = await cliFixture();
    writeFileSync(fileOf(fx.home), '{\n  // mine\n  "gateway": { "port": 0 },\n}\n');
    const flags = ["--env", "KEY=a=b", "--allow-host", "example.org", "--folder", "/data", "/out:write"];
    expect(await fx.run("mcp", "add", "files", ...flags, "--", "node", "server.js", "--all")).toBe(0);
    const { config } = checkConfigText(textOf(fx.home), () => undefined);
    expect(config?.mcp.servers["files"]).toMatchObject({
      command: "node",
      args: ["server.js", "--all"],
      network: { allow: ["example.org"] },
      folders: [
        { path: "/data", access: "read" },
        { path: "/out", access: "write" },
      ],
    });
    expect(config?.mcp.servers["files"]?.env["KEY"]?.reveal()).toBe("a=b");
    expect([textOf(fx.home).includes("// mine"), existsSync(`${fileOf(fx.home)}.bak-1`)]).toEqual([true, true]);
  });

  test("writes the whole path of a program or script in this folder, because the gateway runs in another; other words stay", async () => {
    await using fx = await cliFixture();
    for (const name of ["serve", "server.js"]) writeFileSync(join(fx.home, name), "");
    expect(await fx.run("mcp", "add", "a", "--", "./serve", "serve", "other/x", "stdio")).toBe(0);
    expect(await fx.run("mcp", "add", "b", "--", "node", "server.js", "/no/such.js")).toBe(0);
    const { config } = checkConfigText(textOf(fx.home), () => undefined);
    expect(config?.mcp.servers).toMatchObject({
      a: { command: join(fx.home, "serve"), args: ["serve", "other/x", "stdio"] },
      b: { command: "node", args: [join(fx.home, "server.js"), "/no/such.js"] },
    });
  });

  test("takes a preset by the name of the server alone", async () => {
    await using fx = await cliFixture();
    expect(await fx.run("mcp", "add", "browser")).toBe(0);
    const { config } = checkConfigText(textOf(fx.home), () => undefined);
    expect(config?.mcp.servers["browser"]?.args.join(" ")).toContain("@playwright/mcp");
  });

  test("makes a file where there is none, and writes an address with headers", async () => {
    await using fx = await cliFixture();
    expect(await fx.run("mcp", "add", "shop", "--url", "https://shop.example/mcp", "--header", "X-Key=1")).toBe(0);
    expect(JSON.parse(textOf(fx.home))).toEqual({
      mcp: { servers: { shop: { url: "https://shop.example/mcp", headers: { "X-Key": "1" } } } },
    });
  });

  test.each([
    [["add", "Shop", "--url", "https://shop.example"], "Shop"],
    [["add", "shop"], "Say either --url ADDRESS"],
    [["add", "shop", "--url", "https://a.example", "--", "node"], "Say either --url ADDRESS"],
    [["add", "shop", "--preset", "nothing"], "There is no preset nothing"],
    [["add", "gh", "--preset", "github"], "--set GITHUB_TOKEN=…"],
    [["remove", "shop"], "There is no MCP server called shop"],
  ])("that cannot be done writes nothing and says why: %j", async (args, words) => {
    await using fx = await cliFixture();
    expect(await fx.run("mcp", ...args)).not.toBe(0);
    expect([fx.err().includes(words), existsSync(fileOf(fx.home))]).toEqual([true, false]);
  });

  test("leaves a file with problems of its own alone, and a server that is there already", async () => {
    await using fx = await cliFixture();
    const broken = '{ "gateway": { "port": "no" } }';
    writeFileSync(fileOf(fx.home), broken);
    expect(await fx.run("mcp", "add", "shop", "--url", "https://shop.example")).toBe(EXIT_CONFIG);
    expect(textOf(fx.home)).toBe(broken);
    writeFileSync(fileOf(fx.home), '{ "mcp": { "servers": { "shop": { "command": "x" } } } }');
    expect(await fx.run("mcp", "add", "shop", "--url", "https://shop.example")).toBe(1);
    expect(fx.err()).toContain("already");
  });

  test("tells a running gateway to read the file, says what keeps it from that, and is silent where none runs", async () => {
    await using fx = await cliFixture();
    const asked: string[] = [];
    let problems: readonly string[] = [];
    const gateway = await fakeGateway(fx.home, async (request, { pathname }) => {
      asked.push(`${request.method} ${pathname}`);
      return Response.json({ changed: [], needsRestart: [], problems });
    });
    const address = ["--url", "https://shop.example"];
    expect(await fx.run("mcp", "add", "shop", ...address)).toBe(0);
    expect([asked, fx.err()]).toEqual([["POST /api/config/reload"], ""]);
    problems = ["Line 3 is wrong."];
    expect(await fx.run("mcp", "remove", "shop")).toBe(0);
    expect([asked.length, fx.err()]).toEqual([2, "Not in effect yet: Line 3 is wrong.\n"]);
    await gateway[Symbol.asyncDispose]();
    expect(await fx.run("mcp", "add", "shop", ...address)).toBe(0);
    expect([asked.length, fx.err()]).toEqual([2, "Not in effect yet: Line 3 is wrong.\n"]);
  });

  test("lists the presets without a name", async () => {
    await using fx = await cliFixture();
    await fx.run("mcp", "add");
    for (const name of Object.keys(MCP_PRESETS)) expect(fx.out()).toContain(name);
  });
});

describe("a preset", () => {
  test.each(Object.keys(MCP_PRESETS))("%s gives settings that are valid, and says what to create", (name) => {
    const preset = MCP_PRESETS[name];
    if (!preset) throw new Error("there is no such preset");
    const set = Object.fromEntries(preset.needs.map((need) => [need.name, "some-${text}"]));
    const made = presetSettings(preset, { set, hasVariable: () => false, userHome: "/home/me" });
    if (made.kind !== "settings") throw new Error("something is missing");
    const { problems } = checkConfigText(
      JSON.stringify({ mcp: { servers: { [name]: made.settings } } }),
      () => undefined,
    );
    expect([problems, preset.steps.length > 0]).toEqual([[], true]);
  });

  test("refers to a variable that is there, so that no secret is written down, and expands the home folder", () => {
    const { github, "google-calendar": calendar } = MCP_PRESETS;
    if (!github || !calendar) throw new Error("a preset is gone");
    const given = { set: {}, hasVariable: (name: string) => name === "GITHUB_TOKEN", userHome: "/home/me" };
    expect(presetSettings(github, given)).toMatchObject({
      settings: { headers: { Authorization: "Bearer ${GITHUB_TOKEN}" } },
    });
    expect(JSON.stringify(presetSettings(calendar, given))).toContain(
      "/home/me/.config/google-calendar-mcp/tokens.json",
    );
    expect(presetSettings(github, { ...given, hasVariable: () => false })).toEqual({
      kind: "missing",
      names: ["GITHUB_TOKEN"],
    });
  });
});

test("pi-gw mcp remove takes the server out of the file, its login and tools with it, and names the folder of files that stay", async () => {
  await using fx = await cliFixture();
  writeFileSync(
    fileOf(fx.home),
    '{ "mcp": { "servers": { "shop": { "command": "x" }, "other": { "command": "y" } } } }',
  );
  mkdirSync(join(fx.home, "mcp", "shop"), { recursive: true });
  writeFileSync(join(fx.home, "mcp", "shop", "oauth.json"), "{}");
  expect(await fx.run("mcp", "remove", "shop")).toBe(0);
  expect(Object.keys(JSON.parse(textOf(fx.home)).mcp.servers)).toEqual(["other"]);
  expect(existsSync(join(fx.home, "mcp", "shop"))).toBe(false);
  expect(fx.out()).not.toContain("programs/");
  mkdirSync(join(fx.home, "programs", "mcp-other"), { recursive: true });
  expect(await fx.run("mcp", "remove", "other")).toBe(0);
  expect(fx.out()).toContain("stay in programs/mcp-other/");
});

const SHOP = {
  name: "shop",
  kind: "program",
  state: "waiting",
  server: "shop 1",
  protocol: "2026-07-28",
  trouble: "It exited with code 3.\u001b[2J",
  nextTryAt: null,
  notices: [],
  tools: [
    {
      name: "mcp_shop_buy",
      tool: "buy",
      description: "Buys.",
      digest: "a".repeat(64),
      review: "changed",
      readOnly: false,
    },
    {
      name: "mcp_shop_look",
      tool: "look",
      description: `Looks.\n${"word ".repeat(100)}`,
      digest: "b".repeat(64),
      review: "accepted",
      readOnly: true,
    },
  ],
};

describe("pi-gw mcp list and test", () => {
  test("say how servers are, which tools wait for a review, and are safe for a terminal", async () => {
    await using fx = await cliFixture();
    const asked: string[] = [];
    await using _gateway = await fakeGateway(fx.home, async (request, { pathname }) => {
      asked.push(`${request.method} ${pathname}`);
      return Response.json(request.method === "GET" ? { items: [SHOP] } : SHOP);
    });
    expect(await fx.run("mcp", "list")).toBe(0);
    expect(fx.out().split("\n")).toEqual([
      "SERVER  STATE    TOOLS            TROUBLE",
      "shop    waiting  2 (1 to review)  It exited with code 3.\\u001b[2J",
      "",
    ]);
    expect(await fx.run("mcp", "list", "shop")).toBe(0);
    expect(fx.out()).toContain(
      "  mcp_shop_buy (changed) aaaaaaaaaaaa\n      Buys.\n  mcp_shop_look (read-only) bbbbbbbbbbbb\n      Looks. word ",
    );
    expect(fx.out().trimEnd().endsWith("…")).toBe(true);
    expect(await fx.run("mcp", "list", "nobody")).toBe(1);
    expect(await fx.run("mcp", "test", "shop", "--accept")).toBe(0);
    expect(asked.slice(-2)).toEqual(["POST /api/mcp/shop/test", "POST /api/mcp/shop/accept"]);
  });

  test("try a server that is not in the settings, as mcp add would write it", async () => {
    await using fx = await cliFixture();
    const asked: unknown[] = [];
    await using _gateway = await fakeGateway(fx.home, async (request, { pathname }) => {
      asked.push([pathname, await request.json()]);
      return Response.json(SHOP);
    });
    expect(await fx.run("mcp", "test", "shop", "--env", "KEY=a=b", "--", "npx", "shop-mcp")).toBe(0);
    expect(await fx.run("mcp", "test", "shop", "--url", "https://shop.example", "--header", "A=b")).toBe(0);
    const path = ["mcp", "servers", "shop"];
    expect(asked).toEqual([
      ["/api/mcp/shop/try", { edits: [{ path, value: { command: "npx", args: ["shop-mcp"], env: { KEY: "a=b" } } }] }],
      ["/api/mcp/shop/try", { edits: [{ path, value: { url: "https://shop.example", headers: { A: "b" } } }] }],
    ]);
    expect(await fx.run("mcp", "test", "shop", "--accept", "--", "npx", "shop-mcp")).toBe(1);
    expect([asked.length, fx.err().includes("no --accept")]).toEqual([2, true]);
  });
});
