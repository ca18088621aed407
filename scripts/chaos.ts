/** `npm run chaos -- --rounds N --seed S`: kills the gateway and its agents under many clients and counts what was lost, doubled or out of order. */
import { parseArgs } from "node:util";
import { runChaos } from "../src/testing/whole/chaos.ts";
import { ensureDist } from "./bundle.ts";

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "100" },
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
  },
});

await ensureDist(`${import.meta.dir}/..`);
const seed = Number(values.seed);
console.error(`seed ${seed}`);
const started = performance.now();
const report = await runChaos({ rounds: Number(values.rounds), seed, onRound: (line) => console.error(line) });
console.log(JSON.stringify({ ...report, seed, seconds: Math.round((performance.now() - started) / 1_000) }, null, 2));
const { lost, unheard, doubled, wrong, outOfOrder } = report;
if ([lost, unheard, doubled, wrong, outOfOrder].some(({ length }) => length > 0)) process.exitCode = 1;
