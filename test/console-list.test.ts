/** The list of conversations in a real browser: groups by date, filters, pin, archive, search in what was said, export and delete. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { readFile } from "node:fs/promises";
import type { Browser } from "playwright-core";
import { type GatewayProcess, startGatewayProcess } from "../src/testing/whole/gateway-process.ts";
import { accessibilityProblems } from "./console-axe.ts";
import { openBrowser, type Visit, visit } from "./console-stage.ts";
import { eventually } from "./whole-fixture.ts";

setDefaultTimeout(120_000);

let browser: Browser;
let gateway: GatewayProcess;

beforeAll(async () => {
  [browser, gateway] = await Promise.all([
    openBrowser(),
    startGatewayProcess({ config: { agent: { pool: { min: 0, max: 1 } } } }),
  ]);
  for (const [session, text] of SAID) await say(session, text);
});
afterAll(async () => {
  await browser?.close();
  await gateway?.[Symbol.asyncDispose]();
});

const PARROT = "Norwegian blue";
const SAID = [
  ["agent:default:webchat:dm:ferns", "echo: ferns like shade"],
  ["agent:default:webchat:dm:birds", "echo: a parrot sleeps"],
  ["shop", "echo: bread and butter"],
] as const;

async function say(session: string, text: string): Promise<void> {
  const body = JSON.stringify({ session, text });
  const headers = { "content-type": "application/json" };
  await gateway.fetch("/api/chat", { method: "POST", headers, body });
}

const group = ({ page }: Visit, name: string) => page.getByRole("region", { name, exact: true });
const titlesIn = (on: Visit, name: string) => group(on, name).locator(".session-title").allInnerTexts();
const titles = (on: Visit, name: string, expected: readonly string[]) =>
  eventually(
    `the titles under ${name}`,
    async () => (await titlesIn(on, name)).toSorted(),
    (seen) => JSON.stringify(seen) === JSON.stringify(expected.toSorted()),
  );
const manage = async ({ page }: Visit, title: string, action: string) => {
  await page
    .getByRole("button", { name: `Manage ${title}` })
    .first()
    .press("Enter");
  await page.getByRole("dialog").getByRole("button", { name: action, exact: true }).click();
};

test("conversations are grouped by date; a pinned one stands on top, an archived one is found and comes back", async () => {
  await using on = await visit(browser, gateway);
  await titles(
    on,
    "Today",
    SAID.map(([, text]) => text),
  );
  await manage(on, "echo: ferns like shade", "Pin");
  await titles(on, "Pinned", ["echo: ferns like shade"]);
  await titles(on, "Today", ["echo: a parrot sleeps", "echo: bread and butter"]);
  await manage(on, "echo: bread and butter", "Archive");
  await titles(on, "Today", ["echo: a parrot sleeps"]);
  await on.page.getByText("Filter", { exact: true }).click();
  await on.page.getByLabel("Archived").check();
  await titles(on, "Today", ["echo: bread and butter"]);
  await manage(on, "echo: bread and butter", "Unarchive");
  await on.page.getByText("No conversation fits.").waitFor();
  await on.page.getByRole("button", { name: "Show all" }).click();
  await on.page.getByLabel("Channel", { exact: true }).selectOption("api");
  await titles(on, "Today", ["echo: bread and butter"]);
  expect(await accessibilityProblems(on.page)).toEqual([]);
  await on.page.getByRole("button", { name: "Show all" }).click();
  await manage(on, "echo: ferns like shade", "Unpin");
  await titles(
    on,
    "Today",
    SAID.map(([, text]) => text),
  );
  expect(on.problems).toEqual([]);
});

test("a search finds what was said with its snippet, and leads to the message, however far back it is", async () => {
  const key = "agent:default:webchat:dm:birds";
  await say(key, `echo: it is a ${PARROT}`);
  for (let index = 0; index < 30; index++) await say(key, `/status ${index}`);
  await using on = await visit(browser, gateway);
  await on.page.keyboard.press("Escape");
  await on.page.getByLabel("Search conversations").fill("norwegian");
  const hit = on.page.getByTestId("hit").first();
  await hit.waitFor();
  expect(await hit.innerText()).toContain(`it is a ${PARROT}`);
  expect((await hit.locator("mark").allInnerTexts()).map((word) => word.toLowerCase())).toEqual(["norwegian"]);
  expect(await accessibilityProblems(on.page)).toEqual([]);
  await hit.press("Enter");
  const found = on.page.locator("[data-testid=message]:focus");
  await found.waitFor();
  expect(await found.innerText()).toContain(PARROT);
  expect(await found.isVisible()).toBe(true);
  expect(on.problems).toEqual([]);
});

test("a conversation is kept as a file, then deleted after a question that says what stays", async () => {
  await using on = await visit(browser, gateway, { path: "/#/chat/ferns" });
  await on.replies.first().waitFor();
  await on.page.getByRole("button", { name: "Manage echo: ferns like shade" }).press("Enter");
  const dialog = on.page.getByRole("dialog");
  const [download] = await Promise.all([
    on.page.waitForEvent("download"),
    dialog.getByRole("button", { name: "Markdown" }).click(),
  ]);
  expect(download.suggestedFilename()).toBe("echo-ferns-like-shade.md");
  expect(await readFile((await download.path()) ?? "", "utf8")).toContain("> ferns like shade");
  await dialog.getByRole("button", { name: /^Delete echo/ }).click();
  await dialog.getByText("Tool calls stay in the audit log").waitFor();
  expect(await accessibilityProblems(on.page)).toEqual([]);
  await dialog.getByRole("button", { name: "Delete", exact: true }).click();
  await on.page.locator(".empty").waitFor(); // it was open: a new one begins
  await titles(on, "Today", ["echo: a parrot sleeps", "echo: bread and butter"]);
  expect((await gateway.fetch("/api/sessions/agent%3Adefault%3Awebchat%3Adm%3Aferns")).status).toBe(404);
  expect(on.problems).toEqual([]);
});
