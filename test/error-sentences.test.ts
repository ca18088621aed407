/** Errors in the web console are sentences: of a gateway on which every error of the catalogue has happened, no view shows the code of one. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import type { Browser } from "playwright-core";
import { ADDRESSES, turnAddress } from "../console/state/route.ts";
import { type ErrorCode, ERRORS } from "../src/contracts/errors.ts";
import { type TempHome, tempHome } from "../src/testing/temp-home.ts";
import { type GatewayProcess, startGatewayProcess } from "../src/testing/whole/gateway-process.ts";
import { openBrowser, visit } from "./console-stage.ts";
import { SAID, seedViews } from "./views-seed.ts";
import { openView, VIEW_NAMES, type ViewName, WATCH } from "./views-watch.ts";
import { eventually } from "./whole-fixture.ts";

setDefaultTimeout(120_000);

/** Codes of one word, such as `forbidden`, are words that sentences may have. */
const CODES = Object.keys(ERRORS).filter((code) => code.includes("_")) as readonly ErrorCode[];
/** Settings and logs name things as files and programs do. */
const NOT_FOR_SENTENCES: readonly ViewName[] = ["settings", "logs"];
const QUIET_MS = 150;

let browser: Browser;
let home: TempHome;
let gateway: GatewayProcess;

beforeAll(async () => {
  home = await tempHome();
  const [like] = SAID;
  if (like === undefined) throw new Error("nothing was said");
  await seedViews(
    home.path,
    CODES.map((fails, index) => ({ ...like, text: `Question ${index}`, hoursAgo: index + 1, fails })),
  );
  const config = { agent: { pool: { min: 0, max: 1 } } };
  [browser, gateway] = await Promise.all([openBrowser(), startGatewayProcess({ home: home.path, config })]);
  const headers = { "content-type": "application/json" };
  for (const tool of ["add_task", "bash", "no_such_tool"])
    await gateway.fetch("/api/tools/call", {
      method: "POST",
      headers,
      body: JSON.stringify({ tool, params: { x: 1 } }),
    });
});
afterAll(async () => {
  await browser?.close();
  await gateway?.[Symbol.asyncDispose]();
  await home?.[Symbol.asyncDispose]();
});

const codesIn = (text: string) => CODES.filter((code) => new RegExp(`\\b${code}\\b`).test(text));

test("no view of the web console shows the code of an error where a sentence would serve", async () => {
  await using on = await visit(browser, gateway);
  await on.page.addInitScript({ content: WATCH });
  await on.reload();
  await on.page.locator("[data-testid=connection][data-state=open]").waitFor();
  const found: Record<string, readonly string[]> = {};
  for (const name of VIEW_NAMES.filter((one) => !NOT_FOR_SENTENCES.includes(one))) {
    await openView(on.page, name, QUIET_MS);
    const codes = codesIn(await on.page.locator("body").innerText());
    if (codes.length > 0) found[name] = codes;
  }
  expect(found).toEqual({});
});

test("activity has the sentence of every error, and the turn its code as well", async () => {
  await using on = await visit(browser, gateway, { path: `/${ADDRESSES.activity}` });
  await on.page.getByLabel("Kind").selectOption("turn");
  const rows = on.page.locator("[data-testid=activity][data-kind=turn]");
  await rows.first().waitFor();
  const more = on.page.getByRole("button", { name: "Show more" });
  const allRows = async () => {
    if (await more.isVisible()) await more.click();
    return rows.count();
  };
  await eventually("every turn", allRows, (count) => count === CODES.length);
  const texts = await rows.locator(".activity-note").allInnerTexts();
  expect(texts).toEqual(CODES.map((code) => ERRORS[code].say));
  expect(codesIn(texts.join("\n"))).toEqual([]);

  const at = CODES.indexOf("agent_unsafe_retry");
  await on.page.goto(`${gateway.url}/${turnAddress(`seed-${at + 1}`)}`);
  await on.page.getByText(ERRORS.agent_unsafe_retry.say).waitFor();
  await on.page.locator(".facts").getByText("agent_unsafe_retry").waitFor();
});
