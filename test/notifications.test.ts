/** Notifications from end to end: a real pi asks, a push service gets it, the service worker of a real browser shows it, and a decision there runs the tool once. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import type { PushNotice } from "../src/contracts/notifications.ts";
import type { NotifiedBrowser } from "../src/contracts/notifications-api.ts";
import type { AuditEntry } from "../src/contracts/store/tool-calls.ts";
import { type FakeProvider, says, startFakeProvider } from "../src/testing/fake-provider.ts";
import { startPushService, type TestPushService } from "../src/testing/push-service.ts";
import { type TempHome, tempHome } from "../src/testing/temp-home.ts";
import { type GatewayProcess, startGatewayProcess } from "../src/testing/whole/gateway-process.ts";
import { accessibilityProblems } from "./console-axe.ts";
import { openBrowser, type Visit, visit } from "./console-stage.ts";
import { standIns, type StandIns, type WorkerStage, workerStage } from "./notification-stage.ts";
import { asked, endpoint, eventually } from "./whole-fixture.ts";

setDefaultTimeout(120_000);

let browser: Browser;
let home: TempHome;
let provider: FakeProvider;
let service: TestPushService;
let gateway: GatewayProcess;
let publicKey = "";
let chats = 0;
const talks: Promise<Response>[] = [];

beforeAll(async () => {
  provider = await startFakeProvider((request) => {
    if (request.messages.at(-1)?.role !== "user") return says("that is all");
    const [, command] = /^run (.*)$/s.exec(asked(request)) ?? [];
    return command ? { kind: "tools", calls: [{ name: "bash", input: { command } }] } : says("fine");
  });
  service = startPushService();
  home = await tempHome();
  const base = endpoint(provider);
  const agent = { ...base.agent, tools: ["bash"], pool: { min: 0, max: 2 } };
  const tools = { approvals: { ask: ["bash"] } };
  const config = { ...base, agent, tools, notifications: { pushServices: [service.origin] } };
  [browser, gateway] = await Promise.all([openBrowser(), startGatewayProcess({ home: home.path, config })]);
  publicKey = ((await (await gateway.fetch("/api/notifications")).json()) as { publicKey: string }).publicKey;
});
afterAll(async () => {
  await browser?.close();
  await gateway?.[Symbol.asyncDispose]();
  await service?.[Symbol.asyncDispose]();
  await provider?.[Symbol.asyncDispose]();
  await home?.[Symbol.asyncDispose]();
});
afterEach(async () => {
  for (const answer of await Promise.all(talks.splice(0))) expect(answer.status).toBe(200);
});
beforeEach(async () => {
  for (const { id } of await listed()) await gateway.fetch(`/api/notifications/${id}`, { method: "DELETE" });
  for (const list of [service.taken, service.answered, service.next]) list.length = 0;
});

const json = async <T>(path: string): Promise<T> => (await (await gateway.fetch(path)).json()) as T;
const listed = async () => (await json<{ items: readonly NotifiedBrowser[] }>("/api/notifications")).items;
const listedCount = (count: number) => eventually(`${count} browsers`, listed, (items) => items.length === count);

/** A visit to a view with the switch, in a browser whose maker behaves as told. */
async function open(path: string, parts: StandIns): Promise<Visit> {
  const on = await visit(browser, gateway);
  await on.context.addInitScript({ content: standIns(parts) });
  await on.page.goto(`${gateway.url}/${path}`);
  await on.page.reload();
  return on;
}

const switchOf = ({ page }: Visit) => page.getByRole("switch", { name: "Notify this browser" });

interface Notified extends AsyncDisposable {
  readonly on: Visit;
  readonly worker: WorkerStage;
}

/** A browser that has switched notifications on. */
async function notified(): Promise<Notified> {
  const on = await open("#/inbox", { permission: "granted", subscription: service.browser(publicKey) });
  await switchOf(on).click();
  await listedCount(1);
  const worker = await workerStage(on.page, gateway.url);
  return { on, worker, [Symbol.asyncDispose]: () => on[Symbol.asyncDispose]() };
}

/** A program says it, and hears the answer when somebody has decided. */
function say(text: string): void {
  const body = JSON.stringify({ text, session: `chat-${++chats}` });
  talks.push(gateway.fetch("/api/chat", { method: "POST", headers: { "content-type": "application/json" }, body }));
}

/** What the push service delivers of an approval. */
async function pushed(command: string): Promise<PushNotice> {
  const before = service.taken.length;
  say(`run ${command}`);
  const taken = await eventually(
    "the push service has it",
    () => service.taken,
    (all) => all.length > before,
  );
  return taken[before]?.notice as PushNotice;
}

const openApprovals = async () => (await json<{ items: readonly { id: string }[] }>("/api/approvals")).items;
const nothingWaits = () => eventually("no open approval", openApprovals, (items) => items.length === 0);
const linesOf = async (file: string) =>
  (await readFile(join(gateway.home, "workspace", file), "utf8").catch(() => "")).split("\n").filter(Boolean);

describe("an approval that a real pi asks for", () => {
  test("reaches the service worker, is allowed there, and its tool runs once", async () => {
    await using at = await notified();
    const notice = await pushed("echo ran >> allowed.txt");
    expect([notice.title, notice.body.split("\n")[0]]).toEqual(["Allow bash?", "echo ran >> allowed.txt"]);
    expect(service.taken[0]).toMatchObject({ urgency: "high", contact: "mailto:pi-gateway@example.com" });
    await at.worker.deliver(notice);
    const [shown] = await at.worker.shown();
    expect(shown).toMatchObject({
      title: "Allow bash?",
      tag: notice.tag,
      actions: [{ title: "Allow" }, { title: "Deny" }],
    });
    expect(await linesOf("allowed.txt")).toEqual([]);

    await at.worker.press(notice.tag, "once");
    expect(await at.worker.shown()).toMatchObject([{ title: "Allowed", body: "Allow bash?", actions: [] }]);
    await eventually(
      "the tool has run",
      () => linesOf("allowed.txt"),
      (lines) => lines.length > 0,
    );

    await at.worker.press(notice.tag, "once", shown);
    expect(await at.worker.shown()).toMatchObject([{ body: expect.stringContaining("does not wait any more") }]);
    await nothingWaits();
    expect(await linesOf("allowed.txt")).toEqual(["ran"]);
    const { items } = await json<{ items: readonly AuditEntry[] }>("/api/audit?kind=approval.ended&limit=1");
    expect(items).toMatchObject([
      { actor: "operator", detail: { tool: "bash", decision: "once", via: "notification" } },
    ]);
    expect(at.on.problems).toEqual([]);
  });

  test("denied in a notification does not run its tool", async () => {
    await using at = await notified();
    const notice = await pushed("echo ran >> denied.txt");
    await at.worker.deliver(notice);
    await at.worker.press(notice.tag, "deny");
    expect(await at.worker.shown()).toMatchObject([{ title: "Denied" }]);
    await nothingWaits();
    expect(await linesOf("denied.txt")).toEqual([]);
  });

  test("has the focus in the Inbox after a tap on its notification", async () => {
    await using at = await notified();
    const { page } = at.on;
    const notice = await pushed("echo ran >> tapped.txt");
    await at.worker.deliver(notice);
    await page.goto(`${gateway.url}/#/usage`);
    await at.worker.press(notice.tag, "");
    const row = page.locator(`[data-id="approval ${notice.approval?.id}"]`);
    await row.waitFor();
    const focused = () => page.evaluate<string>("document.activeElement?.getAttribute('data-id')");
    await eventually("the focus is on it", focused, (id) => id === `approval ${notice.approval?.id}`);
    await row.getByRole("button", { name: "Deny" }).click();
    await nothingWaits();
  });

  test("cannot be decided by a browser that was signed out meanwhile, which is told nothing more", async () => {
    await using at = await notified();
    const notice = await pushed("echo ran >> signed-out.txt");
    await at.worker.deliver(notice);
    const browsers = await json<{ items: readonly { id: string }[] }>("/api/sign-ins");
    for (const { id } of browsers.items) await gateway.fetch(`/api/sign-ins/${id}`, { method: "DELETE" });
    await at.worker.press(notice.tag, "once");
    expect(await at.worker.shown()).toMatchObject([{ body: expect.stringContaining("signed out") }]);
    expect((await openApprovals()).length).toBe(1);
    say("run echo again");
    await listedCount(0);
    expect(service.taken.length).toBe(1);
    for (const { id } of await eventually("two approvals", openApprovals, (items) => items.length === 2))
      await gateway.fetch(`/api/approvals/${id}`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: '{"decision":"deny"}',
      });
    await nothingWaits();
    expect(await linesOf("signed-out.txt")).toEqual([]);
  });
});

describe("the switch", () => {
  test("puts this browser on the list and takes it off, and a test notification arrives", async () => {
    const subscription = service.browser(publicKey);
    await using on = await open("#/system/browsers", { permission: "granted", subscription });
    expect(await switchOf(on).isChecked()).toBe(false);
    await switchOf(on).click();
    const [row] = await listedCount(1);
    expect(row).toMatchObject({ browser: "Chrome on Linux", problem: null });
    const item = on.page.getByTestId("notified-browser");
    await item.getByText("This browser (Chrome on Linux)").waitFor();
    await item.getByRole("button", { name: "Send a test" }).click();
    await item.getByTestId("test-said").getByText("The push service took it").waitFor();
    expect(service.taken[0]?.notice.title).toBe("Notifications work");
    expect(await accessibilityProblems(on.page)).toEqual([]);
    await on.page.locator("[role=switch]:checked").click();
    await listedCount(0);
    await on.page.locator("[role=switch]:not(:checked)").waitFor();
    expect(on.problems).toEqual([]);
  });

  test("in the Inbox and in the setup is accessible, and the setup counts the browser", async () => {
    const subscription = service.browser(publicKey);
    await using on = await open("#/system/setup/notifications", { permission: "granted", subscription });
    const step = on.page.getByTestId("step-notifications");
    await step.getByRole("switch").click();
    await listedCount(1);
    await on.page.reload();
    await step.getByText("One browser gets notifications.").waitFor();
    await on.page.goto(`${gateway.url}/#/inbox`);
    await on.page.locator("[role=switch]:checked").waitFor();
    expect(await accessibilityProblems(on.page)).toEqual([]);
  });

  test.each([
    ["for notifications was denied", { permission: "denied" }, "was told not to show notifications"],
    ["is never given, without https", { permission: "granted", more: { isSecureContext: false } }, "only over https"],
  ] as const)("says what to do where permission %s", async (_why, parts, words) => {
    await using on = await open("#/inbox", parts);
    await on.page.getByTestId("notify").getByText(words).waitFor();
    expect(await switchOf(on).isDisabled()).toBe(true);
  });

  test("says so when the push service of the browser is away, and stays off", async () => {
    await using on = await open("#/inbox", { permission: "granted" });
    await switchOf(on).click();
    await on.page.getByRole("alert").getByText("its push service is away").waitFor();
    expect([await switchOf(on).isChecked(), await listed()]).toEqual([false, []]);
  });

  test("stays on after another sign-in of the same browser", async () => {
    await using at = await notified();
    const [before] = await listed();
    const { page, context } = at.on;
    await context.clearCookies();
    const { code } = (await (await gateway.fetch("/api/sign-in-links", { method: "POST" })).json()) as { code: string };
    await page.goto(`${gateway.url}/docs`);
    await page.goto(`${gateway.url}/#code=${code}`);
    await page.getByTestId("composer").waitFor();
    await page.goto(`${gateway.url}/#/inbox`);
    await page.locator("[role=switch]:checked").waitFor();
    expect((await listed()).map(({ id }) => id)).toEqual([before?.id ?? ""]);
  });
});

test("a browser that makes a new token goes on getting notifications", async () => {
  await using own = await tempHome();
  const config = { notifications: { pushServices: [service.origin] } };
  await using alone = await startGatewayProcess({ home: own.path, config });
  const { publicKey: key } = (await (await alone.fetch("/api/notifications")).json()) as { publicKey: string };
  await using on = await visit(browser, alone);
  const subscription = service.browser(key);
  await on.context.addInitScript({ content: standIns({ permission: "granted", subscription }) });
  await on.page.goto(`${alone.url}/#/system/browsers`);
  await on.page.reload();
  await switchOf(on).click();
  await on.page.getByTestId("notified-browser").getByText("This browser").waitFor();
  await on.page.getByRole("button", { name: /^Make a new token/ }).click();
  await on.page.getByRole("button", { name: "Make a new token", exact: true }).click();
  await on.page.getByTestId("token-said").waitFor();
  await on.page.reload();
  await on.page.getByTestId("notified-browser").getByText("This browser").waitFor();
  expect(await switchOf(on).isChecked()).toBe(true);
});

test("a gateway that cannot be reached is said in words by a browser with notifications, which keeps nothing of it", async () => {
  await using own = await tempHome();
  const alone = await startGatewayProcess({ home: own.path, config: {} });
  await using on = await visit(browser, alone);
  await on.page.evaluate(
    "navigator.serviceWorker.register('/service-worker.js').then(() => navigator.serviceWorker.ready).then(() => true)",
  );
  await eventually(
    "the worker looks after the page",
    () => on.page.evaluate<boolean>("navigator.serviceWorker.controller !== null"),
    Boolean,
  );
  expect(await on.page.evaluate("caches.keys()")).toEqual([]);
  await alone[Symbol.asyncDispose]();
  await on.page.reload();
  await on.page.getByRole("heading", { name: "The gateway cannot be reached" }).waitFor();
});

test("the manifest makes the web console an app, with icons that are there", async () => {
  const page = await (await fetch(gateway.url)).text();
  const [, address] = /rel="manifest" href="([^"]+)"/.exec(page) ?? [];
  const answer = await fetch(`${gateway.url}${address}`);
  const manifest = (await answer.json()) as {
    start_url: string;
    scope: string;
    icons: { src: string; type: string }[];
  };
  expect(answer.headers.get("content-type")).toBe("application/manifest+json");
  expect([manifest.start_url, manifest.scope]).toEqual(["/", "/"]);
  for (const { src, type } of manifest.icons) {
    const icon = await fetch(`${gateway.url}${src}`);
    expect([icon.status, icon.headers.get("content-type")]).toEqual([200, type]);
  }
  const worker = await fetch(`${gateway.url}/service-worker.js`);
  expect([worker.status, worker.headers.get("cache-control")]).toEqual([200, "no-cache"]);
  expect(worker.headers.get("content-security-policy")).toContain("connect-src 'self'");
});
