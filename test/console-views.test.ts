/** The views behind the rail in a real browser, of a gateway in which things have happened already. One gateway and one browser for all of them. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { type TempHome, tempHome } from "../src/testing/temp-home.ts";
import { type GatewayProcess, startGatewayProcess } from "../src/testing/whole/gateway-process.ts";
import { accessibilityProblems } from "./console-axe.ts";
import { openBrowser, type Visit, visit } from "./console-stage.ts";
import { seedViews } from "./views-seed.ts";
import { eventually } from "./whole-fixture.ts";

setDefaultTimeout(120_000);

const CONFIG = {
  agent: { pool: { min: 0, max: 1 }, tools: "files" },
  agents: [{ id: "papers", systemPrompt: "You look after papers." }],
  budget: { monthlyUsd: 1, dailyTokens: 9_000_000 },
};

let browser: Browser;
let home: TempHome;
let gateway: GatewayProcess;

beforeAll(async () => {
  home = await tempHome();
  await seedViews(home.path);
  [browser, gateway] = await Promise.all([openBrowser(), startGatewayProcess({ home: home.path, config: CONFIG })]);
});
afterAll(async () => {
  await browser?.close();
  await gateway?.[Symbol.asyncDispose]();
  await home?.[Symbol.asyncDispose]();
});

const open = (address: string) => visit(browser, gateway, { path: `/#/${address}` });
const settled = async (on: Visit) => {
  expect(await accessibilityProblems(on.page)).toEqual([]);
  expect([on.problems, on.foreign, (await on.seen()).violations]).toEqual([[], [], []]);
};

describe("activity", () => {
  const rows = ({ page }: Visit, kind?: string) =>
    page.locator(`[data-testid=activity]${kind === undefined ? "" : `[data-kind=${kind}]`}`);

  test("shows everything that happened in one list, narrows it, and goes on while somebody looks", async () => {
    await using on = await open("activity");
    await rows(on, "turn").first().waitFor();
    const counts = await Promise.all(
      ["turn", "tool", "model", "job", "delivery"].map((kind) => rows(on, kind).count()),
    );
    expect(counts).toEqual([7, 2, 9, 1, 7]);
    // what a stranger wrote is text
    expect(await rows(on, "turn").first().innerText()).toContain("Which <b>plants</b> need water today?");
    await settled(on);

    await on.page.getByLabel("How it ended").selectOption("failed");
    const seen = () => rows(on).evaluateAll((all) => all.map((one) => one.getAttribute("data-kind")));
    await eventually("only what failed", seen, (kinds) => kinds.join() === "job,model,turn,tool");
    await on.page.getByLabel("Find in the timeline").fill("summarise");
    await eventually("one turn is left", seen, (kinds) => kinds.join() === "turn");
    expect(await rows(on, "turn").innerText()).toContain("The model provider has a problem right now.");
    await on.page.getByLabel("Find in the timeline").fill("no such words");
    await on.page.getByText("Nothing matches.").waitFor();
    await on.page.getByRole("button", { name: "Show all" }).click();
    await rows(on, "delivery").first().waitFor();
    await on.page.getByLabel("Person").selectOption("telegram:user:11");
    await eventually("what Ada asked for", seen, (kinds) => kinds.filter((kind) => kind === "turn").length === 3);
    await on.page.getByRole("button", { name: "Show all" }).click();

    await gateway.chat("echo: news for the timeline");
    await rows(on, "turn").filter({ hasText: "news for the timeline" }).waitFor();
    await rows(on, "delivery").filter({ hasText: "news for the timeline" }).waitFor();
  });

  test("verifies the audit log on request and says when", async () => {
    await using on = await open("activity");
    const line = on.page.getByTestId("audit-line");
    await line.getByText("was not verified since the gateway started").waitFor();
    await line.getByRole("button", { name: "Verify now" }).press("Enter");
    await line.getByText(/^Audit log verified at .*: 2 tool calls and \d+ other entries/).waitFor();
    expect(await line.getAttribute("data-state")).toBe("intact");
  });

  test("draws one turn from its message to the delivery of its reply, reached from the list and from the chat", async () => {
    await using on = await open("activity");
    await rows(on, "turn").filter({ hasText: "plants" }).press("Enter");
    const bars = on.page.getByTestId("waterfall").locator(".waterfall-name");
    await bars.first().waitFor();
    const names = (await bars.allInnerTexts()).map((text) => text.split("\n")[0]);
    expect(names).toEqual([
      "Waiting in the queue",
      "Waiting for an agent process",
      "Waiting for the first word",
      "Model anthropic/claude-opus-4-8",
      "Waiting for the first word",
      "Answering",
      "Tool web_search",
      "Model anthropic/claude-opus-4-8",
      "Delivering the reply",
    ]);
    await on.page.getByText("Most of the time: Model anthropic/claude-opus-4-8, 2 times.").waitFor();
    await on.page.getByTestId("tool-card").getByText("web_search").waitFor();
    await settled(on);
    await on.page.getByRole("link", { name: /plants/ }).click();
    const footer = on.page.getByTestId("turn-footer");
    expect(await footer.innerText()).toBe("3.8 s · 3,696 tokens · $0.0840 · Why slow?");
    await footer.getByRole("link", { name: "Why slow?" }).click();
    await bars.first().waitFor();
    await on.page.goto(`${gateway.url}/#/activity/turn/none`);
    await on.page.getByText("There is no such turn.").waitFor();
  });
});

/** The little of a canvas that is used here; the project's types know only the server's. */
interface Drawn {
  toDataURL(): string;
}

/** How many colours the middle of the picture has: one where nothing is drawn. */
const drawnColours = (page: Visit["page"]) =>
  page
    .getByTestId("chart")
    .locator("canvas")
    .evaluate((canvas) => {
      const { width, height } = canvas as unknown as { width: number; height: number };
      const context = (
        canvas as unknown as { getContext(kind: string): { getImageData(...place: number[]): { data: Uint8Array } } }
      ).getContext("2d");
      const { data } = context.getImageData(width / 2, 0, width / 2, height - 50);
      return new Set(Array.from({ length: data.length / 4 }, (_, at) => data.slice(at * 4, at * 4 + 3).join())).size;
    });

describe("usage", () => {
  test("shows what was used by day, model, agent, person and origin, and forecasts the budgets", async () => {
    await using on = await open("usage");
    await on.page.getByLabel("Days").selectOption("days30");
    const totals = on.page.getByTestId("totals");
    await totals.getByText("$0.7000").waitFor();
    const chart = on.page.getByTestId("chart");
    const slider = chart.getByRole("slider", { name: "Cost by day" });
    await eventually(
      "a bar for each of thirty days",
      () => slider.getAttribute("aria-valuemax"),
      (last) => last === "29",
    );
    expect(await drawnColours(on.page)).toBeGreaterThan(1);
    const rows = async () => {
      const cells = await on.page
        .getByTestId("usage-table")
        .locator("tbody tr")
        .evaluateAll((all) => all.map((one) => [...one.children].slice(0, 3).map((cell) => cell.textContent?.trim())));
      return JSON.stringify(cells);
    };
    await eventually("models", rows, (text) => text.startsWith('[["anthropic/claude-opus-4-8","$0.6140","88 %"]'));
    const by = async (name: string, first: string) => {
      await on.page.getByRole("button", { name, exact: true }).click();
      await eventually(`what was used by ${name}`, rows, (text) => text.startsWith(first));
    };
    await by("Person", '[["operator","$0.6180","88 %"],["telegram:user:11"');
    await by("Agent", '[["default","$0.6380"');
    await by("Origin", '[["chat","$0.4560"');
    await on.page
      .getByTestId("budget")
      .filter({ hasText: "monthlyUsd" })
      .getByText(/of \$1\.00/)
      .waitFor();
    await settled(on);
    await on.page.getByLabel("Days").selectOption("week");
    await on.page.getByLabel("Measure").selectOption("turns");
    await on.page.getByText("As a table").click();
    await eventually(
      "a row for each of seven days",
      () => on.page.getByTestId("chart").locator("tbody tr").count(),
      (count) => count === 7,
    );
  });

  test("reads its chart with keys and a pointer, draws it for the look of the page, and forecasts the month", async () => {
    await using on = await open("usage");
    const chart = on.page.getByTestId("chart");
    const legend = on.page.getByTestId("chart-legend");
    await on.page.getByLabel("Days").selectOption("week");
    const slider = chart.getByRole("slider", { name: "Cost by day" });
    const at = () => slider.getAttribute("aria-valuenow");
    await eventually(
      "seven days",
      () => slider.getAttribute("aria-valuemax"),
      (last) => last === "6",
    );
    await slider.press("End");
    expect(await slider.getAttribute("aria-valuetext")).toMatch(/^\w+day, .*, Cost \$\d/);
    expect(await legend.innerText()).toMatch(/Cost\s*\$\d.*\n.*day/s);
    await slider.press("ArrowLeft");
    expect(await at()).toBe("5");
    await slider.press("Escape");
    expect(await legend.innerText()).not.toContain("day,");

    const pointAt = async (share: number) => {
      const place = await slider.boundingBox();
      await on.page.mouse.move((place?.x ?? 0) + (place?.width ?? 0) * share, (place?.y ?? 0) + 60);
    };
    await pointAt(0.9);
    expect(await at()).toBe("6");
    const picture = async () =>
      Bun.hash(await chart.locator("canvas").evaluate((canvas) => (canvas as unknown as Drawn).toDataURL()));
    const light = await picture();
    await on.page.evaluate(`document.documentElement.dir = "rtl"`);
    await eventually("the days turn round", picture, (drawn) => drawn !== light);
    await pointAt(0.89); // beside the axis, which has turned round as well
    await eventually("the first day is at the right", at, (day) => day === "0");
    await slider.press("ArrowLeft");
    expect(await at()).toBe("1");
    const turned = await picture();
    await on.page.emulateMedia({ colorScheme: "dark" });
    await eventually("the dark picture", picture, (drawn) => drawn !== turned);
    await on.page.setViewportSize({ width: 375, height: 720 });
    await eventually(
      "the picture fits on a phone",
      async () => (await chart.locator("canvas").boundingBox())?.width ?? 0,
      (width) => width > 200 && width < 375,
    );

    await on.page.getByLabel("Days").selectOption("month");
    await on.page.getByLabel("Shape").selectOption("sum");
    await legend.getByText("Cost so far").waitFor();
    await legend.getByText("Limit of the month").getByText("$1.00").waitFor();
    await settled(on);
  });

  test("shows the numbers of a chart that cannot be drawn as a table", async () => {
    await using on = await open("agents");
    const language = `Object.defineProperty(Navigator.prototype, "language", { get: () => "en-US@posix" })`;
    await on.page.evaluate(language); // uPlot makes a format of it when it is loaded
    await on.page.getByRole("link", { name: "Usage" }).click();
    await on.page.getByRole("region", { name: "Cost by day" }).getByRole("row").nth(1).waitFor();
    expect(await on.page.getByRole("slider").count()).toBe(0);
    expect(on.problems).toEqual([]);
  });
});

describe("agents", () => {
  test("show what they are told and may do for whom, and the processes that run", async () => {
    await gateway.chat("hello");
    await using on = await open("agents");
    const agent = on.page.getByTestId("agent").filter({ hasText: "papers" });
    await agent.getByRole("button").first().press("Enter");
    const cell = async (tool: string, column: number) => {
      const row = agent
        .getByTestId("matrix")
        .locator("tr")
        .filter({ has: on.page.getByText(tool, { exact: true }) });
      return (await row.locator("td").nth(column).textContent()) ?? "";
    };
    await agent.getByTestId("prompt").getByText("You look after papers.").waitFor();
    expect(await cell("add_task", 0)).toContain("yes: the lists allow it");
    expect(await cell("write", 6)).toContain("no: it works in the workspace of an agent");
    await agent.getByTestId("matrix").locator("[data-may=no]").first().click();
    await agent
      .getByTestId("reason")
      .getByText(/^\w+, \w+: no: /)
      .waitFor();
    await on.page.getByTestId("processes").getByRole("row").nth(1).getByText("operator, owner").waitFor();
    await settled(on);
    await agent.getByLabel("Role").selectOption("guest");
    await eventually(
      "a guest may not write files",
      () => cell("write", 0),
      (text) => text.includes("no: this agent has no such tool"),
    );
    await agent.getByLabel("Find a tool").fill("bas");
    await eventually(
      "one tool is left",
      () => agent.getByTestId("matrix").locator("tbody tr").count(),
      (count) => count === 1,
    );
    await agent.getByLabel("Find a tool").fill("nothing");
    await agent.getByText("No tool is called so.").waitFor();
  });
});

describe("channels", () => {
  test("are cards with what passed last; people can be asked about, and who would answer them", async () => {
    await gateway.chat("hello");
    await using on = await open("channels");
    const card = on.page.getByTestId("channel").filter({ hasText: "webchat" });
    await card.getByText(/^\d+ h ago, from Owner$/).waitFor();
    await on.page.getByTestId("channel").filter({ hasText: /^api/ }).getByText("just now, from").waitFor();
    expect(await on.page.getByRole("link", { name: "Connect a channel" }).getAttribute("href")).toBe(
      "#/system/setup/channel",
    );
    const ada = on.page.getByTestId("person").filter({ hasText: "Ada" });
    await ada.getByText("What may they do?").click();
    await ada
      .getByTestId("may-do")
      .getByText(/add_task/)
      .waitFor();
    await ada.getByText("As member, in a chat with the default agent.").waitFor();
    const answer = on.page.getByTestId("who-answers");
    await on.page.getByLabel("Person").fill("telegram:user:99");
    await on.page.getByRole("button", { name: "Show", exact: true }).press("Enter");
    await answer.getByText("Nobody answers").waitFor();
    await on.page.getByLabel("Person").fill("operator");
    await on.page.getByRole("button", { name: "Show", exact: true }).press("Enter");
    await answer.getByText(/^The agent default answers, to them as owner/).waitFor();
    await settled(on);
  });
});

describe("system", () => {
  test("looks at itself, and shows what is stored and how backups are", async () => {
    await using on = await open("system");
    const check = (name: string) => on.page.getByTestId("check").filter({ hasText: name });
    await check("Model").getByText("The demo model answers.").waitFor();
    expect(await check("Database").getAttribute("data-state")).toBe("ok");
    expect(await check("State directory").getAttribute("data-state")).toBe("ok");
    await on.page.getByTestId("backup-line").getByText("No backup is made by itself.").waitFor();
    await on.page
      .getByTestId("stored-line")
      .getByText(/^Database: \d.* · sessions: \d+ files?, /)
      .waitFor();
    await on.page.getByRole("region", { name: "Stored" }).getByRole("row").nth(1).waitFor();
    await settled(on);
    const said = on.page.getByTestId("fix-said");
    await on.page.getByRole("button", { name: "Back up now: Backup" }).press("Enter");
    await said.getByText("A backup is made. It is in").waitFor();
    expect((await readdir(join(gateway.home, "backups"))).length).toBe(1);
    await on.page.getByRole("button", { name: "Make a backup" }).press("Enter");
    await on.page.getByTestId("backup-said").getByText("A backup is made. It is in").waitFor();
    await on.page.getByTestId("backup-line").getByText("Newest backup: ").waitFor();
    await settled(on);
  });

  test("says how long it has been running each time somebody looks", async () => {
    await using on = await open("system");
    const running = on.page.getByTestId("health-view").locator("dt:has-text('Running for') + dd");
    const first = await running.innerText();
    await eventually(
      "another time",
      async () => {
        await on.page.getByRole("link", { name: "Logs" }).click();
        await on.page.getByTestId("logs-view").waitFor();
        await on.page.getByRole("link", { name: "Health" }).click();
        return running.innerText();
      },
      (now) => now !== first,
    );
  });

  test("shows plugins and servers, follows the log, and signs browsers in and out", async () => {
    await using on = await open("system/extensions");
    await on.page.getByText("No MCP server is set up.").waitFor();
    await on.page.getByTestId("plugin").first().or(on.page.getByText("No plugin is installed.")).waitFor();
    await settled(on);
    await on.page.getByRole("link", { name: "Logs" }).click();
    const lines = on.page.getByTestId("log").locator("p");
    await lines.first().waitFor();
    await on.page.getByLabel("Find in the log").fill("no such words at all");
    await on.page.getByText(/^No line matches among the newest/).waitFor();
    await on.page.getByLabel("Find in the log").fill("");
    await on.page.getByLabel("Level").selectOption("debug");
    await lines.first().waitFor();
    await on.page.getByLabel("Module").selectOption("agents");
    await eventually(
      "lines of one module alone",
      () => lines.allInnerTexts(),
      (all) => all.length > 0 && all.every((line) => line.includes("module=agents")),
    );
    await on.page.getByLabel("Module").selectOption("");
    await settled(on);
    await using other = await open("chat/other");
    await on.page.getByRole("link", { name: "Browsers" }).click();
    await on.page.getByTestId("browser").getByText("This browser (Chrome on Linux)").waitFor();
    await on.page.getByRole("button", { name: "Make a sign-in link" }).click();
    await on.page.getByTestId("sign-in-link").getByText("/#code=").waitFor();
    await settled(on);
    const before = await on.page.getByTestId("browser").count();
    const newest = on.page.getByTestId("browser").filter({ hasNotText: "This browser" }).first();
    await newest.getByRole("button", { name: /^Sign out Chrome on Linux, signed in/ }).click();
    await newest.getByRole("button", { name: "Sign out", exact: true }).click();
    await eventually(
      "one browser less",
      () => on.page.getByTestId("browser").count(),
      (count) => count === before - 1,
    );
    await other.page.getByLabel(/token/i).first().waitFor();

    const token = () => readFile(join(gateway.home, "token"), "utf8");
    const oldToken = await token();
    await on.page.getByRole("button", { name: /^Make a new token/ }).click();
    await on.page.getByRole("button", { name: "Make a new token", exact: true }).click();
    await on.page.getByTestId("token-said").waitFor();
    await on.page.getByTestId("browser").getByText("This browser (Chrome on Linux)").waitFor(); // it has signed in again, by its name
    expect(await token()).not.toBe(oldToken);
    expect((await gateway.fetch("/api/status")).status).toBe(401); // with the old one
  });
});
