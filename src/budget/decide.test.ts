/** Whether a turn may begin, as a table: what is allowed, what was spent, who asks, and which limit says no. */
import { describe, expect, test } from "bun:test";
import type { BudgetWork } from "../contracts/budget.ts";
import type { AgentId, Principal } from "../contracts/ids.ts";
import { type BudgetRules, decideBudget, type Scope } from "./decide.ts";

const FREE: BudgetRules = { unattendedShare: 0.8, agents: {}, principals: {}, origins: {} };
const person: BudgetWork = { agentId: "default" as AgentId, principal: "operator" as Principal, origin: "chat" };
const job: BudgetWork = { ...person, origin: "cron" };

/** Spent in a day; a month has seen ten times as much. */
type SpentTable = Partial<Record<Scope, { readonly usd?: number; readonly tokens?: number }>>;
const spentOf = (table: SpentTable) => (scope: Scope, period: "day" | "month") => {
  const { usd = 0, tokens = 0 } = table[scope] ?? {};
  const times = period === "month" ? 10 : 1;
  return { usd: usd * times, tokens: tokens * times };
};

describe("a turn", () => {
  for (const [name, rules, spent, work, expected] of [
    ["may begin without any limit", {}, { all: { usd: 1e6 } }, person, "may"],
    ["may begin below the limit", { dailyUsd: 5 }, { all: { usd: 4.99 } }, person, "may"],
    ["may not at the limit", { dailyUsd: 5 }, { all: { usd: 5 } }, person, "dailyUsd"],
    ["may not a hair below the limit", { dailyUsd: 0.8 }, { all: { usd: 0.7 + 0.1 } }, person, "dailyUsd"],
    ["may not with a limit of nothing", { dailyUsd: 0 }, {}, person, "dailyUsd"],
    ["is held to tokens as well", { dailyTokens: 100 }, { all: { tokens: 100 } }, person, "dailyTokens"],
    ["is held to months", { monthlyUsd: 50 }, { all: { usd: 5 } }, person, "monthlyUsd"],
    ["names the month first", { dailyUsd: 5, monthlyUsd: 50 }, { all: { usd: 5 } }, person, "monthlyUsd"],
    ["of a person goes on above the share", { dailyUsd: 5 }, { all: { usd: 4 } }, person, "may"],
    ["of a job stops at the share", { dailyUsd: 5 }, { all: { usd: 4 } }, job, "dailyUsd"],
    ["of a heartbeat too", { dailyUsd: 5 }, { all: { usd: 4 } }, { ...job, origin: "heartbeat" }, "dailyUsd"],
    ["of a webhook too", { dailyUsd: 5 }, { all: { usd: 4 } }, { ...job, origin: "webhook" }, "dailyUsd"],
    ["of a delegated task too", { dailyUsd: 5 }, { all: { usd: 4 } }, { ...job, origin: "delegate" }, "dailyUsd"],
    ["in a group is a person's", { dailyUsd: 5 }, { all: { usd: 4 } }, { ...person, origin: "group" }, "may"],
    ["over the API is a person's", { dailyUsd: 5 }, { all: { usd: 4 } }, { ...person, origin: "api" }, "may"],
    ["of a job goes on with a share of one", { dailyUsd: 5, unattendedShare: 1 }, { all: { usd: 4 } }, job, "may"],
    ["of a job never begins with a share of nothing", { dailyUsd: 5, unattendedShare: 0 }, {}, job, "dailyUsd"],
    [
      "of a job has a limit of its own",
      { unattendedDailyUsd: 1 },
      { unattended: { usd: 1 } },
      job,
      "unattendedDailyUsd",
    ],
    ["of a job may use all of it", { unattendedDailyUsd: 1 }, { unattended: { usd: 0.9 } }, job, "may"],
    ["of a job in a month", { unattendedMonthlyUsd: 9 }, { unattended: { usd: 1 } }, job, "unattendedMonthlyUsd"],
    ["of a job by tokens", { unattendedDailyTokens: 9 }, { unattended: { tokens: 9 } }, job, "unattendedDailyTokens"],
    ["of a person does not care about that one", { unattendedDailyUsd: 1 }, { unattended: { usd: 9 } }, person, "may"],
    [
      "is held to the limit of its agent",
      { agents: { default: { dailyUsd: 1 } } },
      { "agent:default": { usd: 1 } },
      person,
      "agents.default.dailyUsd",
    ],
    [
      "is not held to that of another",
      { agents: { helper: { dailyUsd: 1 } } },
      { "agent:helper": { usd: 9 } },
      person,
      "may",
    ],
    [
      "leaves a share of its agent's limit to people",
      { agents: { default: { dailyUsd: 1 } } },
      { "agent:default": { usd: 0.8 } },
      job,
      "agents.default.dailyUsd",
    ],
    [
      "is held to the limit of its person",
      { principals: { operator: { dailyTokens: 7 } } },
      { "principal:operator": { tokens: 7 } },
      person,
      "principals.operator.dailyTokens",
    ],
    [
      "of somebody without an entry is held to everybody's",
      { principals: { "*": { dailyUsd: 1 }, "telegram:user:1": { dailyUsd: 9 } } },
      { "principal:operator": { usd: 1 } },
      person,
      "principals.*.dailyUsd",
    ],
    [
      "of somebody with an entry is not",
      { principals: { "*": { dailyUsd: 1 }, operator: { dailyUsd: 9 } } },
      { "principal:operator": { usd: 1 } },
      person,
      "may",
    ],
    [
      "is held to the limit of its origin, and may use all of it",
      { origins: { cron: { dailyUsd: 1 } } },
      { "origin:cron": { usd: 1 } },
      job,
      "origins.cron.dailyUsd",
    ],
    ["may use up to that", { origins: { cron: { dailyUsd: 1 } } }, { "origin:cron": { usd: 0.9 } }, job, "may"],
    [
      "of a name that every object has is nobody special",
      { dailyUsd: 1 },
      {},
      { ...person, principal: "toString" as Principal },
      "may",
    ],
  ] as readonly (readonly [string, Partial<BudgetRules>, SpentTable, BudgetWork, string])[]) {
    test(name, () => {
      const decision = decideBudget(work, { ...FREE, ...rules }, spentOf(spent));
      expect(decision.may ? "may" : decision.reached.limit).toBe(expected);
    });
  }
});
