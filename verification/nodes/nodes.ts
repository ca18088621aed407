/**
 * `npm run nodes -- --faults N --seed S`: several gateways on one Postgres database under faults. `--unfenced` is the negative control: it has to
 * end with faults found. `--only "kill"` draws from some kinds alone, `--at-once 4` lets so many last at the same time. `--gap` and `--pause` are
 * milliseconds between two faults, and between two messages of a session; in the end it waits until everything is answered, or nothing has ended
 * for `--settle` seconds. After `--minutes` no fault begins any more. `--waiting 3` lets so few messages of a session wait that chats have
 * overflow. When something is wrong, rows, calls to the platform and logs are left in `--keep`.
 */
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ensureDist } from "../../scripts/bundle.ts";
import { FAULTS, type Fault } from "./faults.ts";
import { isCleanReport, runNodes } from "./run.ts";
import { scriptOptions } from "../../scripts/script-options.ts";

const values = scriptOptions(
  "verification/nodes/nodes.ts",
  {
    nodes: { type: "string", default: "3" },
    faults: { type: "string", default: "100" },
    minutes: { type: "string" },
    sessions: { type: "string", default: "100" },
    messages: { type: "string", default: "20" },
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
    only: { type: "string", multiple: true },
    gap: { type: "string", default: "300-3000" },
    "at-once": { type: "string", default: "3" },
    pause: { type: "string", default: "50-2500" },
    waiting: { type: "string", default: "100" },
    keep: { type: "string" },
    settle: { type: "string", default: "60" },
    unfenced: { type: "boolean", default: false },
  },
  ["nodes", "faults", "minutes", "sessions", "messages", "seed", "at-once", "waiting", "settle"],
);

/** "300-3000", in milliseconds. */
function spanOf(text: string): readonly [number, number] {
  const [low = Number.NaN, high = low] = text.split("-").map(Number);
  if (!(low <= high)) throw new Error(`"${text}" is no span of milliseconds, such as "300-3000".`);
  return [low, high];
}

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
  ...(values.minutes === undefined ? {} : { faultsForMs: Number(values.minutes) * 60_000 }),
  gapMs: spanOf(values.gap),
  atOnce: Number(values["at-once"]),
  pauseMs: spanOf(values.pause),
  maxWaiting: Number(values.waiting),
  keepIn: values.keep ?? join(tmpdir(), `pi-gw-nodes-${seed}`),
  settleMs: Number(values.settle) * 1_000,
  ...(values.only ? { only: values.only as readonly Fault[] } : {}),
  onLine: (line) => console.error(`${Math.round(performance.now() / 1_000)} s: ${line}`),
});
console.log(JSON.stringify({ ...report, seed }, null, 2));
if (!isCleanReport(report)) process.exitCode = 1;
