/**
 * `npm run chaos -- --rounds N --seed S`: kills the gateway and its agents under many clients and counts what was lost, doubled or out of
 * order. `--channels` lets people on a fake Telegram and a fake Discord join in.
 */
import { parseArgs } from "node:util";
import { runChaos } from "./run.ts";
import { isClean } from "./platforms/verdict.ts";
import { ensureDist } from "../../scripts/bundle.ts";

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "100" },
    channels: { type: "boolean", default: false },
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
  },
});

await ensureDist(`${import.meta.dir}/../..`);
const seed = Number(values.seed);
console.error(`seed ${seed}`);
const started = performance.now();
const report = await runChaos({
  rounds: Number(values.rounds),
  seed,
  channels: values.channels,
  onRound: (line) => console.error(line),
});
console.log(JSON.stringify({ ...report, seed, seconds: Math.round((performance.now() - started) / 1_000) }, null, 2));
const { lost, unheard, doubled, wrong, outOfOrder } = report;
const port = [lost, unheard, doubled, wrong, outOfOrder].every(({ length }) => length === 0);
if (!port || !Object.values(report.channels ?? {}).every(isClean)) process.exitCode = 1;
