/** `npm run chaos`: kills the gateway and its agents at random points of a turn and counts what was lost, doubled or out of order. */
import { parseArgs } from "node:util";
import { runChaos } from "../src/testing/whole/chaos.ts";
import { ensureDist } from "./bundle.ts";

const { values } = parseArgs({
  options: {
    gateway: { type: "string", default: "100" },
    agent: { type: "string", default: "100" },
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
  },
});

await ensureDist(`${import.meta.dir}/..`);
const seed = Number(values.seed);
console.error(`seed ${seed}`);
const started = performance.now();
const report = await runChaos({
  gatewayKills: Number(values.gateway),
  agentKills: Number(values.agent),
  seed,
  onRound: (line) => console.error(line),
});
console.log(JSON.stringify({ ...report, seed, seconds: Math.round((performance.now() - started) / 1_000) }, null, 2));
if (report.lost.length + report.doubled.length + report.outOfOrder > 0) process.exitCode = 1;
