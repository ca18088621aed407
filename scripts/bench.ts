/**
 * `npm run bench`: measures what has a budget and says which are met. The table on stderr, one JSON object on stdout. `--only NAME` runs one
 * scenario (several with commas; `years`, `nodes` and `views` only so), `--quick` a fifth of the samples, `--times N` everything N times with the median of each line.
 */
import { join } from "node:path";
import { accepts } from "./bench/accepts.ts";
import { dmFlood } from "./bench/dm-flood.ts";
import { hangingChannels } from "./bench/hanging-channels.ts";
import { idleSessions } from "./bench/idle-sessions.ts";
import { jobs } from "./bench/jobs.ts";
import { load } from "./bench/load.ts";
import { overload } from "./bench/overload.ts";
import { consoleWeight } from "./bench/console.ts";
import { mcpServers } from "./bench/mcp-servers.ts";
import { manyTools } from "./bench/many-tools.ts";
import { modelDoor } from "./bench/model-door.ts";
import { type Line, render, type Scenario, withinBudget } from "./bench/parts/line.ts";
import { median } from "./bench/parts/stats.ts";
import { nodes } from "./bench/nodes.ts";
import { openAiDoors } from "./bench/openai-doors.ts";
import { longSession } from "./bench/long-session.ts";
import { people } from "./bench/people.ts";
import { slowTurns } from "./bench/slow-turns.ts";
import { tree } from "./bench/tree.ts";
import { principals } from "./bench/principals.ts";
import { ownCost } from "./bench/process.ts";
import { sandbox } from "./bench/sandbox.ts";
import { sockets } from "./bench/sockets.ts";
import { switched } from "./bench/switched.ts";
import { switching } from "./bench/switching.ts";
import { throughput } from "./bench/throughput.ts";
import { toolCalls } from "./bench/tool-calls.ts";
import { turns } from "./bench/turns.ts";
import { views } from "./bench/views.ts";
import { years } from "./bench/years.ts";
import { ensureDist } from "./bundle.ts";
import { scriptOptions } from "./script-options.ts";

const QUICK = 0.2;
/** They take minutes by themselves, and run when they are asked for by name. */
const BY_NAME: readonly Scenario[] = [years, nodes, views];
const SCENARIOS: readonly Scenario[] = [
  ...[
    turns,
    openAiDoors,
    toolCalls,
    manyTools,
    mcpServers,
    modelDoor,
    switched,
    throughput,
    switching,
    accepts,
    ownCost,
    sandbox,
    consoleWeight,
  ],
  ...[people, slowTurns, tree, longSession],
  ...[load, principals, dmFlood, overload, idleSessions, jobs, sockets, hangingChannels],
];

const values = scriptOptions(
  "scripts/bench.ts",
  {
    quick: { type: "boolean", default: false },
    only: { type: "string" },
    times: { type: "string", default: "1" },
  },
  ["times"],
);
const wanted = values.only?.split(",");
const chosen = wanted ? [...SCENARIOS, ...BY_NAME].filter(({ name }) => wanted.includes(name)) : SCENARIOS;
if (chosen.length === 0) {
  console.error(
    `There is no such scenario. Choose from: ${[...SCENARIOS, ...BY_NAME].map(({ name }) => name).join(", ")}.`,
  );
  process.exit(1);
}
await ensureDist(join(import.meta.dir, ".."));
const tables: Record<string, readonly Line[]> = {};
for (const scenario of chosen) {
  tables[scenario.name] = await repeated(scenario, values.quick ? QUICK : 1, Number(values.times));
  console.error(`${render(tables[scenario.name] ?? [])}\n`);
}
const missed = Object.values(tables)
  .flat()
  .filter((line) => !withinBudget(line))
  .map(({ what }) => what.trim());
console.error(missed.length === 0 ? "every budget is met" : `missed: ${missed.join("; ")}`);
console.log(JSON.stringify({ scenarios: tables, missed }, null, 2));

/** Machines are noisy: of several runs each line shows its median. */
async function repeated(scenario: Scenario, scale: number, times: number): Promise<readonly Line[]> {
  const runs: (readonly Line[])[] = [];
  for (let run = 0; run < times; run++) runs.push(await scenario.measure(scale));
  return (runs[0] ?? []).map((line, at) => ({
    ...line,
    value: median(runs.map((run) => run[at]?.value ?? line.value)),
  }));
}
