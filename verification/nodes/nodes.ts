/**
 * `npm run nodes -- --faults N --seed S`: several gateways on one Postgres database under faults. `--unfenced` is the negative control: it has to
 * end with faults found. `--only "kill"` draws from some kinds alone.
 */
import { parseArgs } from "node:util";
import { ensureDist } from "../../scripts/bundle.ts";
import { FAULTS, type Fault } from "./faults.ts";
import { runNodes } from "./run.ts";
import { isClean } from "./verdict.ts";

const { values } = parseArgs({
  options: {
    nodes: { type: "string", default: "3" },
    faults: { type: "string", default: "100" },
    sessions: { type: "string", default: "100" },
    messages: { type: "string", default: "20" },
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
    only: { type: "string", multiple: true },
    unfenced: { type: "boolean", default: false },
  },
});

const unknown = values.only?.find((name) => !FAULTS.some((fault) => fault === name));
if (unknown !== undefined) throw new Error(`There is no fault "${unknown}". Known are: ${FAULTS.join("; ")}.`);
await ensureDist(`${import.meta.dir}/../..`);
const seed = Number(values.seed);
console.error(`seed ${seed}`);
const report = await runNodes({
  nodes: Number(values.nodes),
  faults: Number(values.faults),
  sessions: Number(values.sessions),
  messages: Number(values.messages),
  seed,
  unfenced: values.unfenced,
  ...(values.only ? { only: values.only as readonly Fault[] } : {}),
  onLine: (line) => console.error(line),
});
console.log(JSON.stringify({ ...report, seed }, null, 2));
if (!isClean(report)) process.exitCode = 1;
