/** The first setup in a real browser: the card of four checks, each step tried for real with a sentence for each failure, and a commented file in the end. One gateway for all of it. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { type FakeBotApi, startFakeBotApi } from "../src/testing/telegram/fake-bot-api.ts";
import { type TempHome, tempHome } from "../src/testing/temp-home.ts";
import { type GatewayProcess, startGatewayProcess } from "../src/testing/whole/gateway-process.ts";
import { accessibilityProblems } from "./console-axe.ts";
import { openBrowser, type Visit, visit } from "./console-stage.ts";
import { eventually } from "./whole-fixture.ts";

setDefaultTimeout(120_000);

const KEY = "sk-key-of-a-test-0123456789";
const BOT = "123456:token-of-a-bot-of-a-test-abcdefghijk";

let browser: Browser;
let home: TempHome;
let gateway: GatewayProcess;
let telegram: FakeBotApi;
let file: string;
/** Lists a model for one key, at one path. */
let server: ReturnType<typeof Bun.serve>;

beforeAll(async () => {
  home = await tempHome();
  file = join(home.path, "pi-gateway.jsonc");
  telegram = await startFakeBotApi();
  server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch(request) {
      if (new URL(request.url).pathname !== "/v1/models") return new Response("", { status: 404 });
      const isRight = request.headers.get("authorization") === `Bearer ${KEY}`;
      return isRight ? Response.json({ data: [{ id: "house-model" }] }) : new Response("", { status: 401 });
    },
  });
  const config = { agent: { pool: { min: 0, max: 1 } }, channels: { telegram: { apiRoot: telegram.apiRoot } } };
  [browser, gateway] = await Promise.all([openBrowser(), startGatewayProcess({ home: home.path, config })]);
  await writeFile(file, JSON.stringify(JSON.parse(await readFile(file, "utf8")), null, 2));
});
afterAll(async () => {
  await browser?.close();
  await gateway?.[Symbol.asyncDispose]();
  await telegram?.[Symbol.asyncDispose]();
  await home?.[Symbol.asyncDispose]();
  await server?.stop(true);
});

const settled = async (on: Visit) => {
  expect(await accessibilityProblems(on.page)).toEqual([]);
  expect([on.problems, on.foreign, (await on.seen()).violations]).toEqual([[], [], []]);
};
const isDone = ({ page }: Visit, step: string) => page.locator(`[data-testid=step-${step}][data-done=true]`).waitFor();

/** Prompts of an empty conversation that are wholly above the composer, without scrolling. */
const PROMPTS_IN_SIGHT = `(() => {
  const { top } = document.querySelector("[data-testid=composer]").getBoundingClientRect();
  const { top: begin } = document.querySelector(".chat").getBoundingClientRect();
  const prompts = [...document.querySelectorAll(".examples button")].map((one) => one.getBoundingClientRect());
  return prompts.filter((one) => one.top >= begin && one.bottom <= top).length;
})()`;

test("setup: the card leaves room for the first prompts in a window of 1280 by 800 and on a phone", async () => {
  for (const viewport of [
    { width: 1_280, height: 800 },
    { width: 375, height: 720 },
  ]) {
    await using on = await visit(browser, gateway, { viewport });
    const { page } = on;
    await page.getByTestId("setup-card").getByText("0 of 4 done").waitFor();
    await page.getByRole("button", { name: /tell me a long story/ }).waitFor();
    expect(await page.evaluate<number>(PROMPTS_IN_SIGHT)).toBe(3);
    const next = page.locator("[data-testid=setup-check][data-next=true]");
    expect(await next.innerText()).toContain("The demo model answers by rules.");
    expect(
      await page
        .getByTestId("setup-card")
        .getByRole("link", { name: /^Set up: / })
        .count(),
    ).toBe(4);
  }
});

test("setup: each step is tried, says what went wrong, is saved with comments, and the card tells how far it is", async () => {
  await using on = await visit(browser, gateway);
  const { page } = on;
  const card = page.getByTestId("setup-card");
  await card.getByText("0 of 4 done").waitFor();
  await page.getByRole("button", { name: /tell me a long story/ }).waitFor();
  await settled(on);

  await card.getByRole("link", { name: "Set up: Model" }).press("Enter");
  const model = page.getByTestId("step-model");
  const said = model.getByTestId("setup-said");
  const save = model.getByRole("button", { name: "Save" });
  await model.getByLabel("A model server of your own").check();
  const address = model.getByLabel("Its address");
  const key = model.getByLabel("Its key, if it wants one");
  const before = await readFile(file, "utf8");
  const refusals = [
    ["http://127.0.0.1:1/v1", "wrong", "cannot be reached"],
    ["localhost:11434", "wrong", "no address of a server"],
    [`http://127.0.0.1:${server.port}`, KEY, "most addresses end with /v1"],
    [`http://127.0.0.1:${server.port}/v1`, "wrong", "refuses this key (401)"],
  ] as const;
  for (const [url, typed, because] of refusals) {
    await address.fill(url);
    await key.fill(typed);
    await save.click();
    await said.getByText(because).waitFor();
  }
  expect(await readFile(file, "utf8")).toBe(before);
  await settled(on);
  await key.fill(KEY);
  await model.getByRole("button", { name: "Test" }).click();
  await said.getByText("lists 1 models").waitFor();
  expect(await readFile(file, "utf8")).toBe(before);
  await save.click();
  await said.getByText("Saved; it is in force.").waitFor();
  expect(await key.inputValue()).toBe("");
  await isDone(on, "model");
  await page.getByText("local/house-model", { exact: true }).waitFor();

  const channel = page.getByTestId("step-channel");
  await channel.getByLabel("The bot's token").fill(BOT);
  telegram.misbehave("getMe", { kind: "refused", code: 401, description: "Unauthorized" });
  await channel.getByRole("button", { name: "Save" }).click();
  await channel.getByText("does not know this bot token").waitFor();
  await channel.getByRole("button", { name: "Save" }).click();
  await channel.getByText("Saved; it is in force.").waitFor();
  await isDone(on, "channel");

  const owner = page.getByTestId("step-owner");
  await owner.getByLabel("Or your id").fill("somebody");
  await owner.getByRole("button", { name: "Make owner" }).click();
  await owner.getByRole("alert").waitFor();
  await owner.getByLabel("Or your id").fill("telegram:user:5");
  await owner.getByRole("button", { name: "Make owner" }).click();
  await owner.getByText("Saved; it is in force.").waitFor();
  await page.getByRole("button", { name: "Make a backup every day" }).click();
  await isDone(on, "backup");

  const text = await readFile(file, "utf8");
  expect(text).toMatch(/\/\/ Your own model server.*\n {2}"models"/);
  expect(text).toMatch(/\/\/ Owners may do everything.*\n {2}"roles"/);
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  const shown = await page.content();
  expect([shown.includes(KEY), shown.includes(BOT), gateway.stdout().includes(KEY)]).toEqual([false, false, false]);
  await settled(on);
});

test("setup: a person who wrote to the bot becomes owner with the code it gave them", async () => {
  const { items } = (await (await gateway.fetch("/api/setup")).json()) as { items: readonly { done: boolean }[] };
  expect(items.map(({ done }) => done)).toEqual([true, true, false, true]);
  await using on = await visit(browser, gateway, { path: "/#/system/setup/owner" });
  const ada = { id: 77, is_bot: false, first_name: "Ada", language_code: "en" };
  const chat = { id: 77, type: "private", first_name: "Ada" };
  telegram.push(BOT, { message: { message_id: 1, date: 1_700_000_000, from: ada, chat, text: "hello" } });
  const person = on.page.getByTestId("step-owner").getByTestId("person");
  await person.getByText("telegram:user:77").waitFor();
  const codes = () =>
    telegram.calls.flatMap(({ method, fields }) =>
      method === "sendMessage" ? (/[A-Z0-9]{4}-?[A-Z0-9]{4}/.exec(String(fields["text"])) ?? []) : [],
    );
  const [code = ""] = await eventually(
    "the bot has answered with a code",
    async () => codes(),
    (all) => all.length > 0,
  );
  await person.getByLabel("Their code").fill(code);
  await person.getByRole("button", { name: "Give access as owner" }).click();
  await person.getByText("Has access as owner").first().waitFor();
});

test("setup: the card stays away once it is put away, and a real model is offered prompts of its own in the composer", async () => {
  await using on = await visit(browser, gateway);
  const { page } = on;
  const card = page.getByTestId("setup-card");
  await card.getByText("3 of 4 done").waitFor();
  await page.getByRole("button", { name: /What can you do for me here/ }).click();
  await eventually(
    "the words are in the composer",
    () => on.composer.inputValue(),
    (text) => text.includes("your tools"),
  );
  expect(on.asked.filter((method) => method === "chat.send")).toEqual([]);
  expect(await page.getByRole("button", { name: /tell me a long story/ }).count()).toBe(0);
  await card.getByRole("button", { name: "Put the setup away" }).press("Enter");
  await card.waitFor({ state: "detached" });
  await on.reload();
  await page.getByRole("button", { name: /What can you do for me here/ }).waitFor();
  expect(await card.count()).toBe(0);
});
