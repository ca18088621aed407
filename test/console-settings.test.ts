/** Settings in a real browser: a form from the schema, the text of the file, a look at every change before it is saved, and the way back. One gateway for all of it. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { type TempHome, tempHome } from "../src/testing/temp-home.ts";
import { type GatewayProcess, startGatewayProcess } from "../src/testing/whole/gateway-process.ts";
import { accessibilityProblems } from "./console-axe.ts";
import { openBrowser, type Visit, visit } from "./console-stage.ts";
import { eventually } from "./whole-fixture.ts";

setDefaultTimeout(120_000);

const HOOK_TOKEN = "tttt-9f3a7c1e5b2d8046-q7Zr";

let browser: Browser;
let home: TempHome;
let gateway: GatewayProcess;
let file: string;
/** Lists one model for one key. */
let provider: ReturnType<typeof Bun.serve>;

beforeAll(async () => {
  home = await tempHome();
  file = join(home.path, "pi-gateway.jsonc");
  provider = Bun.serve({
    port: 0,
    fetch: (request) =>
      request.headers.get("authorization") === "Bearer right-key"
        ? Response.json({ data: [{ id: "small" }] })
        : new Response("", { status: 401 }),
  });
  const small = { id: "small", cost: { input: 0.5, output: 1.5 } };
  const config = {
    agent: { pool: { min: 0, max: 1 } },
    budget: { monthlyUsd: 1 },
    hooks: { token: HOOK_TOKEN },
    models: { providers: { local: { baseUrl: `http://127.0.0.1:${provider.port}/v1`, models: [small] } } },
  };
  [browser, gateway] = await Promise.all([openBrowser(), startGatewayProcess({ home: home.path, config })]);
  await writeFile(file, `// written by hand\n${await readFile(file, "utf8")}`);
});
afterAll(async () => {
  await browser?.close();
  await gateway?.[Symbol.asyncDispose]();
  await home?.[Symbol.asyncDispose]();
  await provider?.stop(true);
});

const open = () => visit(browser, gateway, { path: "/#/system/settings" });
const settled = async (on: Visit) => {
  expect(await accessibilityProblems(on.page)).toEqual([]);
  const problems = on.problems.filter((text) => !text.startsWith("Failed to load resource")); // a refusal is an answer
  expect([problems, on.foreign, (await on.seen()).violations]).toEqual([[], [], []]);
};
const setting = ({ page }: Visit, path: string) =>
  page.getByTestId("setting").filter({ has: page.getByText(path, { exact: true }) });
const find = ({ page }: Visit, words: string) => page.getByLabel("Find a setting").fill(words);
const inForce = async (path: string) => {
  const { rows } = (await (await gateway.fetch("/api/config/settings")).json()) as {
    rows: readonly { path: string; value: unknown; source: string }[];
  };
  return rows.find((row) => row.path === path);
};

test("settings are changed in fields that the schema makes, seen before they are saved, and in force at once", async () => {
  await using on = await open();
  const { page } = on;
  await setting(on, "budget.monthlyUsd").getByText("from the file, line").waitFor();
  expect(await setting(on, "logging.level").count()).toBe(0);
  await find(on, "logging.level");
  await page.getByRole("button", { name: "Change logging.level" }).press("Enter");
  await page.getByLabel("One of these").selectOption("debug");
  await page.getByRole("button", { name: "Take over" }).click();
  await find(on, "heartbeat.every");
  await page.getByRole("button", { name: "Change heartbeat.every" }).click();
  expect(await page.getByLabel("A length of time").inputValue()).toBe("30m");
  await page.getByLabel("A length of time").fill("soon");
  await page.getByRole("button", { name: "Take over" }).click();
  const review = page.getByTestId("review");
  await review
    .getByText(/heartbeat\.every/)
    .first()
    .waitFor();
  await review
    .getByTestId("problems")
    .getByText(/Line \d+, column \d+/)
    .waitFor();
  expect(await review.getByRole("button", { name: "Save" }).isDisabled()).toBe(true);
  await settled(on);
  await page.getByRole("button", { name: "Change heartbeat.every" }).click();
  await page.getByLabel("A length of time").fill("2h");
  await page.getByRole("button", { name: "Take over" }).click();
  await review.getByText("heartbeat.every: 30m → 2h").waitFor();
  await review.getByText("2 changes").waitFor();
  expect(await readFile(file, "utf8")).not.toContain("debug");
  await review.getByRole("button", { name: "Save" }).press("Enter");
  await review.waitFor({ state: "detached" });
  await page.getByTestId("saved-said").getByText("Saved, and in force.").waitFor();
  expect([await inForce("logging.level"), await inForce("heartbeat.every")]).toMatchObject([
    { value: "debug", source: "file" },
    { value: 7_200_000, source: "file" },
  ]);
  const text = await readFile(file, "utf8");
  expect([text.startsWith("// written by hand"), text.includes(HOOK_TOKEN)]).toEqual([true, true]);

  await page.getByRole("button", { name: "Use the default of heartbeat.every" }).click();
  await review.getByRole("button", { name: "Save" }).click();
  await review.waitFor({ state: "detached" });
  expect(await inForce("heartbeat.every")).toMatchObject({ value: 1_800_000, source: "default" });
});

test("a secret is written and never shown, and a port says that it needs a restart", async () => {
  await using on = await open();
  const { page } = on;
  const review = page.getByTestId("review");
  await find(on, "hooks.token");
  await setting(on, "hooks.token").getByText("set", { exact: true }).waitFor();
  await page.getByRole("button", { name: "Change hooks.token" }).click();
  await page.getByLabel("A new value").fill("nnnn-9f3a7c1e5b2d8046-q7Zr");
  await page.getByRole("button", { name: "Take over" }).click();
  await review.getByText("hooks.token: set → set").waitFor();
  await find(on, "gateway.port");
  await page.getByRole("button", { name: "Change gateway.port" }).click();
  await page.getByLabel("A whole number from 0 to 65535").fill("4567");
  await page.getByRole("button", { name: "Take over" }).click();
  await review.getByText("needs a restart").waitFor();
  await settled(on);
  const shown = await page.content();
  expect([shown.includes("nnnn-9f3a"), shown.includes(HOOK_TOKEN)]).toEqual([false, false]);
  await page.getByRole("button", { name: "Undo the change of gateway.port" }).click();
  await review.getByRole("button", { name: "Save" }).click();
  await review.waitFor({ state: "detached" });
  expect(await readFile(file, "utf8")).toContain("nnnn-9f3a7c1e5b2d8046-q7Zr");

  await page.getByRole("button", { name: "Change gateway.port" }).click();
  await page.getByLabel("A whole number from 0 to 65535").fill("4567");
  await page.getByRole("button", { name: "Take over" }).click();
  await review.getByRole("button", { name: "Save" }).click();
  await page.getByText("Saved. In force after a restart (pi-gw restart): gateway.port.").waitFor();
});

test("the file is edited as text: comments stay, secrets are hidden, problems have a place, and somebody else's change is not lost", async () => {
  await using on = await open();
  const { page } = on;
  await page.getByRole("button", { name: "File", exact: true }).press("Enter");
  const text = page.getByTestId("config-text");
  const review = page.getByTestId("review");
  const before = await text.inputValue();
  expect([before.includes("// written by hand"), before.includes('"(hidden)"'), before.includes("nnnn-9f3a")]).toEqual([
    true,
    true,
    false,
  ]);
  await text.fill(before.replace('"monthlyUsd": 1', '"monthlyUsd": "much"'));
  const place = review.getByRole("button", { name: /^Line \d+, column \d+$/ });
  await place.click();
  const selected =
    "document.activeElement.value.slice(document.activeElement.selectionStart, document.activeElement.selectionEnd)";
  expect(await page.evaluate<string>(selected)).toStartWith('"much"');
  await text.fill(before.replace('"monthlyUsd": 1', '"monthlyUsd": 2 // more'));
  await review.getByText("budget.monthlyUsd: 1 → 2").waitFor();
  await review.getByText("+ ").first().waitFor();
  await settled(on);
  const onDisk = await readFile(file, "utf8");
  await writeFile(file, `${onDisk}\n// by somebody else\n`);
  await review.getByRole("button", { name: "Save" }).click();
  await review
    .getByText("The file has changed since it was shown here")
    .or(text.getByText("by somebody else"))
    .first()
    .waitFor();
  expect(await readFile(file, "utf8")).toContain("// by somebody else");
  await eventually(
    "the newer text is shown",
    () => text.inputValue(),
    (now) => now.includes("by somebody else"),
  );
  await text.fill((await text.inputValue()).replace('"monthlyUsd": 1', '"monthlyUsd": 2 // more'));
  await review.getByRole("button", { name: "Save" }).click();
  await review.waitFor({ state: "detached" });
  const saved = await readFile(file, "utf8");
  expect([saved.includes("2 // more"), saved.includes("by somebody else"), saved.includes("nnnn-9f3a")]).toEqual([
    true,
    true,
    true,
  ]);
  expect(await inForce("budget.monthlyUsd")).toMatchObject({ value: 2 });
});

test("a broken file is not shown, and the last good settings are put back after a question", async () => {
  await using on = await open();
  const good = await readFile(file, "utf8");
  await writeFile(file, "{ broken");
  await gateway.fetch("/api/config/reload", { method: "POST" });
  await on.page.getByTestId("not-in-force").getByText("is not in force").waitFor();
  await on.page.getByRole("button", { name: "File", exact: true }).click();
  await on.page.getByTestId("no-text").waitFor();
  await on.page.getByRole("button", { name: "Go back to the last good settings…" }).press("Enter");
  await settled(on);
  await on.page.getByRole("button", { name: "Go back", exact: true }).press("Enter");
  await on.page.getByText("is in force.", { exact: false }).waitFor();
  await on.page.getByTestId("not-in-force").waitFor({ state: "detached" });
  expect(await readFile(file, "utf8")).toBe(good);
});

test("a model key is tried before it is kept, never shown, and models have their prices", async () => {
  await using on = await visit(browser, gateway, { path: "/#/system/models" });
  const { page } = on;
  await page.getByRole("form", { name: "Enter a key" }).getByRole("combobox").selectOption("local");
  await page.getByLabel("Key", { exact: true }).fill("wrong-key");
  await page.getByRole("button", { name: "Save key" }).press("Enter");
  await page.getByText("refuses this key (401)").waitFor();
  expect(await readFile(file, "utf8")).not.toContain("wrong-key");
  await page.getByLabel("Key", { exact: true }).fill("right-key");
  await page.getByRole("button", { name: "Test", exact: true }).click();
  await page.getByTestId("key-said").getByText("accepts it and lists 1 models").waitFor();
  await settled(on);
  await page.getByRole("button", { name: "Save key" }).click();
  const card = page.getByTestId("provider").filter({ hasText: "local" });
  await card.getByText("key in the settings").waitFor();
  expect([(await readFile(file, "utf8")).includes("right-key"), (await page.content()).includes("right-key")]).toEqual([
    true,
    false,
  ]);
  await card.getByRole("button", { name: "Test local" }).press("Enter");
  await card.getByText("accepts it").waitFor();
  const row = page.getByRole("region", { name: "Models" }).getByRole("row").filter({ hasText: "local/small" });
  await row.waitFor();
  expect(await row.locator("td").allInnerTexts()).toEqual(["$0.5", "$1.5", "off"]);
});
