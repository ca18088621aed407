/** The frame of the web console in a real browser: the rail, the field that finds everything, the health chip, and how much is loaded at first. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { type GatewayProcess, startGatewayProcess } from "../src/testing/whole/gateway-process.ts";
import { accessibilityProblems } from "./console-axe.ts";
import { openBrowser, type Visit, visit } from "./console-stage.ts";
import { eventually } from "./whole-fixture.ts";

setDefaultTimeout(120_000);

const MAX_FIRST_LOAD_BYTES = 120 * 1024;
const MAX_TAB_STOPS = 10;
const PHONE = { width: 375, height: 720 } as const;
const CONFIG = { agent: { pool: { min: 0, max: 1 } } };

let browser: Browser;
let gateway: GatewayProcess;

beforeAll(async () => {
  [browser, gateway] = await Promise.all([openBrowser(), startGatewayProcess({ config: CONFIG })]);
  const job = { id: "water-plants", schedule: { kind: "every", expr: "6h" }, task: "look after the ficus" };
  await gateway.fetch("/api/cron/jobs", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(job),
  });
});
afterAll(async () => {
  await browser?.close();
  await gateway?.[Symbol.asyncDispose]();
});

const connected = ({ page }: Visit) => page.locator("[data-testid=connection][data-state=open]").waitFor();
const heading = ({ page }: Visit, name: string) => page.getByRole("heading", { level: 1, name, exact: true }).waitFor();
const focused = ({ page }: Visit) => page.evaluate<string>("document.activeElement?.innerText ?? ''");

/** What has the focus after each of so many presses of the key. */
async function stopsOf(on: Visit, key: "Tab" | "Shift+Tab"): Promise<readonly string[]> {
  const stops: string[] = [];
  while (stops.length < MAX_TAB_STOPS) {
    await on.page.keyboard.press(key);
    stops.push(await focused(on));
  }
  return stops;
}

test("every area is at most ten stops of Tab away, from the message field and from a view", async () => {
  await using on = await visit(browser, gateway);
  await connected(on);
  const areas = await on.page.locator(".rail li:not(.narrow) .rail-name").allInnerTexts();
  expect(areas).toEqual(["Chat", "Inbox", "Activity", "Automations", "Channels", "Agents", "Usage", "System"]);
  await on.page.locator("#composer:focus").waitFor();
  expect(await stopsOf(on, "Tab")).toEqual(expect.arrayContaining(areas));
  await on.page.getByRole("link", { name: "Channels" }).press("Enter");
  await on.page.getByTestId("channels-view").focus();
  expect(await stopsOf(on, "Shift+Tab")).toEqual(expect.arrayContaining(areas));
  expect(on.problems).toEqual([]);
});

test("a view is fetched when it is first opened, and the first load stays under 120 KB", async () => {
  await using on = await visit(browser, gateway);
  await connected(on);
  const loaded = () =>
    on.page.evaluate<readonly { name: string; bytes: number }[]>(
      `[...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")].map(({ name, transferSize }) => ({ name, bytes: transferSize }))`,
    );
  const first = await loaded();
  const bytes = first.reduce((sum, one) => sum + one.bytes, 0);
  expect(bytes).toBeGreaterThan(30_000); // it was measured at all
  expect(bytes).toBeLessThanOrEqual(MAX_FIRST_LOAD_BYTES);
  const isJobs = ({ name }: { readonly name: string }) => name.includes("jobs-view");
  expect(first.some(isJobs)).toBe(false);
  await on.page.getByRole("link", { name: "Automations" }).click();
  await heading(on, "Automations");
  await eventually("the view of automations is loaded", loaded, (files) => files.some(isJobs));
});

test("Ctrl+K finds commands, views, conversations and jobs, for a keyboard alone", async () => {
  await using on = await visit(browser, gateway);
  await on.ask("echo: the ficus is thirsty");
  const field = on.page.getByRole("combobox", { name: "Find a conversation, view, command or job" });
  const option = on.page.getByRole("listbox", { name: "Found" }).getByRole("option");
  const find = async (typed: string, group: string) => {
    await on.page.keyboard.press("Control+k");
    await field.pressSequentially(typed);
    await on.page.getByRole("group", { name: group }).getByRole("option").first().waitFor();
  };
  await find("", "Commands");
  expect(await accessibilityProblems(on.page)).toEqual([]);
  await on.page.keyboard.press("Escape");
  await field.waitFor({ state: "detached" });
  expect(await on.composer.evaluate((it) => it === it.ownerDocument.activeElement)).toBe(true);

  await find("ficus", "Conversations");
  expect(await option.allInnerTexts()).toEqual(["echo: the ficus is thirsty", "water-plants\nlook after the ficus"]);
  await on.page.keyboard.press("ArrowUp"); // from the first to the last
  const active = await field.getAttribute("aria-activedescendant");
  expect(await on.page.locator(`[id="${active}"]`).innerText()).toContain("water-plants");
  await on.page.keyboard.press("Enter");
  await heading(on, "Automations");
  await on.page.getByTestId("job").getByText("It has not run yet").waitFor(); // and the job is open

  await find("thirsty", "Conversations");
  await on.page.keyboard.press("Enter");
  await on.replies.getByText("the ficus is thirsty").waitFor();
  await find("new", "Commands");
  await on.page.keyboard.press("Enter");
  await on.page.locator(".empty").waitFor();
  await find("key", "Views");
  await on.page.keyboard.press("Enter");
  await heading(on, "Keys");
  await on.page.keyboard.press("Control+k");
  await field.fill("no such thing");
  await on.page.getByText("Nothing found for “no such thing”.").waitFor();
  expect(on.problems).toEqual([]);
});

test("Escape that closes the finding field does not stop a running answer", async () => {
  await using on = await visit(browser, gateway);
  await on.send("tell me a long story");
  await on.page.getByTestId("live").getByText("watch the words arrive").waitFor();
  await on.page.keyboard.press("Control+k");
  await on.page.getByRole("combobox").waitFor();
  await on.page.keyboard.press("Escape");
  await on.page.getByRole("combobox").waitFor({ state: "detached" });
  expect(await on.page.getByTestId("stop").count()).toBe(1);
  await on.page.keyboard.press("Escape");
  await on.page.locator("[data-kind=notice]").getByText("Stopped.").waitFor();
});

test("problems are one list in one banner; the chip counts them, and brings back what was dismissed", async () => {
  const file = join(gateway.home, "pi-gateway.jsonc");
  await using on = await visit(browser, gateway);
  const chip = on.page.getByTestId("connection");
  await chip.getByText("All well").waitFor();
  await writeFile(file, '{ "agent": { "pool": { "max": "many" } }, "gateway": { "bnd": "loopback" } }');
  await gateway.fetch("/api/config/reload", { method: "POST" });
  const lines = on.page.getByTestId("banner").locator("[data-kind=notice]");
  await lines.first().waitFor();
  const count = await lines.count();
  expect(await on.page.getByTestId("banner").count()).toBe(1);
  await chip.getByText(count === 1 ? "1 problem" : `${count} problems`).waitFor();
  await lines
    .first()
    .getByRole("button", { name: /^Dismiss/ })
    .click();
  await eventually(
    "the dismissed line is gone",
    () => lines.count(),
    (left) => left === count - 1,
  );
  await chip.press("Enter");
  await eventually(
    "the dismissed line is back",
    () => lines.count(),
    (left) => left === count,
  );
  await on.page.getByRole("link", { name: "System" }).click();
  await on.page.getByTestId("health-view").getByText("pi-gateway.jsonc").first().waitFor();
  expect(await accessibilityProblems(on.page)).toEqual([]);
  await writeFile(file, JSON.stringify(CONFIG));
  await gateway.fetch("/api/config/reload", { method: "POST" });
  await chip.getByText("All well").waitFor();
  expect(await on.page.getByTestId("banner").count()).toBe(0);
});

test("a phone has a bar with few areas, and the others behind More", async () => {
  await using on = await visit(browser, gateway, { viewport: PHONE });
  await connected(on);
  const bar = on.page.locator(".rail a:visible");
  expect(await bar.allInnerTexts()).toEqual(["Chat", "Inbox", "Activity", "More"]);
  await bar.getByText("More").click();
  await on.page.getByTestId("more-view").getByRole("link", { name: "System" }).click();
  await heading(on, "System");
  expect(await on.page.locator(".rail a[aria-current]:visible").innerText()).toBe("More");
  await bar.getByText("More").click();
  expect(await accessibilityProblems(on.page)).toEqual([]);
  expect(on.problems).toEqual([]);
});
