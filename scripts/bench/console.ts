/** What the web console weighs on its way to a browser: all JavaScript and all styles, compressed. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { atMost, type Scenario } from "./parts/line.ts";
import { round } from "./parts/stats.ts";

const DIST = join(import.meta.dir, "../../dist");

function weigh(ending: string): number {
  const { files } = JSON.parse(readFileSync(join(DIST, "console.json"), "utf8")) as {
    files: Record<string, { file: string; gzip?: string }>;
  };
  const matching = Object.values(files).filter(({ file }) => file.endsWith(ending));
  const bytes = matching.reduce((sum, { file, gzip }) => sum + readFileSync(join(DIST, gzip ?? file)).length, 0);
  return round(bytes / 1_024);
}

export const consoleWeight: Scenario = {
  name: "console",
  async measure() {
    return [
      { what: "web console, all JavaScript, gzip", value: weigh(".js"), unit: "KB", ...atMost(120) },
      { what: "web console, styles, gzip", value: weigh(".css"), unit: "KB" },
    ];
  },
};
