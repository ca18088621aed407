/** What is said about a limit: to the person who is refused, into the records, and to the owner. */
import type { BudgetWork } from "../contracts/budget.ts";
import { type Limit, reaches } from "./decide.ts";
import { freeAgain, type Today } from "./periods.ts";

interface MessageTime {
  readonly today: Today;
  readonly timezone: string;
}

/** `paused`: what begins by itself has stopped and people go on. `used_up`: nothing goes on that this limit is for. */
export type Level = "paused" | "used_up";

/** One sentence without numbers: what a gateway spends is its owner's business. */
export function refusalText(reached: Limit, work: BudgetWork, world: MessageTime): string {
  const whose = reached.whose === "person" ? `Your ${adjective(reached)} budget` : whoseText(reached, work);
  return `${whose} is used up; it is free again ${again(reached, world)}.`;
}

export function recordText(reached: Limit, work: BudgetWork, world: MessageTime): string {
  if (reaches(reached.spent, reached.max))
    return `${whoseText(reached, work)} is used up (${amounts(reached)}); it is free again ${again(reached, world)}.`;
  const whose = whoseText(reached, work).replace(/^The/, "the");
  return `The rest of ${whose} is for people (${amounts(reached)} spent); what begins by itself goes on ${again(reached, world)}.`;
}

export function ownerText(limit: Limit, level: Level, world: MessageTime): string {
  const key = `\`budget.${limit.limit}\``;
  const when = again(limit, world);
  const spent = `${amounts(limit)}, ${key}`;
  if (limit.whose === "unattended")
    return `Jobs, heartbeats, webhooks and delegated tasks have stopped: their ${adjective(limit)} budget is used up (${spent}). They go on ${when}. People are answered as before.`;
  if (level === "paused")
    return `Jobs, heartbeats, webhooks and delegated tasks have stopped: the rest of a ${adjective(limit)} budget is kept for people (${spent}). They go on ${when}.`;
  const remedy = isOfKey(limit)
    ? "It is the budget of a key; a program that needs more gets another key."
    : "A higher limit in the configuration holds at once.";
  return `A ${adjective(limit)} budget is used up (${spent}). What it is for is refused; it is free again ${when}. ${remedy}`;
}

/** Keys bring their budgets with them; the configuration may name one as well, and is then not the only limit. */
function isOfKey({ limit }: Pick<Limit, "limit">): boolean {
  return limit.startsWith("principals.key:");
}

function whoseText({ whose, ...reached }: Limit, { agentId, principal, origin }: BudgetWork): string {
  const period = adjective(reached);
  if (whose === "agent") return `The ${period} budget of the agent ${agentId}`;
  if (whose === "person") return `The ${period} budget of ${principal}`;
  if (whose === "origin") return `The ${period} budget for ${ORIGIN_WORDS[origin]}`;
  if (whose === "unattended") return `The ${period} budget for work that begins by itself`;
  return `The ${period} budget of this gateway`;
}

const ORIGIN_WORDS: Readonly<Record<BudgetWork["origin"], string>> = {
  chat: "direct chats",
  group: "groups",
  api: "the API",
  cron: "scheduled jobs",
  heartbeat: "heartbeats",
  webhook: "webhooks",
  delegate: "delegated tasks",
};

function adjective({ period }: Pick<Limit, "period">): string {
  return period === "day" ? "daily" : "monthly";
}

function amounts({ unit, spent, max }: Pick<Limit, "unit" | "spent" | "max">): string {
  if (unit === "usd") return `$${spent.toFixed(2)} of $${max.toFixed(2)}`;
  return `${spent.toLocaleString("en-US")} of ${max.toLocaleString("en-US")} tokens`;
}

function again({ period }: Pick<Limit, "period">, { today, timezone }: MessageTime): string {
  return freeAgain(period, today, timezone);
}
