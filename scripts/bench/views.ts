/**
 * Every view of the web console in a real browser, with a home full of conversations, tool calls and jobs: when a view shows what it asked for, how
 * soon it answers to keys and clicks, what the gateway needs for each thing that was asked, and what axe finds. By name only.
 */
import type { Page } from "playwright-core";
import { tempHome } from "../../src/testing/temp-home.ts";
import { type GatewayProcess, startGatewayProcess } from "../../src/testing/whole/gateway-process.ts";
import { accessibilityProblems } from "../../test/console-axe.ts";
import { openBrowser, visit } from "../../test/console-stage.ts";
import { HOLDS, openView, timeOf, VIEW_NAMES, type ViewName, WATCH } from "../../test/views-watch.ts";
import { benchConfig } from "./parts/bench-config.ts";
import { atMost, type Line, type Scenario } from "./parts/line.ts";
import { startProviderProcess } from "./parts/provider-process.ts";
import { median, round } from "./parts/stats.ts";
import { storeJobs } from "./parts/stored-jobs.ts";
import { storeTurns } from "./parts/stored-turns.ts";
import { hearRequests, serverTimes } from "./parts/view-requests.ts";

const WHOLE = { sessions: 10_000, callsPerTurn: 10, jobs: 10_000 };
const TIMES = 5;
const INTERACTION_MS = 100;
const SERVER_MS = 50;
const TYPED_MS = 250;

/** Something that a person does in a view with much in it. */
interface Act {
  readonly what: string;
  readonly view: ViewName;
  /** A field waits for the next key before it asks. */
  readonly isTyped?: true;
  /** Does it, `at` times already; the time begins with the first event that it causes. */
  readonly act: (page: Page, at: number) => Promise<unknown>;
}

const more = (page: Page) => page.getByRole("button", { name: "Show more" }).first().press("Enter");

const ACTS: readonly Act[] = [
  { what: "next conversations", view: "chat", act: (page) => more(page) },
  {
    what: "search in 10,000 conversations",
    view: "chat",
    isTyped: true,
    act: (page, at) => page.getByPlaceholder("Search").fill(`word${at * 97}`),
  },
  { what: "next part of the timeline", view: "activity", act: (page) => more(page) },
  {
    what: "words in the timeline",
    view: "activity",
    isTyped: true,
    act: (page, at) => page.getByLabel("Find in the timeline").fill(`session ${at}7`),
  },
  {
    what: "one kind in the timeline",
    view: "activity",
    act: (page, at) => page.getByLabel("Kind").selectOption({ index: 1 + (at % 3) }),
  },
  { what: "next tool calls", view: "calls", act: (page) => more(page) },
  {
    what: "calls of one tool",
    view: "calls",
    act: (page, at) => page.getByLabel("Tool", { exact: true }).selectOption({ index: 1 + (at % 3) }),
  },
  { what: "next jobs", view: "jobs", act: (page) => more(page) },
  { what: "next month", view: "calendar", act: (page) => page.getByLabel("Next month").press("Enter") },
];

/** Longer than a field waits before it searches. */
const QUIET_MS = 600;

interface Figures {
  readonly shown: ReadonlyMap<string, number>;
  readonly acted: ReadonlyMap<Act, number>;
  readonly painted: number;
  readonly server: readonly { readonly what: string; readonly ms: number }[];
  readonly problems: readonly string[];
}

export const views: Scenario = {
  name: "views",
  async measure(scale) {
    const stored = { sessions: WHOLE.sessions * scale, jobs: WHOLE.jobs * scale };
    await using provider = await startProviderProcess({ echo: true });
    await using home = await tempHome();
    await storeTurns(home.path, { sessions: stored.sessions, turnsEach: 1, callsPerTurn: WHOLE.callsPerTurn });
    await storeJobs(home.path, stored.jobs);
    await using gateway = await startGatewayProcess({ home: home.path, config: benchConfig(provider.baseUrl) });
    const figures = await look(gateway);
    for (const problem of figures.problems) console.error(problem);
    return linesOf(stored, figures);
  },
};

async function look(gateway: GatewayProcess): Promise<Figures> {
  await using browser = await openBrowser();
  await using on = await visit(browser, gateway, { path: "/" });
  const { page } = on;
  await page.addInitScript({ content: WATCH });
  const heard = hearRequests(page);
  await page.reload();
  await page.locator("[data-testid=connection][data-state=open]").waitFor();
  const problems: string[] = [];
  const shown = await showEach(page, problems);
  const acted = await actEach(page);
  const painted = await page.evaluate<number>("Math.max(0, ...window.watch.painted)");
  const server = await serverTimes(gateway, heard.taken());
  return { shown, acted, painted, server, problems: [...problems, ...on.problems] };
}

async function showEach(page: Page, problems: string[]): Promise<ReadonlyMap<string, number>> {
  const shown = new Map<string, number>();
  for (const name of VIEW_NAMES) {
    if (name === "more") continue;
    const samples: number[] = [];
    for (let at = 0; at < TIMES; at++) {
      await openView(page, "more", QUIET_MS);
      samples.push(await openView(page, name, QUIET_MS));
    }
    const holds = HOLDS[name];
    if (holds !== undefined) await page.locator(holds).first().waitFor();
    shown.set(name, median(samples));
    problems.push(...(await accessibilityProblems(page)).map((problem) => `${name}, ${problem}`));
  }
  return shown;
}

async function actEach(page: Page): Promise<ReadonlyMap<Act, number>> {
  const acted = new Map<Act, number>();
  for (const one of ACTS) {
    await page.reload();
    await openView(page, "more", QUIET_MS);
    await openView(page, one.view, QUIET_MS);
    const samples: number[] = [];
    for (let at = 0; at < TIMES; at++) samples.push(await timeOf(page, () => one.act(page, at), QUIET_MS));
    acted.set(one, median(samples));
  }
  return acted;
}

function linesOf(
  stored: { readonly sessions: number; readonly jobs: number },
  { shown, acted, painted, server, problems }: Figures,
): readonly Line[] {
  const calls = (stored.sessions * WHOLE.callsPerTurn).toLocaleString("en");
  const slowest = server.toSorted((one, other) => other.ms - one.ms);
  return [
    {
      what: `views with ${stored.sessions} conversations, ${calls} tool calls, ${stored.jobs} jobs`,
      value: shown.size,
      unit: "views",
    },
    ...[...shown].map(([name, ms]) => ({
      what: `  ${name} shown`,
      value: round(ms),
      unit: "ms",
      ...atMost(INTERACTION_MS),
    })),
    ...[...acted].map(([{ what, isTyped }, ms]) => ({
      what: `  ${what}`,
      value: round(ms),
      unit: "ms",
      ...atMost(isTyped ? INTERACTION_MS + TYPED_MS : INTERACTION_MS),
    })),
    { what: "  slowest key or click to the next paint", value: round(painted), unit: "ms", ...atMost(INTERACTION_MS) },
    { what: "  different things asked of the gateway", value: server.length, unit: "" },
    ...slowest
      .slice(0, 5)
      .map(({ what, ms }) => ({ what: `    ${what}`, value: ms, unit: "ms", ...atMost(SERVER_MS) })),
    { what: "  problems of accessibility or in the browser's console", value: problems.length, unit: "", ...atMost(0) },
  ];
}
