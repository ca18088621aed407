/** The pictures of the web console: where each is taken, what has to be there first, and what is done then. */
import type { Visit } from "../../test/console-stage.ts";
import { standIns } from "../../test/notification-stage.ts";
import { eventually } from "../../test/whole-fixture.ts";
import type { Scene } from "./scene.ts";

export interface ShownView {
  /** Of the file `console-NAME.png`. */
  readonly name: string;
  /** What follows the gateway's address; `chat`: the conversation that is worth showing. */
  readonly path: "chat" | `/${string}`;
  /** Waited for. */
  readonly shows: string;
  /** Done then. */
  readonly act?: (shown: Visit, scene: Scene) => Promise<unknown>;
  /** There is something to decide. */
  readonly waiting?: true;
  /** The docs show it on a phone: nothing else has it, or a large picture of it is too large a file. */
  readonly onPhone?: true;
}

/** Those with something to decide come last: every view would tell of it. */
export const VIEWS: readonly ShownView[] = [
  { name: "light", path: "chat", shows: "[data-testid=turn-footer] >> nth=2", act: showTool },
  { name: "activity", path: "/#/activity", shows: "[data-testid=activity]" },
  { name: "turn", path: "/#/activity/turn/seed-1", shows: "[data-testid=waterfall]" },
  { name: "calls", path: "/#/activity/calls", shows: "[data-testid=call]", act: openFirst("call") },
  { name: "tools", path: "/#/activity/tools", shows: "[data-testid=tool]", act: openFirst("tool") },
  { name: "jobs", path: "/#/automations", shows: "[data-testid=job]", act: typeJob },
  { name: "calendar", path: "/#/automations/calendar", shows: ".calendar-run:visible" },
  { name: "heartbeat", path: "/#/automations/heartbeat", shows: "[data-testid=heartbeat-view] form" },
  { name: "webhooks", path: "/#/automations/webhooks", shows: "[data-testid=webhook]" },
  { name: "channels", path: "/#/channels", shows: "[data-testid=channel]" },
  { name: "agents", path: "/#/agents", shows: "[data-testid=agent]", act: openFirst("agent") },
  { name: "usage", path: "/#/usage", shows: "[data-testid=usage-table]" },
  { name: "system", path: "/#/system", shows: "[data-testid=check]" },
  { name: "settings", path: "/#/system/settings", shows: "[data-testid=setting]" },
  { name: "models", path: "/#/system/models", shows: "[data-testid=models-view] table" },
  { name: "extensions", path: "/#/system/extensions", shows: "[data-testid=extensions-view] h2" },
  { name: "logs", path: "/#/system/logs", shows: "[data-testid=log] p", act: oneModule },
  { name: "browsers", path: "/#/system/browsers", shows: "[data-testid=browser]", act: switchOn },
  { name: "keys", path: "/#/system/keys", shows: "[data-testid=key]" },
  { name: "docs", path: "/docs/notifications", shows: "h1", onPhone: true },
  { name: "more", path: "/#/more", shows: ".more-list", onPhone: true },
  { name: "find", path: "/#/activity", shows: "[data-testid=activity]", act: find },
  { name: "inbox", path: "/#/inbox", shows: "[data-testid=inbox-item] >> nth=3", waiting: true },
];

/** Of a gateway on which nothing was set up yet. */
export const FIRST_VIEWS: readonly ShownView[] = [
  { name: "first", path: "/", shows: "[data-testid=setup-card]" },
  { name: "setup", path: "/#/system/setup", shows: "[data-testid=step-model]" },
];

/** Of two gateways on one database. */
export const SHARED_VIEW: ShownView = {
  name: "gateways",
  path: "/#/system/gateways",
  shows: "[data-testid=gateway] >> nth=1",
};

/** A new job in plain words above the list of jobs. */
async function typeJob({ page }: Visit): Promise<void> {
  await page.getByRole("button", { name: "New job" }).click();
  await page.getByLabel("Task").fill("Plan the day: calendar, mail, weather.");
  await page.getByLabel("In plain words").fill("every weekday at 9");
  await page.getByTestId("preview").getByText("The next times").waitFor();
}

/** The answer before the tool card, and the card. A still picture has no later part to jump to. */
async function showTool({ page }: Visit): Promise<void> {
  await page.locator(".hljs-keyword").first().waitFor();
  await page.getByTestId("tool-card").getByRole("button").first().click();
  await page
    .getByText("Write a function")
    .last()
    .evaluate((row) => row.scrollIntoView({ block: "start" }));
  await page.mouse.move(0, 0);
  const jump = page.locator(".jump");
  await jump.waitFor({ timeout: 1_000 }).catch(() => undefined); // where all fits on the screen there is none
  await jump.evaluateAll((buttons) => {
    for (const button of buttons) button.remove();
  });
}

function openFirst(testId: string): NonNullable<ShownView["act"]> {
  return ({ page }) => page.getByTestId(testId).getByRole("button").first().click();
}

async function oneModule({ page }: Visit): Promise<void> {
  await page.getByLabel("Module").selectOption("agents");
  await eventually(
    "lines of one module alone",
    () => page.getByTestId("log").locator("p").allInnerTexts(),
    (lines) => lines.every((line) => line.includes("module=agents")),
  );
}

async function find({ page }: Visit): Promise<void> {
  await page.keyboard.press("Control+k");
  await page.getByRole("dialog").getByRole("combobox").fill("plan");
  await page.getByRole("group", { name: "Conversations" }).waitFor();
}

/** Notifications, which a browser without a screen has only by a stand-in of its maker. */
async function switchOn({ context, page }: Visit, { gateway, push }: Scene): Promise<void> {
  const { publicKey } = (await (await gateway.fetch("/api/notifications")).json()) as { readonly publicKey: string };
  await context.addInitScript({ content: standIns({ permission: "granted", subscription: push.browser(publicKey) }) });
  const dir = await page.evaluate<string>("document.documentElement.dir");
  await page.reload();
  await page.evaluate(`document.documentElement.dir = "${dir}"`);
  await page.getByRole("switch", { name: "Notify this browser" }).click();
  await page.getByRole("button", { name: "Send a test" }).first().waitFor(); // each look has a browser of its own
}
