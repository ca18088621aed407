/** `npm run bench`: measures what has a budget, all in one run, and says where a budget is missed. JSON on stdout, the table on stderr. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { type AcceptFigures, measureAccepts } from "./bench/accepts.ts";
import { measureProcess, type ProcessFigures } from "./bench/process.ts";
import { round, type Spread } from "./bench/stats.ts";
import { type ManyToolsFigures, measureHttpToolCalls, measureManyTools, measureToolCalls } from "./bench/tool-calls.ts";
import { measureTurns, type TurnFigures } from "./bench/turns.ts";
import { ensureDist } from "./bundle.ts";

interface Figures {
  readonly turn: TurnFigures;
  readonly toolCallMs: Spread;
  readonly httpToolCallMs: Spread;
  readonly manyTools: ManyToolsFigures;
  readonly accepts: AcceptFigures;
  readonly process: ProcessFigures;
  readonly page: { readonly jsGzipKb: number; readonly cssGzipKb: number };
}

interface Line {
  readonly what: string;
  readonly value: number;
  readonly unit: string;
  readonly budget?: { readonly limit: number; readonly sense: "at most" | "at least" };
}

const { values } = parseArgs({ options: { quick: { type: "boolean", default: false } } });
const root = join(import.meta.dir, "..");
await ensureDist(root);
const scale = values.quick ? 0.2 : 1;
const figures: Figures = {
  turn: await measureTurns(Math.round(300 * scale)),
  toolCallMs: await measureToolCalls(Math.round(300 * scale)),
  httpToolCallMs: await measureHttpToolCalls(Math.round(300 * scale)),
  manyTools: await measureManyTools(),
  accepts: await measureAccepts(Math.round(10 * scale)),
  process: await measureProcess(Math.round(15 * scale)),
  page: pageWeight(),
};
const table = lines(figures);
const missed = table.filter((line) => !withinBudget(line)).map(({ what }) => what);
console.error(render(table));
console.log(JSON.stringify({ ...figures, missed }, null, 2));

function pageWeight(): Figures["page"] {
  const { files } = JSON.parse(readFileSync(join(root, "dist/console.json"), "utf8")) as {
    files: Record<string, { file: string; gzip?: string }>;
  };
  const weigh = (ending: string): number => {
    const matching = Object.values(files).filter(({ file }) => file.endsWith(ending));
    return round(
      matching.reduce((sum, { file, gzip }) => sum + readFileSync(join(root, "dist", gzip ?? file)).length, 0) / 1_024,
    );
  };
  return { jsGzipKb: weigh(".js"), cssGzipKb: weigh(".css") };
}

function lines({ turn, toolCallMs, httpToolCallMs, manyTools, accepts, process, page }: Figures): Line[] {
  const atMost = (limit: number) => ({ limit, sense: "at most" as const });
  const atLeast = (limit: number) => ({ limit, sense: "at least" as const });
  return [
    { what: "turn, bare pi, p50", value: turn.bareMs.p50, unit: "ms" },
    { what: "turn, bare pi, p99", value: turn.bareMs.p99, unit: "ms" },
    { what: "turn, through the gateway, p50", value: turn.gatewayMs.p50, unit: "ms" },
    { what: "turn, through the gateway, p99", value: turn.gatewayMs.p99, unit: "ms" },
    { what: "added by the gateway, p50", value: turn.addedMs.p50, unit: "ms", budget: atMost(3) },
    { what: "added by the gateway, p99", value: turn.addedMs.p99, unit: "ms", budget: atMost(15) },
    { what: "tool call over the pipe, p50", value: toolCallMs.p50, unit: "ms", budget: atMost(0.5) },
    { what: "tool call over the pipe, p99", value: toolCallMs.p99, unit: "ms", budget: atMost(3) },
    { what: "tool call over HTTP, p50", value: httpToolCallMs.p50, unit: "ms", budget: atMost(1) },
    { what: "500 tools, at start", value: manyTools.registerMs, unit: "ms", budget: atMost(300) },
    { what: "500 tools, per turn", value: manyTools.perTurnMs, unit: "ms", budget: atMost(5) },
    { what: "durable accepts, one by one", value: accepts.oneByOne.storePerSecond, unit: "/s" },
    { what: "  as a share of raw SQLite", value: accepts.oneByOne.ratio, unit: "x", budget: atLeast(0.8) },
    { what: "durable accepts, batches of 50", value: accepts.batchesOf50.storePerSecond, unit: "/s" },
    { what: "  as a share of raw SQLite ", value: accepts.batchesOf50.ratio, unit: "x", budget: atLeast(0.8) },
    { what: "start to /health", value: process.startToHealthMs, unit: "ms", budget: atMost(200) },
    { what: "  a bare Bun server", value: process.bareServerToHealthMs, unit: "ms" },
    { what: "CLI command (status)", value: process.cliMs, unit: "ms", budget: atMost(100) },
    { what: "memory at rest, without agents", value: process.idleRssMb, unit: "MB", budget: atMost(70) },
    { what: "  a bare Bun server ", value: process.bareServerRssMb, unit: "MB" },
    { what: "page, all JavaScript, gzip", value: page.jsGzipKb, unit: "KB", budget: atMost(120) },
    { what: "page, styles, gzip", value: page.cssGzipKb, unit: "KB" },
  ];
}

function withinBudget({ value, budget }: Line): boolean {
  if (!budget) return true;
  return budget.sense === "at most" ? value <= budget.limit : value >= budget.limit;
}

function render(table: readonly Line[]): string {
  const width = Math.max(...table.map(({ what }) => what.length));
  return table
    .map((line) => {
      const budget = line.budget ? `${line.budget.sense} ${line.budget.limit} ${line.unit}` : "";
      const verdict = line.budget ? (withinBudget(line) ? "ok" : "MISSED") : "";
      return `${line.what.padEnd(width)}  ${`${line.value} ${line.unit}`.padStart(12)}  ${budget.padEnd(18)} ${verdict}`.trimEnd();
    })
    .join("\n");
}
