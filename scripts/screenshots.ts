/** Takes the pictures of the web console that the README and the docs show, of a real conversation with the demo model. Writes to docs/images and nowhere else. */
import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Browser } from "playwright-core";
import { type GatewayProcess, startGatewayProcess } from "../src/testing/whole/gateway-process.ts";
import { type Visit, openBrowser, visit } from "../test/console-stage.ts";
import { systemIds } from "../src/kit/ids.ts";
import { tempHome } from "../src/testing/temp-home.ts";
import { seedViews } from "../test/views-seed.ts";
import { ensureDist } from "./bundle.ts";

const SECRET_BYTES = 32;
const MAX_PICTURE_BYTES = 200_000;
const WIDE = { width: 1_280, height: 800 } as const;
const PHONE = { width: 390, height: 844 } as const;
const PICTURES = [
  { file: "console-light.png", from: "Here is a code block", colorScheme: "light", viewport: WIDE, scale: 1 },
  { file: "console-dark.png", from: "Here is a code block", colorScheme: "dark", viewport: WIDE, scale: 1 },
  { file: "console-phone.png", from: /^status$/, colorScheme: "light", viewport: PHONE, scale: 2 },
] as const;

/** Other conversations, so that the list on the left is not empty. */
const EARLIER = ["How do I set up a real model?", "tell me a long story", "help"];
const CONVERSATION = ["hello", "Show me some code", "status"];

async function takePictures(root: string): Promise<void> {
  await ensureDist(root);
  const folder = join(root, "docs/images");
  mkdirSync(folder, { recursive: true });
  await using browser = await openBrowser();
  await takeViews(browser, folder);
  if (process.argv.includes("--views")) return;
  await using gateway = await startGatewayProcess();
  const path = await talk(browser, gateway);
  for (const { file, from, ...look } of PICTURES) {
    await using shown = await visit(browser, gateway, { path, ...look });
    await arrange(shown, from);
    const bytes = await shown.page.screenshot({ path: join(folder, file) });
    if (bytes.length > MAX_PICTURE_BYTES) throw new Error(`${file} has ${bytes.length} bytes, which is too many.`);
    console.log(`${file}: ${Math.round(bytes.length / 1_024)} KB`);
  }
}

interface ShownView {
  readonly file: string;
  readonly path: string;
  /** Waited for. */
  readonly shows: string;
  /** Pressed then. */
  readonly opens?: string;
  /** Done then. */
  readonly act?: (shown: Visit) => Promise<void>;
}

/** Views of a gateway in which things have happened, each with what has to be there first. */
const VIEWS: readonly ShownView[] = [
  { file: "console-activity.png", path: "/#/activity", shows: "[data-testid=activity]" },
  { file: "console-agents.png", path: "/#/agents", shows: "[data-testid=agent]", opens: "[data-testid=agent] button" },
  { file: "console-channels.png", path: "/#/channels", shows: "[data-testid=channel]" },
  { file: "console-jobs.png", path: "/#/automations", shows: "[data-testid=job]", act: typeJob },
  { file: "console-calendar.png", path: "/#/automations/calendar", shows: ".calendar-run" },
  { file: "console-webhooks.png", path: "/#/automations/webhooks", shows: "[data-testid=webhook]" },
  { file: "console-settings.png", path: "/#/system/settings", shows: "[data-testid=setting]" },
  { file: "console-system.png", path: "/#/system", shows: "[data-testid=check]" },
  { file: "console-usage.png", path: "/#/usage", shows: "[data-testid=usage-table]" },
  { file: "console-turn.png", path: "/#/activity/turn/seed-1", shows: "[data-testid=waterfall]" },
];

const SHOWN_CONFIG = {
  agent: { pool: { min: 0, max: 1 } },
  budget: { monthlyUsd: 20, dailyTokens: 2_000_000 },
  hooks: {
    enabled: true,
    token: systemIds.secret(SECRET_BYTES),
    keys: { "2026-11": systemIds.secret(SECRET_BYTES) },
    mappings: {
      build: { message: "Build {{build.id}} failed: {{build.log}}", task: "Say in one sentence what broke." },
    },
    targets: { ops: { url: "https://ops.example/pi", secret: systemIds.secret(SECRET_BYTES) } },
  },
};

/** A program that writes the state directory as people know it: where the picture was taken is nobody's concern. */
function withoutPath(path: string): string {
  return `for (const one of document.querySelectorAll("dd, pre, .checks span"))
    if (one.textContent.includes(${JSON.stringify(path)})) one.textContent = one.textContent.replaceAll(${JSON.stringify(path)}, "~/.pi-gateway");`;
}

async function takeViews(browser: Browser, folder: string): Promise<void> {
  await using home = await tempHome();
  await seedViews(home.path);
  await using gateway = await startGatewayProcess({ home: home.path, config: SHOWN_CONFIG });
  for (const job of JOBS) await post(gateway, job);
  for (const { file, path, shows, opens, act } of VIEWS) {
    await using shown = await visit(browser, gateway, { path });
    await shown.page.locator("[data-testid=connection][data-state=open]").waitFor();
    await shown.page.locator(shows).first().waitFor();
    if (opens !== undefined) await shown.page.locator(opens).first().click();
    await act?.(shown);
    await shown.page.waitForLoadState("networkidle");
    await shown.page.evaluate(withoutPath(home.path));
    await shown.page.screenshot({ path: join(folder, file) });
  }
}

const JOBS = [
  {
    id: "morning",
    schedule: { kind: "cron", expr: "0 9 * * 1-5", timezone: "Europe/Berlin" },
    task: "Plan the day: calendar, mail, weather.",
  },
  { id: "backup", schedule: { kind: "cron", expr: "15 3 * * *" }, task: "Look whether the last backup is there." },
  { id: "rent", schedule: { kind: "cron", expr: "0 8 1 * *" }, task: "Remind me of the rent." },
  { id: "weekly", schedule: { kind: "cron", expr: "0 17 * * 5" }, task: "What was done this week?", paused: true },
] as const;

const post = (gateway: GatewayProcess, job: object) =>
  gateway.fetch("/api/cron/jobs", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ ...job, delivery: "silent" }),
  });

/** A new job in plain words above the list of jobs. */
async function typeJob({ page }: Visit): Promise<void> {
  await page.getByRole("button", { name: "New job" }).click();
  await page.getByLabel("Task").fill("Plan the day: calendar, mail, weather.");
  await page.getByLabel("In plain words").fill("every weekday at 9");
  await page.getByTestId("preview").getByText("The next times").waitFor();
}

/** Returns the address of the conversation to show. */
async function talk(browser: Browser, gateway: GatewayProcess): Promise<string> {
  await using owner = await visit(browser, gateway);
  for (const text of EARLIER) {
    await owner.ask(text);
    await owner.page.getByTestId("new-chat").click();
    await owner.page.locator(".empty").waitFor();
  }
  for (const text of CONVERSATION) await owner.ask(text);
  return owner.page.url().slice(gateway.url.length);
}

/** Opens the tool card and scrolls so that the message that says `from` is the first one in sight. */
async function arrange({ page, replies }: Visit, from: string | RegExp): Promise<void> {
  await replies.nth(CONVERSATION.length - 1).waitFor();
  await page.getByTestId("session").nth(EARLIER.length).waitFor({ state: "attached" });
  await page.getByTestId("tool-card").getByRole("button").click();
  await page.locator(".hljs-keyword").first().waitFor();
  await page
    .getByTestId("message")
    .filter({ has: page.getByText(from) })
    .last()
    .evaluate((row) => row.scrollIntoView({ block: "start" }));
  await page.mouse.move(0, 0);
  // A still picture has no later part to jump to. Where all fits on the screen there is no such button.
  const jump = page.locator(".jump");
  await jump.waitFor({ timeout: 1_000 }).catch(() => undefined);
  await jump.evaluateAll((buttons) => {
    for (const button of buttons) button.remove();
  });
}

await takePictures(dirname(import.meta.dir));
