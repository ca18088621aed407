/** `npm run soak -- --minutes N`: uses a real gateway for so long and says whether memory, descriptors, files and the database stay flat. Ends with 1 if not. */
import { ensureDist } from "../../scripts/bundle.ts";
import { runSoak } from "./run.ts";
import { scriptOptions } from "../../scripts/script-options.ts";

const values = scriptOptions("verification/soak/soak.ts", { minutes: { type: "string", default: "20" } }, ["minutes"]);

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
