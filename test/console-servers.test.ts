/** MCP servers in the web console: a real browser adds a real program, tries it before it is saved, and real pi calls its tool. One gateway for all of it. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Browser, Response } from "playwright-core";
import { type FakeProvider, says, startFakeProvider } from "../src/testing/fake-provider.ts";
import { type TempHome, tempHome } from "../src/testing/temp-home.ts";
import { type GatewayProcess, startGatewayProcess } from "../src/testing/whole/gateway-process.ts";
import { accessibilityProblems } from "./console-axe.ts";
import { openBrowser, type Visit, visit } from "./console-stage.ts";
import { asked, endpoint, eventually, textOf } from "./whole-fixture.ts";

setDefaultTimeout(120_000);

const SECRET = "s3cr3t-of-the-shop-4711";
/** Two tools; one of them says whether it got the variable. Without the variable it ends and says so. */
const SHOP_SERVER = `
  import { createInterface } from "node:readline";
  if (!process.env.SHOP_KEY) { console.error("SHOP_KEY is missing"); process.exit(3); }
  const inputSchema = { type: "object", properties: {} };
  const annotations = { readOnlyHint: true };
  const results = {
    initialize: () => ({ protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo: { name: "shop", version: "7" } }),
    "tools/list": () => ({ tools: [
      { name: "stock", description: "Says <b>how many</b> umbrellas there are.", inputSchema, annotations },
      { name: "burn", description: "Burns the shop.", inputSchema },
    ] }),
    "tools/call": () => ({ content: [{ type: "text", text: "42 umbrellas, key of " + process.env.SHOP_KEY.length }] }),
  };
  createInterface({ input: process.stdin }).on("line", (line) => {
    const { id, method, params } = JSON.parse(line);
    if (id === undefined) return;
    const result = results[method]?.(params);
    const answer = result ? { result } : { error: { code: -32601, message: "unknown method" } };
    console.log(JSON.stringify({ jsonrpc: "2.0", id, ...answer }));
  });`;

let browser: Browser;
let provider: FakeProvider;
let home: TempHome;
let folder: TempHome;
let gateway: GatewayProcess;
let file: string;
let script: string;

/** "call NAME" makes the model call that tool; then it says what it got. */
function startModel(): Promise<FakeProvider> {
  return startFakeProvider((request) => {
    const last = request.messages.at(-1);
    if (last?.role === "tool") return says(`got ${textOf(last.content)}`);
    const [, name] = /^call (\S+)$/.exec(asked(request)) ?? [];
    return name === undefined ? says("hello") : { kind: "tools", calls: [{ name, input: {} }] };
  });
}

beforeAll(async () => {
  [home, folder, provider] = await Promise.all([tempHome(), tempHome(), startModel()]);
  file = join(home.path, "pi-gateway.jsonc");
  script = join(folder.path, "shop.mjs");
  await writeFile(script, SHOP_SERVER);
  [browser, gateway] = await Promise.all([
    openBrowser(),
    startGatewayProcess({ home: home.path, config: endpoint(provider) }),
  ]);
  await writeFile(file, `// written by hand\n${await readFile(file, "utf8")}`);
});
afterAll(async () => {
  await browser?.close();
  for (const one of [gateway, provider, home, folder]) await one?.[Symbol.asyncDispose]();
});

const open = () => visit(browser, gateway, { path: "/#/system/extensions" });
const settled = async (on: Visit) => {
  expect(await accessibilityProblems(on.page)).toEqual([]);
  const problems = on.problems.filter((text) => !text.startsWith("Failed to load resource")); // a refusal is an answer
  expect([problems, on.foreign, (await on.seen()).violations]).toEqual([[], [], []]);
};
const form = ({ page }: Visit) => page.getByTestId("server-form");
const shop = ({ page }: Visit) => page.locator("[data-testid=mcp-server][data-server=shop]");
const said = (on: Visit, text: string) => form(on).getByRole("alert").filter({ hasText: text }).waitFor();
/** Presses the button of that name by the keyboard. */
const press = (on: Visit, name: string) => form(on).getByRole("button", { name, exact: true }).press("Enter");

async function fillShop(on: Visit) {
  await on.page.getByRole("button", { name: "Add an MCP server" }).press("Enter");
  expect(await on.page.evaluate("document.activeElement?.closest('label')?.innerText")).toBe("Name");
  await on.page.keyboard.type("shop");
  await form(on).getByLabel("Program", { exact: true }).fill("node");
  await form(on).getByLabel("Arguments, one a line").fill(script);
}

test("problems of a new server are told beside their fields, which take the focus", async () => {
  await using on = await open();
  const { page } = on;
  await page.getByRole("button", { name: "Add an MCP server" }).click();
  await form(on).getByLabel("Name", { exact: true }).fill("My Shop");
  await press(on, "Save server");
  await form(on).getByText("A name begins with a small letter").waitFor();
  await form(on).getByText("Name the program that speaks MCP.").waitFor();
  await eventually(
    "the focus",
    () => page.evaluate("document.activeElement?.value"),
    (value) => value === "My Shop",
  );
  await settled(on);
  await form(on).getByLabel("Name", { exact: true }).fill("shop");
  await form(on).getByLabel("It is").selectOption("address");
  await form(on).getByLabel("Address", { exact: true }).fill("shop.example");
  await press(on, "Test");
  const about = await form(on).locator("[aria-invalid=true]").getAttribute("aria-describedby");
  expect(await page.locator(`[id="${about}"]`).innerText()).toContain("mcp.servers.shop.url");
  await settled(on);
  await press(on, "Cancel");
  await page.getByRole("button", { name: "Add an MCP server" }).waitFor();
  expect(await readFile(file, "utf8")).not.toContain("shop");
});

test("a program that is not there, or ends, is told in a sentence, and nothing is saved", async () => {
  await using on = await open();
  await fillShop(on);
  await form(on).getByLabel("Program", { exact: true }).fill("no-such-program-at-all");
  await press(on, "Test");
  await said(on, "no such program");
  await form(on).getByLabel("Program", { exact: true }).fill("node");
  await press(on, "Test");
  await said(on, "SHOP_KEY is missing");
  await settled(on);
  expect(await readFile(file, "utf8")).not.toContain("shop");
  expect(await (await gateway.fetch("/api/mcp")).json()).toEqual({ items: [] });
});

test("a server is tried, saved and used without a restart; its secret is never told again", async () => {
  await using on = await open();
  const { page } = on;
  const answers: Promise<string>[] = [];
  page.on("response", (response: Response) => void answers.push(response.text().catch(() => "")));
  await fillShop(on);
  await press(on, "Add variable");
  await form(on).getByRole("group", { name: "variable 1" }).getByLabel("Name").fill("SHOP_KEY");
  await form(on).getByRole("group", { name: "variable SHOP_KEY" }).getByLabel("Value").fill(SECRET);
  await form(on).getByLabel("Tools to leave out, one a line").fill("burn");
  await press(on, "Test");
  const tried = page.getByTestId("tried");
  await tried.getByText("shop 7 brings 1 tool, and 1 is left out.").waitFor();
  await tried.getByText("Says <b>how many</b> umbrellas there are.").waitFor();
  await settled(on);
  expect(await readFile(file, "utf8")).not.toContain(SECRET);
  expect((await gateway.chat("call mcp_shop_stock")).body.content).not.toContain("42 umbrellas");

  await press(on, "Save server");
  await form(on).waitFor({ state: "detached" });
  await shop(on).getByText("running, 2 tools, shop 7").waitFor();
  expect((await gateway.chat("call mcp_shop_stock")).body.content).toContain(`42 umbrellas, key of ${SECRET.length}`);
  const text = await readFile(file, "utf8");
  expect([text.startsWith("// written by hand"), text.includes(SECRET)]).toEqual([true, true]);

  await page.getByRole("button", { name: "Change shop" }).click();
  const variable = form(on).getByRole("group", { name: "variable SHOP_KEY" });
  expect(await variable.getByLabel("New value").inputValue()).toBe("");
  await settled(on);
  await press(on, "Test"); // the secret of the settings is used
  await tried.getByText("shop 7 brings 1 tool").waitFor();
  const paths = [
    "/api/config",
    "/api/config/file",
    "/api/config/settings",
    "/api/mcp",
    "/api/status",
    "/api/logs?limit=200",
  ];
  const told = await Promise.all(paths.map(async (path) => (await gateway.fetch(path)).text()));
  const shown = [
    await page.content(),
    ...(await page.evaluate<string[]>("[...document.querySelectorAll('input')].map((one) => one.value)")),
  ];
  expect([...told, ...shown, ...(await Promise.all(answers))].filter((one) => one.includes(SECRET))).toEqual([]);
});

test("a server is changed, switched off and on, and removed after a question", async () => {
  await using on = await open();
  const { page } = on;
  await page.getByRole("button", { name: "Change shop", disabled: false }).press("Enter"); // when the settings are read
  await form(on).getByLabel("Tools to leave out, one a line").fill("");
  await press(on, "Save changes");
  await form(on).waitFor({ state: "detached" });
  expect(await readFile(file, "utf8")).toContain(SECRET);
  await shop(on).getByText("Tools of shop").click();
  await shop(on).getByText("shop 7 brings 2 tools.").waitFor();
  await settled(on);
  await page.getByRole("button", { name: "Switch off shop", disabled: false }).press("Enter");
  await shop(on).getByText("off", { exact: true }).waitFor();
  expect((await gateway.chat("call mcp_shop_stock")).body.content).not.toContain("42 umbrellas");
  await page.getByRole("button", { name: "Switch on shop", disabled: false }).press("Enter");
  await shop(on).getByText("running, 2 tools, shop 7").waitFor();
  await page.getByRole("button", { name: "Remove shop…", disabled: false }).press("Enter");
  await shop(on).getByText("Take shop out of the settings?").waitFor();
  await settled(on);
  await shop(on).getByRole("button", { name: "Remove", exact: true }).press("Enter");
  await shop(on).waitFor({ state: "detached" });
  const text = await readFile(file, "utf8");
  expect([text.startsWith("// written by hand"), text.includes(SECRET)]).toEqual([true, false]);
});

test("settings of something else than the server cannot be tried, and a key without admin rights tries nothing", async () => {
  const post = (path: string, body: unknown, headers: Readonly<Record<string, string>> = {}) =>
    gateway.fetch(path, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify(body),
    });
  const own = { path: ["mcp", "servers", "shop"], value: { command: "node", args: [script] } };
  const outcome = async (...edits: readonly object[]) => {
    const response = await post("/api/mcp/shop/try", { edits });
    return [response.status, ((await response.json()) as { error: { message: string } }).error.message];
  };
  const onlyOwn = "Only settings below mcp.servers.shop can be tried here.";
  expect(await outcome(own, { path: ["agent", "sandbox"], value: "off" })).toEqual([400, onlyOwn]);
  expect(await outcome(own, { path: ["mcp", "servers"], value: {} })).toEqual([400, onlyOwn]);
  expect(await outcome({ path: ["mcp", "servers", "other"], value: own.value })).toEqual([400, onlyOwn]);
  expect((await outcome({ path: own.path }))[1]).toContain("There would be no MCP server called shop");
  expect((await outcome({ path: own.path, value: { command: 7 } }))[1]).toContain("mcp.servers.shop.command");
  const outside = [{ path: ["mcp", "servers", "../x"], value: own.value }];
  expect((await post(`/api/mcp/${encodeURIComponent("../x")}/try`, { edits: outside })).status).toBe(400);
  const made = await post("/api/keys", { name: "reader", scopes: ["read"] });
  const { secret } = (await made.json()) as { secret: string };
  const refused = await post("/api/mcp/shop/try", { edits: [own] }, { authorization: `Bearer ${secret}` });
  expect(refused.status).toBe(403);
});
