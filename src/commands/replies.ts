/** What the commands say, from facts to sentences. Pure. */
import type { AgentSessionStats } from "../contracts/agent.ts";
import type { SessionSummary, Usage } from "../contracts/chat.ts";
import type { QueuedSession } from "../contracts/queue.ts";
import type { QueueMode } from "../contracts/session-settings.ts";
import type { LimitState } from "../contracts/budget.ts";
import type { SessionTotal } from "../contracts/store.ts";
import type { UsageSum } from "../contracts/store/usage.ts";
import type { GatewayStatus } from "../contracts/wire.ts";
import { counted } from "../kit/counted.ts";

const MAX_TITLE_CHARS = 60;
const MINUTE_MS = 60_000;
const MODE_WORDS: Readonly<Record<QueueMode, string>> = {
  collect: "what arrives during an answer is collected into the next one",
  steer: "what arrives during an answer is steered into it",
  followup: "each message gets an answer of its own",
  interrupt: "a new message interrupts the answer before it",
};

export function statusText(
  { model, pool, queue, sandbox, uptimeMs, notices }: GatewayStatus,
  session: SessionSummary | null,
  show: { readonly notices: boolean },
): string {
  const lines = [
    session?.model
      ? `Model: ${session.model}, chosen for this conversation`
      : `Model: ${model.name ?? "not known yet"}${model.demo ? " (demo)" : ""}`,
    `This conversation: ${counted(session?.messages ?? 0, "message")}, ${usage(session?.usage)}`,
    `Queue: ${queue.waiting} waiting, ${queue.running} running`,
    `Agents: ${pool.busy} busy, ${pool.idle} idle, ${pool.starting} starting, ${pool.max} at most`,
    ...(show.notices ? [sandboxText(sandbox)] : []),
    `Up for ${duration(uptimeMs)}`,
  ];
  return bullets(show.notices ? [...lines, ...notices.map((notice) => `Note: ${notice}`)] : lines);
}

function sandboxText({ setting, tier, leaks, advice }: GatewayStatus["sandbox"]): string {
  if (setting === "off") return "Sandbox: switched off (`agent.sandbox`)";
  const open = leaks.length === 0 ? "" : `. It does not hold: ${leaks.join(" ")}`;
  return `Sandbox: ${tier}${open}${advice === null ? "" : ` ${advice}`}`;
}

export function queueText({ waiting, mode, chosen }: QueuedSession): string {
  const now = waiting === 0 ? "Nothing waits here." : `${counted(waiting, "message")} waiting here.`;
  return `${now} Mode: ${mode} (${MODE_WORDS[mode]})${chosen ? ", chosen for this conversation" : ""}.`;
}

export function unknownModeText(asked: string): string {
  const lines = Object.entries(MODE_WORDS).map(([mode, words]) => `\`${mode}\`: ${words}`);
  return `"${oneLine(asked)}" is no queue mode. There are:\n${bullets([...lines, "`default`: as configured"])}`;
}

export function sessionLines(
  items: readonly SessionSummary[],
  { now, more }: { readonly now: number; readonly more: boolean },
): string {
  if (items.length === 0) return "No conversation matches.";
  const lines = items.map(
    ({ key, title, lastActivityAt }, at) =>
      `${at + 1}. ${oneLine(title)}: \`${key}\`, ${duration(now - lastActivityAt)} ago`,
  );
  return `${lines.join("\n")}${more ? "\n\nThere are more. `/sessions words` finds them." : ""}`;
}

export function contextText(stats: AgentSessionStats | null): string {
  if (stats === null || stats.contextPercent === null)
    return "How much context is in use is known after the next answer.";
  const window = stats.contextWindow === null ? "" : ` of ${thousands(stats.contextWindow)} tokens`;
  return `Context: ${stats.contextPercent.toFixed(1)}%${window}, ${counted(stats.messages, "message")}. Model: ${stats.model}.`;
}

interface UsageReport {
  readonly here: SessionSummary | null;
  readonly mine: UsedSums;
  /** Only for those who may know. */
  readonly all?: { readonly ever: SessionTotal; readonly used: UsedSums; readonly limits: readonly LimitState[] };
}

interface UsedSums {
  readonly today: UsageSum;
  readonly month: UsageSum;
}

export function usageText({ here, mine, all }: UsageReport): string {
  const own = [
    `This conversation: ${usage(here?.usage)}`,
    `You, today: ${usage(mine.today)}`,
    `You, this month: ${usage(mine.month)}`,
  ];
  if (!all) return bullets(own);
  return bullets([
    ...own,
    `Everybody, today: ${usage(all.used.today)}`,
    `Everybody, this month: ${usage(all.used.month)}`,
    `All ${counted(all.ever.sessions, "conversation")}, ever: ${usage(all.ever.usage)}`,
    ...all.limits.map(limitText),
  ]);
}

function limitText({ limit, unit, spent, max }: LimitState): string {
  const show = (amount: number): string => (unit === "usd" ? `$${amount.toFixed(2)}` : thousands(amount));
  return `Budget \`${limit}\`: ${show(spent)} of ${show(max)}${spent >= max ? ", used up" : ""}`;
}

function usage({ inputTokens, outputTokens, costUsd }: Usage = { inputTokens: 0, outputTokens: 0, costUsd: 0 }) {
  return `${thousands(inputTokens)} tokens in, ${thousands(outputTokens)} out, $${costUsd.toFixed(4)}`;
}

export function bullets(lines: readonly string[]): string {
  return lines.map((line) => `- ${line}`).join("\n");
}

export function thousands(count: number): string {
  return count < 1_000 ? String(count) : `${(count / 1_000).toFixed(1)}k`;
}

export function oneLine(title: string): string {
  const line = title.replaceAll(/\s+/g, " ").trim() || "(no title)";
  return line.length <= MAX_TITLE_CHARS ? line : `${line.slice(0, MAX_TITLE_CHARS - 1).toWellFormed()}…`;
}

export function duration(ms: number): string {
  const minutes = Math.max(0, Math.floor(ms / MINUTE_MS));
  if (minutes < 1) return "less than a minute";
  if (minutes < 60) return counted(minutes, "minute");
  if (minutes < 24 * 60) return counted(Math.floor(minutes / 60), "hour");
  return counted(Math.floor(minutes / (24 * 60)), "day");
}
