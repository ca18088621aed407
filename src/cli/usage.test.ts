import { expect, test } from "bun:test";
import { cliFixture, fakeGateway } from "../testing/cli-fixture.ts";

const sum = { turns: 2, inputTokens: 12_345, cachedTokens: 300, outputTokens: 50, costUsd: 0.25 };
const REPORT = {
  from: "2026-01-01",
  to: "2026-01-31",
  timezone: "Europe/Berlin",
  by: "origin",
  total: sum,
  items: [{ key: "chat", ...sum }],
  limits: [{ limit: "dailyUsd", period: "day", unit: "usd", spent: 5.5, max: 5, unattendedMax: 4 }],
};

async function world(answer: object = REPORT) {
  const asked: string[] = [];
  const fx = await cliFixture();
  const gateway = await fakeGateway(fx.home, async (_request, { pathname, search }) => {
    asked.push(`${pathname}${search}`);
    return Response.json(answer);
  });
  const end = async () => {
    await gateway[Symbol.asyncDispose]();
    await fx[Symbol.asyncDispose]();
  };
  return { ...fx, asked, [Symbol.asyncDispose]: end };
}

test("pi-gw usage shows what was spent, in all, and how full the budgets are", async () => {
  await using fx = await world();
  expect(await fx.run("usage", "--by", "origin", "--from", "2026-01-01", "-n", "5")).toBe(0);
  expect(fx.asked).toEqual(["/api/usage?from=2026-01-01&by=origin&limit=5"]);
  expect(fx.out().trimEnd().split("\n")).toEqual([
    "From 2026-01-01 to 2026-01-31 (Europe/Berlin), by origin:",
    "ORIGIN  COST     TOKENS IN  CACHED  TOKENS OUT  TURNS",
    "chat    $0.2500  12,345     300     50          2",
    "in all  $0.2500  12,345     300     50          2",
    "budget.dailyUsd: $5.50 of $5.00, used up",
  ]);
});

test("pi-gw usage prints the report as it is for programs, and says so when there is nothing", async () => {
  await using fx = await world();
  await fx.run("usage", "--json");
  expect(JSON.parse(fx.out())).toEqual(REPORT);
  await using none = await world({ ...REPORT, items: [], limits: [] });
  await none.run("usage");
  expect(none.out()).toBe("Nothing was used from 2026-01-01 to 2026-01-31 (Europe/Berlin).\n");
  await using wrong = await world();
  expect(await wrong.run("usage", "--by", "colour")).not.toBe(0);
  expect(wrong.asked).toEqual([]);
});

test.each(["tomorrow", "2026-13-01", "2026-1-1", ""])(
  "pi-gw usage says what a day looks like when it gets %p",
  async (text) => {
    await using fx = await world();
    expect(await fx.run("usage", "--from", text)).toBe(1);
    expect(fx.err()).toContain("It must be a day, such as 2026-01-31.");
    expect(fx.asked).toEqual([]);
  },
);
