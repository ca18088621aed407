/** Renaming a conversation in the list, by a person with a mouse and one with a keyboard. Real browser, real gateway. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import type { Browser } from "playwright-core";
import { type GatewayProcess, startGatewayProcess } from "../src/testing/whole/gateway-process.ts";
import { openBrowser, visit } from "./console-stage.ts";
import { accessibilityProblems } from "./console-axe.ts";

setDefaultTimeout(120_000);

const DEMO = { agent: { pool: { min: 1, max: 1 } } };

let browser: Browser;
let gateway: GatewayProcess;

beforeAll(async () => {
  [browser, gateway] = await Promise.all([openBrowser(), startGatewayProcess({ config: DEMO })]);
});
afterAll(async () => {
  await browser.close();
  await gateway[Symbol.asyncDispose]();
});

test("a conversation gets a name in the list, keeps it over a reload, and can lose it again", async () => {
  await using on = await visit(browser, gateway);
  await on.ask("plans for Friday");
  const title = on.page.locator(".session-title");
  await title.getByText("plans for Friday").waitFor();
  await on.page.getByTestId("session").dblclick();
  const field = on.page.getByRole("textbox", { name: "Name of the conversation" });
  await field.fill("The big plan");
  await field.press("Enter");
  await title.getByText("The big plan").waitFor();
  await on.reload();
  await title.getByText("The big plan").waitFor();

  await on.page.getByRole("button", { name: "Manage The big plan" }).focus();
  await on.page.keyboard.press("Enter");
  await on.page.getByRole("dialog").getByRole("button", { name: "Rename" }).press("Enter");
  await field.fill("something else");
  await field.press("Escape");
  await title.getByText("The big plan").waitFor();

  await on.page.getByTestId("session").dblclick();
  await field.fill("");
  await field.press("Enter");
  await title.getByText("plans for Friday").waitFor();
  await on.page.getByTestId("session").dblclick();
  await field.waitFor();
  expect(await accessibilityProblems(on.page)).toEqual([]); // looks at it in every size, so it comes last
  expect(on.problems).toEqual([]);
});
