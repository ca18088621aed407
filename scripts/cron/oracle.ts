/** `npm run cron-oracle -- --cases 5000`: random cron expressions around clock changes, against a second way to know when they fire. */
import { compareCron } from "../../src/testing/automation/cron-cases.ts";
import { createChance } from "../../src/testing/chance.ts";
import { scriptOptions } from "../script-options.ts";

const values = scriptOptions(
  "scripts/cron/oracle.ts",
  { cases: { type: "string", default: "5000" }, seed: { type: "string", default: "1" } },
  ["cases", "seed"],
);
const SHOWN = 20;

const cases = Number(values.cases);
const startedAt = performance.now();
const { differences, moments } = compareCron(createChance(Number(values.seed)), cases);
for (const difference of differences.slice(0, SHOWN)) console.log(difference);
const seconds = Math.round((performance.now() - startedAt) / 100) / 10;
console.log(
  `${cases} cases from seed ${values.seed}, ${moments} moments, ${differences.length} differences, ${seconds} s`,
);
process.exitCode = differences.length === 0 ? 0 : 1;
