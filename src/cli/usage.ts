/** `pi-gw usage`: what models have cost, added up by day, agent, origin, model or person. */
import { visible } from "../observe/index.ts";
import { printAnswer, queryOf } from "./ask-gateway.ts";
import { type Fields, listOf, numberOf, recordOf, textOf } from "./read-value.ts";
import { tableLines } from "./table.ts";
import type { CliWorld, CommonFlags } from "./world.ts";

export interface UsageFlags extends CommonFlags {
  readonly from?: string;
  readonly to?: string;
  readonly by?: string;
  readonly limit?: number;
}

export function usage(world: CliWorld, flags: UsageFlags): Promise<number> {
  const { from, to, by, limit } = flags;
  return printAnswer(world, flags, { path: `/api/usage?${queryOf({ from, to, by, limit })}` }, (report) =>
    reportLines(world, report).join("\n"),
  );
}

function reportLines(world: CliWorld, report: Fields): readonly string[] {
  const items = listOf(report["items"]).map(recordOf);
  const span = `${textOf(report["from"])} to ${textOf(report["to"])} (${textOf(report["timezone"])})`;
  const total = recordOf(report["total"]);
  const limits = listOf(report["limits"]).map((limit) => limitLine(recordOf(limit)));
  if (items.length === 0) return [`Nothing was used from ${span}.`, ...limits];
  const by = textOf(report["by"]);
  const rows = tableLines(
    world,
    [
      [by.toUpperCase(), (sum) => (sum === total ? "in all" : textOf(sum["key"]) || "unknown")],
      ["COST", ({ costUsd }) => `$${numberOf(costUsd).toFixed(4)}`],
      ["TOKENS IN", ({ inputTokens }) => countText(inputTokens)],
      ["CACHED", ({ cachedTokens }) => countText(cachedTokens)],
      ["TOKENS OUT", ({ outputTokens }) => countText(outputTokens)],
      ["TURNS", ({ turns }) => countText(turns)],
    ],
    [...items, total],
  );
  const more = textOf(report["next"]) === "" ? [] : ["There are more; --limit shows up to 200."];
  return [`From ${span}, by ${by}:`, ...rows, ...more, ...limits];
}

function countText(count: unknown): string {
  return numberOf(count).toLocaleString("en-US");
}

function limitLine(limit: Fields): string {
  const show = (amount: unknown): string =>
    textOf(limit["unit"]) === "usd" ? `$${numberOf(amount).toFixed(2)}` : numberOf(amount).toLocaleString("en-US");
  const full = numberOf(limit["spent"]) >= numberOf(limit["max"]) ? ", used up" : "";
  return `budget.${visible(textOf(limit["limit"]))}: ${show(limit["spent"])} of ${show(limit["max"])}${full}`;
}
