/** What the web console weighs on its way to a browser: what its first page loads, and what views and formulas load when they are needed; compressed. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { atMost, type Scenario } from "./parts/line.ts";
import { round } from "./parts/stats.ts";

const DIST = join(import.meta.dir, "../../dist");

function weigh(ending: string, which: "first" | "all"): number {
  const { files } = JSON.parse(readFileSync(join(DIST, "console.json"), "utf8")) as {
    files: Record<string, { file: string; gzip?: string }>;
  };
  const document = readFileSync(join(DIST, files["/"]?.file ?? ""), "utf8");
  const matching = Object.entries(files).filter(
    ([url, { file }]) => file.endsWith(ending) && (which === "all" || document.includes(url)),
  );
  const bytes = matching.reduce((sum, [, { file, gzip }]) => sum + readFileSync(join(DIST, gzip ?? file)).length, 0);
  return round(bytes / 1_024);
}

export const consoleWeight: Scenario = {
  name: "console",
  async measure() {
    return [
      { what: "web console, first JavaScript, gzip", value: weigh(".js", "first"), unit: "KB", ...atMost(105) },
      { what: "web console, all JavaScript, gzip", value: weigh(".js", "all"), unit: "KB" },
      { what: "web console, styles, gzip", value: weigh(".css", "first"), unit: "KB", ...atMost(15) },
    ];
  },
};
