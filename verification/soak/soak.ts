/** `npm run soak -- --minutes N`: uses a real gateway for so long and says whether memory, descriptors, files and the database stay flat. Ends with 1 if not. */
import { parseArgs } from "node:util";
import { ensureDist } from "../../scripts/bundle.ts";
import { runSoak } from "./run.ts";

const { values } = parseArgs({ options: { minutes: { type: "string", default: "20" } } });

await ensureDist(`${import.meta.dir}/../..`);
const { turns, failed, minutes, findings } = await runSoak({
  minutes: Number(values.minutes),
  onSample: (sample) => console.error(JSON.stringify(sample)),
});
for (const { measure, begin, end, allowed, isFlat } of findings)
  console.log(
    `${isFlat ? "flat " : "GROWS"} ${measure.padEnd(14)} ${begin} → ${end} (${Math.round(allowed)} more would be too much)`,
  );
const flat = findings.every(({ isFlat }) => isFlat);
console.log(`${flat ? "Flat" : "NOT flat"} over ${minutes} minutes: ${turns} turns, ${failed} requests failed.`);
if (!flat || failed > 0) process.exitCode = 1;
