/** Automations in a real browser: jobs written in plain words, the calendar, checklists of heartbeats, webhooks and their keys. One gateway and one browser for all of them. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { type TempHome, tempHome } from "../src/testing/temp-home.ts";
import { type GatewayProcess, startGatewayProcess } from "../src/testing/whole/gateway-process.ts";
import { accessibilityProblems } from "./console-axe.ts";
import { openBrowser, type Visit, visit } from "./console-stage.ts";
import { eventually } from "./whole-fixture.ts";

setDefaultTimeout(120_000);

const secret = (letter: string) => `${letter.repeat(4)}-9f3a7c1e5b2d8046-q7Zr`;

let browser: Browser;
let home: TempHome;
let gateway: GatewayProcess;
/** Takes every post. */
let target: ReturnType<typeof Bun.serve>;
const posted: unknown[] = [];

beforeAll(async () => {
  home = await tempHome();
  target = Bun.serve({
    port: 0,
    async fetch(request) {
      posted.push(await request.json());
      return new Response("", { status: 204 });
    },
  });
  const config = {
    agent: { pool: { min: 0, max: 1 } },
    agents: [{ id: "papers", workspace: join(home.path, "papers") }],
    hooks: {
      enabled: true,
      token: secret("t"),
      secret: secret("s"),
      mappings: { build: { message: "Build {{build.id}} failed", delivery: "silent", secret: secret("b") } },
      targets: { ops: { url: `http://127.0.0.1:${target.port}/`, privateNetwork: true, secret: secret("o") } },
    },
  };
  [browser, gateway] = await Promise.all([openBrowser(), startGatewayProcess({ home: home.path, config })]);
});
afterAll(async () => {
  await browser?.close();
  await gateway?.[Symbol.asyncDispose]();
  await home?.[Symbol.asyncDispose]();
  await target?.stop(true);
});

const open = (address: string, viewport?: { width: number; height: number }) =>
  visit(browser, gateway, { path: `/#/automations${address}`, ...(viewport ? { viewport } : {}) });
const settled = async (on: Visit) => {
  expect(await accessibilityProblems(on.page)).toEqual([]);
  const problems = on.problems.filter((text) => !text.startsWith("Failed to load resource")); // a refusal is an answer
  expect([problems, on.foreign, (await on.seen()).violations]).toEqual([[], [], []]);
};
const add = (job: object) =>
  gateway.fetch("/api/cron/jobs", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ task: "look", delivery: "silent", ...job }),
  });
const jobOf = async (id: string) => {
  const response = await gateway.fetch(`/api/cron/jobs/${id}`);
  return response.ok ? ((await response.json()) as { job: Record<string, unknown> }).job : null;
};
const configText = () => readFile(join(home.path, "pi-gateway.jsonc"), "utf8");

describe("jobs", () => {
  test("are written in plain words or as cron, each made from the other, and listed by their next run", async () => {
    await add({ id: "later", schedule: { kind: "at", expr: "in 300d" } });
    await add({ id: "paused", schedule: { kind: "every", expr: "1h" }, paused: true });
    await using on = await open("");
    const { page } = on;
    const preview = page.getByTestId("preview");
    await page.getByRole("button", { name: "New job" }).press("Enter");
    await page.getByLabel("Task").fill("Plan the day.");
    await page.getByLabel("In plain words").fill("every weekday");
    await preview.getByText("Say at what time").waitFor();
    expect(await page.getByRole("button", { name: "Plan job" }).isDisabled()).toBe(true);
    await page.getByLabel("In plain words").fill("every weekday at 9");
    await preview.getByText("Every weekday at 09:00").waitFor();
    expect(await page.getByLabel("Cron").inputValue()).toBe("0 9 * * 1-5");
    expect(await preview.getByRole("listitem").count()).toBe(5);
    await page.getByLabel("Cron").fill("*/20 7 * * 3");
    await preview.getByText("cannot be said in plain words").waitFor();
    expect(await page.getByLabel("In plain words").inputValue()).toBe("");
    await page.getByLabel("Cron").fill("30 7 * * 1,3");
    await preview.getByText("Every Monday and Wednesday at 07:30").waitFor();
    expect(await page.getByLabel("Name").getAttribute("placeholder")).toBe("plan-the-day");
    await page.getByTestId("job-form").getByText("More", { exact: true }).click();
    await page.getByLabel("Its words are").selectOption("silent");
    await page.getByLabel("Runs that were missed").selectOption("skip");
    await page.getByLabel("Tool", { exact: true }).fill("add_task");
    await page.getByRole("button", { name: "Add", exact: true }).click();
    await settled(on);
    await page.getByRole("button", { name: "Plan job" }).press("Enter");
    const names = () => page.getByTestId("job").locator(".tool-name").allInnerTexts();
    await eventually(
      "the soonest first, and those that are not planned last",
      names,
      (all) => all.join() === "plan-the-day,later,paused",
    );
    expect(await jobOf("plan-the-day")).toMatchObject({
      schedule: { kind: "cron", expr: "30 7 * * 1,3" },
      words: "every Monday and Wednesday at 07:30",
      delivery: "silent",
      catchUp: "skip",
      needs: ["add_task"],
    });

    const job = page.getByTestId("job").filter({ hasText: "plan-the-day" }).first();
    await job.getByRole("button").first().press("Enter");
    await job.getByText("are left out").waitFor();
    await job.getByRole("button", { name: "Edit" }).press("Enter");
    expect(await job.getByLabel("In plain words").inputValue()).toBe("every Monday and Wednesday at 07:30");
    await job.getByRole("textbox", { name: "Task" }).fill("Plan the week.");
    await job.getByRole("button", { name: "Save job" }).click();
    await job.getByText("Plan the week.").waitFor();
    expect(await jobOf("plan-the-day")).toMatchObject({ task: "Plan the week.", schedule: { expr: "30 7 * * 1,3" } });
  });
});

describe("the calendar", () => {
  test("shows planned runs by day, as a grid and on a phone as a list, and leads to the job", async () => {
    await add({ id: "daily", schedule: { kind: "cron", expr: "59 23 * * *" } });
    await add({ id: "mail", schedule: { kind: "every", expr: "10m" } });
    await using on = await open("/calendar");
    const { page } = on;
    const runs = page.getByTestId("calendar").locator(".calendar-run").filter({ hasText: "daily" });
    await page.getByRole("button", { name: "Next month" }).click();
    await eventually(
      "a run on each day of the next month",
      () => runs.count(),
      (count) => count >= 28,
    );
    await page.getByTestId("frequent").getByText("mail").waitFor();
    await settled(on);
    await page.getByRole("button", { name: "This month" }).press("Enter");
    await runs.first().waitFor();
    expect(await page.getByRole("button", { name: "Month before" }).isDisabled()).toBe(true);
    await page.setViewportSize({ width: 375, height: 720 });
    expect(await page.getByTestId("calendar").isVisible()).toBe(false);
    const middles = async (name: string) => {
      const box = await page.getByRole("button", { name }).boundingBox();
      return box && Math.round(box.y + box.height / 2);
    };
    const row = await middles("This month"); // all three stand in it
    expect([await middles("Month before"), await middles("Next month")]).toEqual([row, row]);
    await page.getByTestId("calendar-days").locator(".calendar-run").filter({ hasText: "daily" }).first().click();
    await page.getByTestId("job").filter({ hasText: "daily" }).getByText("It has not run yet").waitFor();
  });
});

describe("heartbeats", () => {
  test("have a checklist that is written here, and not over what the agent has written meanwhile", async () => {
    const file = join(home.path, "papers", "HEARTBEAT.md");
    await using on = await open("/heartbeat");
    const card = on.page.getByTestId("heartbeat").filter({ hasText: "papers" });
    const words = card.getByLabel("What papers looks after");
    await words.fill("- Are there new papers?\n");
    await card.getByRole("button", { name: "Save checklist" }).press("Enter");
    await eventually(
      "the file has it",
      () => readFile(file, "utf8").catch(() => ""),
      (text) => text.includes("new papers"),
    );
    await settled(on);
    await writeFile(file, "- written by the agent\n");
    await words.fill("- mine\n");
    await card.getByRole("button", { name: "Save checklist" }).click();
    await eventually(
      "the agent's words are shown",
      () => words.inputValue(),
      (text) => text.includes("by the agent"),
    );
    expect(await readFile(file, "utf8")).toBe("- written by the agent\n");
  });
});

describe("webhooks", () => {
  test("are tried as a sender would, and get new keys that are shown once", async () => {
    await using on = await open("/webhooks");
    const card = on.page.getByTestId("webhook").filter({ hasText: "Build {{build.id}} failed" });
    await card.getByText("Test", { exact: true }).click();
    await card.getByLabel("What a sender would send, as JSON").fill("{ wrong");
    await card.getByRole("button", { name: "Send test" }).click();
    await card.getByText("The body is not valid JSON").waitFor();
    await card.getByLabel("What a sender would send, as JSON").fill('{ "build": { "id": 42 } }');
    await card.getByRole("button", { name: "Send test" }).click();
    await card.getByTestId("test-result").getByText("Build 42 failed").waitFor();

    await card.getByText("Keys of senders").click();
    await card.getByRole("button", { name: "New key for build" }).press("Enter");
    const made = on.page.getByTestId("made-secret");
    const key = await made.getByTestId("secret").innerText();
    expect(key.length).toBeGreaterThan(40);
    expect(await configText()).toContain(key);
    await settled(on);
    await made.getByRole("button", { name: "Done" }).click();
    expect(await on.page.content()).not.toContain(key);
    await card.getByRole("button", { name: "Remove key secret of build…" }).click();
    await card.getByRole("button", { name: "Remove", exact: true }).click();
    await eventually(
      "one key is left",
      () => card.getByTestId("webhook-key").count(),
      (count) => count === 1,
    );
    expect(await configText()).not.toContain(secret("b"));
    // another one: the same request is refused within one second
    await card.getByLabel("What a sender would send, as JSON").fill('{ "build": { "id": 43 } }');
    await card.getByRole("button", { name: "Send test" }).click();
    await card.getByTestId("test-result").getByText("Build 43 failed").waitFor();
  });

  test("are added in both directions, and targets are tried and removed", async () => {
    await using on = await open("/webhooks");
    const { page } = on;
    const ops = page.getByTestId("webhook-target").filter({ hasText: "ops" });
    await ops.getByRole("button", { name: "Post a test to ops" }).press("Enter");
    await ops.getByText("The target took the test.").waitFor();
    expect(posted).toEqual([expect.objectContaining({ source: "test", text: "This is a test." })]);
    await page.getByText("New webhook", { exact: true }).click();
    const form = page.getByRole("form", { name: "New webhook", exact: true });
    await form.getByLabel("Name", { exact: true }).fill("Door Bell");
    await form.getByLabel(/What the agent gets/).fill("Somebody is at the door.");
    await form.getByRole("button", { name: "Add webhook" }).click();
    await form.getByText(/is not a usable name/).waitFor();
    await form.getByLabel("Name", { exact: true }).fill("door");
    await form.getByRole("button", { name: "Add webhook" }).click();
    await page.getByTestId("webhook").filter({ hasText: "Somebody is at the door." }).waitFor();
    await page.getByText("New target", { exact: true }).click();
    const newTarget = page.getByRole("form", { name: "New webhook target" });
    await newTarget.getByLabel("Name").fill("log");
    await newTarget.getByLabel("Address").fill("https://log.example/in");
    await newTarget.getByRole("button", { name: "Add target" }).click();
    await page.getByTestId("made-secret").waitFor();
    await settled(on);
    const log = page.getByTestId("webhook-target").filter({ hasText: "log.example" });
    await log.getByRole("button", { name: "Remove the target log…" }).click();
    await log.getByRole("button", { name: "Remove", exact: true }).click();
    await log.waitFor({ state: "detached" });
  });
});
