/** The usage ledger in use, on a real store and a clock that a test moves: restarts, midnights, and an owner who is told once. */
import { describe, expect, test } from "bun:test";
import type { BudgetWork } from "../contracts/budget.ts";
import type { AgentId, Principal } from "../contracts/ids.ts";
import { createFakeClock } from "../testing/fake-clock.ts";
import { realStore } from "../testing/real-store.ts";
import { recordingLog } from "../testing/recording-log.ts";
import { openBudget } from "./budget.ts";
import type { BudgetRules } from "./decide.ts";
import { createCalendar, daysBefore, freeAgain } from "./periods.ts";
import { createSums } from "./sums.ts";

const ZONE = "Europe/Berlin"; // an hour ahead of UTC in January
const HOUR = 3_600_000;
const LATE = Date.UTC(2026, 0, 31, 22, 0); // 23:00 on the last day of January
const person: BudgetWork = { agentId: "default" as AgentId, principal: "operator" as Principal, origin: "chat" };
const job: BudgetWork = { ...person, origin: "cron" };
const dollars = (costUsd: number) => ({ inputTokens: 100, outputTokens: 10, costUsd });

async function world(given: Partial<BudgetRules> = {}) {
  const clock = createFakeClock(LATE);
  const real = await realStore(clock);
  const rules: { now: Partial<BudgetRules> } = { now: given };
  const told: string[] = [];
  const said = new Set<string>();
  const telling = { broken: false, times: 0 };
  const log = recordingLog();
  const tell = async (id: string, text: string): Promise<void> => {
    telling.times++;
    if (telling.broken) throw new Error("the disk is full");
    if (!said.has(id)) told.push(text);
    said.add(id);
  };
  const open = async (store = real.store) =>
    openBudget(
      { clock, log, store: store.usage, tell },
      {
        timezone: ZONE,
        rules: () => ({ unattendedShare: 0.8, agents: {}, principals: {}, origins: {}, ...rules.now }),
      },
    );
  let count = 0;
  const pay = async (budget: Awaited<ReturnType<typeof open>>, work: BudgetWork, costUsd: number) => {
    await budget.record(budget.bill(work, { id: `t${++count}`, model: "fake/one", usage: dollars(costUsd) }));
  };
  const end = () => real[Symbol.asyncDispose]();
  return { clock, real, rules, told, said, telling, log, open, pay, [Symbol.asyncDispose]: end };
}

describe("a turn that still runs", () => {
  const spending = (id: string, usd: number) => ({ id, model: "", usage: dollars(usd) });

  test("counts with what it has spent so far, and once when its row is written", async () => {
    await using fx = await world({ dailyUsd: 5 });
    const budget = await fx.open();
    budget.spending(budget.bill(person, spending("turn_1", 3)));
    budget.spending(budget.bill(person, spending("turn_1", 1.5)));
    expect([budget.ask(job).may, budget.ask(person).may]).toEqual([false, true]);
    budget.spending(budget.bill(person, spending("turn_2", 0.5)));
    expect(budget.ask(person).may).toBe(false);
    budget.settle("turn_2"); // without a row
    expect(budget.ask(person).may).toBe(true);
    await budget.record(budget.bill(person, spending("turn_1", 4.5)));
    expect([budget.ask(person).may, budget.used().today.costUsd]).toEqual([true, 4.5]);
  });

  test("counts for its own agent, person and origin alone", async () => {
    const other = { ...person, agentId: "other" as AgentId, principal: "somebody" as Principal };
    await using fx = await world({ agents: { default: { dailyUsd: 1 } }, principals: { operator: { dailyUsd: 1 } } });
    const budget = await fx.open();
    budget.spending(budget.bill(person, spending("turn_1", 2)));
    expect([budget.ask(person).may, budget.ask(other).may]).toEqual([false, true]);
  });

  test("whose attempt died is counted by the row of that attempt from then on", async () => {
    await using fx = await world({ dailyTokens: 200 });
    const budget = await fx.open();
    budget.spending(budget.bill(person, spending("turn_1", 0)));
    await budget.record(budget.bill(person, spending("turn_1:1", 0)));
    expect(budget.ask(person).may).toBe(true); // 110 tokens, not 220
  });
});

describe("a budget", () => {
  test("stops what begins by itself first, then people, and says which limit and until when", async () => {
    await using fx = await world({ dailyUsd: 5 });
    const budget = await fx.open();
    await fx.pay(budget, person, 3.99);
    expect([budget.ask(job).may, budget.ask(person).may]).toEqual([true, true]);
    await fx.pay(budget, person, 0.01);
    expect([budget.ask(job).may, budget.ask(person).may]).toEqual([false, true]);
    await fx.pay(budget, person, 1);
    expect(budget.ask(person)).toMatchObject({
      may: false,
      say: "The daily budget of this gateway is used up; it is free again at midnight (Europe/Berlin).",
      because:
        "The daily budget of this gateway is used up ($5.00 of $5.00); it is free again at midnight (Europe/Berlin).",
    });
  });

  test("knows after a restart what was spent before it", async () => {
    await using fx = await world({ dailyUsd: 5, monthlyUsd: 5 });
    await fx.pay(await fx.open(), person, 5);
    const next = await fx.open(await fx.real.reopen());
    expect(next.ask(person)).toMatchObject({ may: false, reached: { limit: "monthlyUsd", spent: 5 } });
    expect(next.used()).toEqual((await fx.open()).used(person.principal));
  });

  test("begins anew at midnight where the gateway lives, and not before", async () => {
    await using fx = await world({ dailyUsd: 5, monthlyUsd: 100 });
    const budget = await fx.open();
    await fx.pay(budget, person, 6);
    await fx.clock.advance(HOUR - 1);
    expect(budget.ask(person).may).toBe(false);
    await fx.clock.advance(1);
    expect(budget.ask(person).may).toBe(true);
    expect(budget.used()).toMatchObject({ today: { costUsd: 0 }, month: { costUsd: 0 } }); // the month is over as well
    await fx.pay(budget, person, 2);
    await fx.clock.advance(24 * HOUR);
    expect(budget.used()).toMatchObject({ today: { costUsd: 0 }, month: { costUsd: 2 } });
    expect((await fx.open()).used()).toEqual(budget.used());
  });

  test("counts a turn that began before midnight and ended after it for the day it ended on, as a restart would", async () => {
    await using fx = await world();
    const budget = await fx.open();
    const before = budget.bill(person, { id: "late", model: "m", usage: dollars(1) });
    await fx.clock.advance(2 * HOUR);
    await budget.record(before); // it was noted a moment before midnight, and written after it
    await fx.pay(budget, person, 2);
    expect(before.day).toBe("2026-01-31");
    expect(budget.used()).toMatchObject({ today: { costUsd: 2 }, month: { costUsd: 2 } });
    expect((await fx.open()).used()).toEqual(budget.used());
  });

  test("counts a row once, and one that cannot be written all the same", async () => {
    await using fx = await world();
    const budget = await fx.open();
    const row = budget.bill(person, { id: "same", model: "m", usage: dollars(1) });
    await budget.record(row);
    await budget.record(row);
    expect(budget.used().today).toMatchObject({ turns: 1, costUsd: 1 });
    await fx.real.store[Symbol.asyncDispose]();
    await fx.pay(budget, person, 1);
    expect(budget.used().today.costUsd).toBe(2);
    expect(fx.log.lines.some(({ words }) => words === "usage could not be written down")).toBe(true);
  });

  test("holds a changed limit at once", async () => {
    await using fx = await world({ dailyUsd: 1 });
    const budget = await fx.open();
    await fx.pay(budget, person, 1);
    expect(budget.ask(person).may).toBe(false);
    fx.rules.now = { dailyUsd: 2 };
    expect(budget.ask(person).may).toBe(true);
    fx.rules.now = { principals: { "*": { dailyTokens: 100 } } };
    expect(budget.ask(person)).toMatchObject({
      say: "Your daily budget is used up; it is free again at midnight (Europe/Berlin).",
    });
  });

  test("tells the owner once when work stops, once when everything does, and again the next day; a restart does not repeat it", async () => {
    await using fx = await world({ dailyUsd: 5 });
    const budget = await fx.open();
    await fx.pay(budget, person, 4);
    await fx.pay(budget, person, 0.5);
    budget.ask(job);
    expect(fx.told.length).toBe(1);
    expect(fx.told[0]).toStartWith("Jobs, heartbeats, webhooks and delegated tasks have stopped");
    await fx.pay(budget, person, 1);
    budget.ask(person);
    expect(fx.told.length).toBe(2);
    expect(fx.told[1]).toContain("$5.50 of $5.00, `budget.dailyUsd`");
    expect(fx.telling.times).toBe(2); // nobody is asked to say it with every refusal
    (await fx.open()).ask(person);
    expect(fx.told.length).toBe(2);
    expect(budget.notices()).toEqual([fx.told[1] ?? ""]);
    await fx.clock.advance(2 * HOUR);
    expect(budget.notices()).toEqual([]);
    await fx.pay(budget, person, 5);
    expect(fx.told.length).toBe(3);
  });

  test("says of a limit that many share one thing, not one for each", async () => {
    await using fx = await world({ principals: { "*": { dailyUsd: 1 } } });
    const budget = await fx.open();
    for (let n = 0; n < 10; n++) await fx.pay(budget, { ...person, principal: `telegram:user:${n}` as Principal }, 1);
    expect(fx.told.length).toBe(1);
  });

  test("tries again to tell the owner when that did not work", async () => {
    await using fx = await world({ dailyUsd: 1 });
    const budget = await fx.open();
    fx.telling.broken = true;
    await fx.pay(budget, person, 1);
    await fx.clock.advance(0);
    fx.telling.broken = false;
    budget.ask(person);
    expect(fx.told.length).toBe(1);
  });
});

test("the owner is not sent to the configuration about a budget of a key", async () => {
  const key = "key:user:key-1" as Principal;
  await using fx = await world({ principals: { [key]: { dailyUsd: 1 } } });
  await fx.pay(await fx.open(), { ...person, principal: key }, 1);
  expect(fx.told[0]).toEndWith("It is the budget of a key; a program that needs more gets another key.");
});

describe("sums", () => {
  const today = { day: "2026-01-10", month: "2026-01" };
  const spent = (principal: string, day = today.day) => ({
    id: principal,
    day,
    agentId: "default" as AgentId,
    principal: principal as Principal,
    origin: "chat" as const,
    model: "m",
    usage: dollars(1),
  });

  test("stay as they are when the clock goes back", () => {
    const sums = createSums(today);
    sums.add(spent("operator"));
    sums.roll({ day: "2026-01-09", month: "2026-01" });
    expect(sums.amount("all", "day").usd).toBe(1);
  });

  test("have room for so many people; the others share one, so that their limit holds for them together", () => {
    const sums = createSums(today, 2);
    for (const one of ["a:user:1", "a:user:2", "a:user:3", "a:user:4"]) sums.add(spent(one));
    const usd = (who: string) => sums.amount(`principal:${who}`, "day").usd;
    expect([usd("a:user:1"), usd("a:user:2"), usd("a:user:3"), usd("a:user:9")]).toEqual([1, 1, 2, 2]);
  });
});

test.each([
  ["UTC", "2026-01-31"],
  ["Europe/Berlin", "2026-02-01"],
  ["Pacific/Kiritimati", "2026-02-01"],
  ["America/Los_Angeles", "2026-01-31"],
])("in %s the last hour of January in London is %s", (zone, day) => {
  expect(createCalendar(zone).at(Date.UTC(2026, 0, 31, 23, 30))).toEqual({ day, month: day.slice(0, 7) });
});

test("a month is free again on the first of the next, also over the end of a year", () => {
  expect(freeAgain("month", { day: "2026-12-05", month: "2026-12" }, "UTC")).toBe("on 1 January 2027 (UTC)");
  expect(freeAgain("month", { day: "2026-01-31", month: "2026-01" }, "UTC")).toBe("on 1 February 2026 (UTC)");
  expect(daysBefore("2026-03-01", 1)).toBe("2026-02-28");
});

test("days without a named zone are those of the machine", () => {
  const zone = new Intl.DateTimeFormat().resolvedOptions().timeZone;
  const [local, named] = [createCalendar(), createCalendar(zone)];
  expect(local.timezone()).toBe(zone);
  for (let hour = 0; hour < 24 * 400; hour += 5) {
    const at = Date.UTC(2026, 0, 1, hour);
    expect(local.at(at)).toEqual(named.at(at));
  }
});
