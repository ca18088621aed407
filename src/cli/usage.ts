/** `pi-gw usage`: what models have cost, added up by day, agent, origin, model or person. */
import { visible } from "../observe/index.ts";
import { printAnswer, queryOf } from "./ask-gateway.ts";
import { type Fields, listOf, numberOf, recordOf, textOf } from "./read-value.ts";
import type { CliWorld, CommonFlags } from "./world.ts";

export interface UsageFlags extends CommonFlags {
  readonly from?: string;
  readonly to?: string;
  readonly by?: string;
  readonly limit?: number;
}

const KEY_WIDTH = 24;

export function usage(world: CliWorld, flags: UsageFlags): Promise<number> {
  const { from, to, by, limit } = flags;
  return printAnswer(world, flags, { path: `/api/usage?${queryOf({ from, to, by, limit })}` }, (report) =>
    reportLines(report).join("\n"),
  );
}

function reportLines(report: Fields): readonly string[] {
  const items = listOf(report["items"]).map(recordOf);
  const span = `${textOf(report["from"])} to ${textOf(report["to"])} (${textOf(report["timezone"])})`;
  const limits = listOf(report["limits"]).map((limit) => limitLine(recordOf(limit)));
  if (items.length === 0) return [`Nothing was used from ${span}.`, ...limits];
  const rows = items.map((item) => line(visible(textOf(item["key"])) || "unknown", item));
  const more = textOf(report["next"]) === "" ? [] : ["There are more; --limit shows up to 200."];
  return [
    `From ${span}, by ${textOf(report["by"])}:`,
    ...rows,
    ...more,
    line("in all", recordOf(report["total"])),
    ...limits,
  ];
}

function line(key: string, sum: Fields): string {
  const count = (name: string): string => numberOf(sum[name]).toLocaleString("en-US");
  const tokens = `${count("inputTokens")} tokens in (${count("cachedTokens")} cached), ${count("outputTokens")} out`;
  return `${key.padEnd(KEY_WIDTH)}  $${numberOf(sum["costUsd"]).toFixed(4)}  ${tokens}, turns: ${count("turns")}`;
}

function limitLine(limit: Fields): string {
  const show = (amount: unknown): string =>
    textOf(limit["unit"]) === "usd" ? `$${numberOf(amount).toFixed(2)}` : numberOf(amount).toLocaleString("en-US");
  const full = numberOf(limit["spent"]) >= numberOf(limit["max"]) ? ", used up" : "";
  return `budget.${visible(textOf(limit["limit"]))}: ${show(limit["spent"])} of ${show(limit["max"])}${full}`;
}
