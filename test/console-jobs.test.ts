/** Jobs in the web console: a real browser, a real gateway, real pi; only the model is scripted. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import type { Browser } from "playwright-core";
import { type FakeProvider, says, startFakeProvider } from "../src/testing/fake-provider.ts";
import { type GatewayProcess, startGatewayProcess } from "../src/testing/whole/gateway-process.ts";
import { accessibilityProblems } from "./console-axe.ts";
import { openBrowser, type Visit, visit } from "./console-stage.ts";
import { asked, endpoint } from "./whole-fixture.ts";

setDefaultTimeout(120_000);

let browser: Browser;
let provider: FakeProvider;
let gateway: GatewayProcess;

const SLOW_MS = 30_000;
const NIGHTLY = { id: "nightly", schedule: { kind: "cron", expr: "30 2 * * 1-5" }, task: "look at the backup" };

beforeAll(async () => {
  provider = await startFakeProvider((request) => {
    if (asked(request).includes("break")) return { kind: "status", status: 401, message: "bad key" };
    return says(asked(request).includes("geese") ? "There are nine geese." : "fine");
  });
  const config = { ...endpoint(provider), cron: { jobs: [{ ...NIGHTLY, paused: true }] } };
  [browser, gateway] = await Promise.all([openBrowser(), startGatewayProcess({ config })]);
});
afterAll(async () => {
  await browser?.close();
  await gateway?.[Symbol.asyncDispose]();
  await provider?.[Symbol.asyncDispose]();
});

const jobs = () => visit(browser, gateway, { path: "/#/jobs" });
const jobOf = ({ page }: Visit, id: string) => page.getByTestId("job").filter({ hasText: id });
const does = (on: Visit, id: string, name: string) => jobOf(on, id).getByRole("button", { name, exact: true });
const remove = (on: Visit) => does(on, "broken", "Remove broken…");
const add = (job: object) =>
  gateway.fetch("/api/cron/jobs", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ schedule: { kind: "every", expr: "30m" }, delivery: "silent", ...job }),
  });

test("a reminder is made with the keyboard alone, and the list says when in the person's words", async () => {
  await using on = await visit(browser, gateway);
  await on.page.getByRole("link", { name: "Automations" }).press("Enter");
  await on.page.getByRole("heading", { level: 1, name: "Automations", exact: true }).waitFor();
  expect(await on.page.getByRole("heading", { level: 1 }).innerText()).toBe("Automations");
  expect(await on.composer.count()).toBe(0);
  await jobOf(on, "nightly").waitFor(); // the console is connected
  const words = on.page.getByLabel("Remind me of");
  await words.fill("the soup");
  await words.press("Enter");
  const reminder = on.page.getByTestId("job").filter({ hasText: "Once" });
  await reminder.waitFor();
  expect(await reminder.innerText()).toMatch(/Reminder: the soup\s+Once · .+, in (19|20) min/);
  expect([await words.inputValue(), await on.page.getByTestId("announced").innerText()]).toEqual([
    "",
    "The reminder is planned.",
  ]);
  await reminder.getByRole("button").click();
  await reminder.getByText("It has not run yet").waitFor(); // its runs are asked for when it is opened
  expect([on.problems, (await on.seen()).violations]).toEqual([[], []]);
});

test("a job that is made elsewhere appears by itself, runs by hand, and leads to what was said", async () => {
  await using on = await jobs();
  await jobOf(on, "nightly").waitFor();
  await add({ id: "geese", task: "count the geese" });
  await jobOf(on, "geese").waitFor();
  expect(await jobOf(on, "geese").innerText()).toContain("Every 30 minutes");
  await jobOf(on, "geese").getByRole("button").press("Enter");
  await does(on, "geese", "Run now").press("Enter");
  const run = jobOf(on, "geese").getByTestId("run").filter({ hasText: "went well" });
  await run.waitFor({ timeout: SLOW_MS });
  expect(await jobOf(on, "geese").innerText()).toMatch(/Last time: went well, just now[\s\S]*by hand/);
  await run.getByRole("link").click();
  await on.replies.filter({ hasText: "There are nine geese." }).waitFor();
  await on.page.getByTestId("read-only").waitFor();
  expect(await on.page.getByTestId("composer").count()).toBe(0);
  expect(on.problems).toEqual([]);
});

test("a failure is shown with its reason; pausing, resuming and removing do what they say", async () => {
  await using on = await jobs();
  await add({ id: "broken", task: "break, please" });
  await jobOf(on, "broken").getByRole("button").click();
  await does(on, "broken", "Run now").click();
  await jobOf(on, "broken")
    .getByText(/Last time: failed.*refused the API key/)
    .waitFor({ timeout: SLOW_MS });
  await does(on, "broken", "Pause").click();
  await on.page.locator("[data-testid=job][data-state=paused]").filter({ hasText: "broken" }).waitFor();
  await does(on, "broken", "Resume").click();
  await on.page.locator("[data-testid=job][data-state=active]").filter({ hasText: "broken" }).waitFor();

  await remove(on).click();
  expect(await does(on, "broken", "Remove").evaluate((button) => button === button.ownerDocument.activeElement)).toBe(
    true,
  );
  await does(on, "broken", "Keep").click();
  await remove(on).click();
  await does(on, "broken", "Remove").press("Enter");
  await jobOf(on, "broken").waitFor({ state: "detached" });
  expect((await gateway.fetch("/api/cron/jobs/broken")).status).toBe(404);
  expect(on.problems).toEqual([]);
});

test("a job of the configuration file is paused as the file says, and is not removed here", async () => {
  await using on = await jobs();
  const job = jobOf(on, "nightly");
  expect(await job.innerText()).toMatch(/nightly[\s\S]*paused[\s\S]*Every weekday at 02:30/);
  await job.getByRole("button").click();
  await does(on, "nightly", "Resume").waitFor();
  expect([await does(on, "nightly", "Remove nightly…").count(), await job.innerText()]).toEqual([
    0,
    expect.stringContaining("the configuration file"),
  ]);
});

test("the view has no accessibility violations, light, dark and on a phone, and fits there", async () => {
  await using on = await jobs();
  await jobOf(on, "nightly").getByRole("button").click();
  expect(await accessibilityProblems(on.page)).toEqual([]);
  await on.page.setViewportSize({ width: 375, height: 720 });
  await on.page.getByLabel("When").selectOption("at");
  const wide = await on.page.getByTestId("jobs-view").evaluate((view) => view.scrollWidth - view.clientWidth);
  expect(wide).toBe(0);
  expect(await accessibilityProblems(on.page)).toEqual([]);
});
