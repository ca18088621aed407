/** `npm run update-kills -- --rounds N --seed S`: updates that are killed at random moments, and what serves and what is lost after each. */
import { ensureDist } from "../../scripts/bundle.ts";
import { runUpdateKills } from "./run.ts";
import { scriptOptions } from "../../scripts/script-options.ts";

const values = scriptOptions(
  "verification/updates/update-kills.ts",
  {
    rounds: { type: "string", default: "200" },
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
    calm: { type: "boolean", default: false },
  },
  ["rounds", "seed"],
);

await ensureDist(`${import.meta.dir}/../..`);
const seed = Number(values.seed);
console.error(`seed ${seed}`);
const startedAt = performance.now();
const report = await runUpdateKills({
  rounds: Number(values.rounds),
  seed,
  calm: values.calm,
  onRound: (line) => console.error(line),
});
console.log(JSON.stringify({ ...report, seed, seconds: Math.round((performance.now() - startedAt) / 1_000) }, null, 2));
const { lost, doubled, problems } = report;
if ([lost, doubled, problems].some(({ length }) => length > 0)) process.exitCode = 1;
