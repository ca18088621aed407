/** Keys of programs in the web console: a real browser and a real gateway. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import type { Browser } from "playwright-core";
import type { ApiKey } from "../src/contracts/api-keys.ts";
import { type GatewayProcess, startGatewayProcess } from "../src/testing/whole/gateway-process.ts";
import { accessibilityProblems } from "./console-axe.ts";
import { openBrowser, type Visit, visit } from "./console-stage.ts";

setDefaultTimeout(120_000);

let browser: Browser;
let gateway: GatewayProcess;

beforeAll(async () => {
  [browser, gateway] = await Promise.all([openBrowser(), startGatewayProcess()]);
});
afterAll(async () => {
  await browser?.close();
  await gateway?.[Symbol.asyncDispose]();
});

const keyOf = ({ page }: Visit, name: string) => page.getByTestId("key").filter({ hasText: name });
const statusOf = async (secret: string, path: string) =>
  (await fetch(`${gateway.url}${path}`, { headers: { authorization: `Bearer ${secret}` } })).status;

test("a key is made, shown once, copied, used and revoked after a question", async () => {
  await using on = await visit(browser, gateway);
  await on.context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await on.page.getByRole("link", { name: "System" }).press("Enter");
  await on.page.getByRole("link", { name: "Keys" }).press("Enter");
  await on.page.getByRole("heading", { level: 1, name: "Keys", exact: true }).waitFor();
  const make = on.page.getByRole("button", { name: "Make key" });
  await on.page.getByText("There are no keys yet.").waitFor();
  expect(await make.isDisabled()).toBe(true);
  await on.page.getByLabel("Program").fill("Kitchen display");
  await on.page.getByLabel("Chat: speak").uncheck();
  expect(await make.isDisabled()).toBe(true); // a key without a scope is none
  await on.page.getByLabel("Read: every session").check();
  await make.click();

  const secret = await on.page.getByTestId("secret").innerText();
  expect(secret).toMatch(/^pgw_[\w-]{43}$/);
  await on.page.getByRole("button", { name: "Copy the key" }).click();
  await on.page.getByText("Copied").waitFor();
  expect(await on.page.evaluate("navigator.clipboard.readText()")).toBe(secret);
  await on.page.getByRole("button", { name: "Done" }).click();
  expect((await on.page.content()).includes(secret)).toBe(false);
  expect(await keyOf(on, "Kitchen display").innerText()).toMatch(/read · all agents\s+never used · expires in 90 d/);

  expect([await statusOf(secret, "/api/status"), await statusOf(secret, "/api/config")]).toEqual([200, 403]);
  await on.reload();
  await keyOf(on, "Kitchen display").getByText("used just now").waitFor();
  expect((await on.page.content()).includes(secret)).toBe(false);

  await on.page.getByRole("button", { name: "Revoke the key of Kitchen display…" }).click();
  await on.page.getByRole("button", { name: "Keep" }).click();
  await on.page.getByRole("button", { name: "Revoke the key of Kitchen display…" }).click();
  await on.page.getByRole("button", { name: "Revoke", exact: true }).press("Enter");
  await keyOf(on, "Kitchen display").waitFor({ state: "detached" });
  expect(await statusOf(secret, "/api/status")).toBe(401);
  expect([on.problems, (await on.seen()).violations]).toEqual([[], []]);
});

test("a key that is made elsewhere appears by itself; a refusal is said where it was asked", async () => {
  await using on = await visit(browser, gateway, { path: "/#/keys" });
  await on.page.getByText("There are no keys yet.").waitFor();
  await gateway.fetch("/api/keys", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ name: "From a script", scopes: ["tools"], tools: ["notes_*"], dailyUsd: 0.5 }),
  });
  await keyOf(on, "From a script").getByText("tools · all agents · tools notes_* · $0.50 a day").waitFor();
  await on.page.getByLabel("Program").fill("Wrong");
  await on.page.getByLabel("Agents").fill("Not an id!");
  await on.page.getByRole("button", { name: "Make key" }).click();
  await on.page.getByRole("alert").filter({ hasText: "agents" }).waitFor();
});

test("a key is made with limits for tools, money, tokens and requests; numbers that cannot be are refused with the reason", async () => {
  await using on = await visit(browser, gateway, { path: "/#/keys" });
  await on.page.getByLabel("Program").fill("Narrow");
  await on.page.getByLabel("Tools", { exact: true }).fill("notes_*, web_search");
  await on.page.getByLabel("US dollars a day").fill("1.25");
  await on.page.getByLabel("Tokens a day").fill("20000");
  await on.page.getByLabel("Requests a minute").fill("30");
  await on.page.getByRole("button", { name: "Make key" }).click();
  await on.page.getByTestId("secret").waitFor();
  await keyOf(on, "Narrow")
    .getByText(
      "chat · all agents · tools notes_*, web_search · $1.25 a day · 20,000 tokens a day · 30 requests a minute",
    )
    .waitFor();
  const { items } = (await (await gateway.fetch("/api/keys")).json()) as { items: readonly ApiKey[] };
  expect(items.find(({ name }) => name === "Narrow")).toMatchObject({
    tools: ["notes_*", "web_search"],
    dailyUsd: 1.25,
    dailyTokens: 20_000,
    requestsPerMinute: 30,
  });
  expect(await on.page.getByLabel("Tokens a day").inputValue()).toBe(""); // the next key begins without them
  await on.page.getByLabel("Program").fill("Wrong number");
  await on.page.getByLabel("Requests a minute").fill("99999999");
  await on.page.getByRole("button", { name: "Make key" }).click();
  await on.page.getByRole("alert").filter({ hasText: "requestsPerMinute" }).waitFor();
});

test("the view has no accessibility violations, light, dark and on a phone, and fits there", async () => {
  await using on = await visit(browser, gateway, { path: "/#/keys" });
  await on.page.getByLabel("Program").fill("A program with a rather long name that has to be wrapped somewhere");
  await on.page.getByLabel("Agents").fill("default, helper");
  await on.page.getByRole("button", { name: "Make key" }).click();
  await on.page.getByTestId("secret").waitFor();
  await on.page.getByRole("button", { name: /^Revoke the key of From/ }).click();
  expect(await accessibilityProblems(on.page)).toEqual([]);
  await on.page.setViewportSize({ width: 375, height: 720 });
  const wide = await on.page.getByTestId("keys-view").evaluate((view) => view.scrollWidth - view.clientWidth);
  expect(wide).toBe(0);
  expect(await accessibilityProblems(on.page)).toEqual([]);
});
