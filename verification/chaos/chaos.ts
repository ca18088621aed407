/**
 * `npm run chaos -- --rounds N --seed S`: kills the gateway and its agents under many clients and counts what was lost, doubled or out of
 * order. `--channels` lets people on a fake Telegram and a fake Discord join in. `--store postgres` runs it on a Postgres server, which is killed too.
 */
import { variableFor } from "../../src/testing/postgres/database.ts";
import { ENGINE_VARIABLE } from "../../src/testing/postgres/home-database.ts";
import { startPostgres } from "../../src/testing/postgres/server.ts";
import { runChaos } from "./run.ts";
import { isClean } from "./platforms/verdict.ts";
import { ensureDist } from "../../scripts/bundle.ts";
import { scriptOptions } from "../../scripts/script-options.ts";

const values = scriptOptions(
  "verification/chaos/chaos.ts",
  {
    rounds: { type: "string", default: "100" },
    channels: { type: "boolean", default: false },
    store: { type: "string", default: "sqlite" },
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
  },
  ["rounds", "seed"],
);

const STORES = ["sqlite", "postgres"];
if (!STORES.includes(values.store))
  throw new Error(`There is no store "${values.store}". Known are: ${STORES.join(", ")}.`);
await ensureDist(`${import.meta.dir}/../..`);
const database = values.store === "postgres" ? await startPostgres() : null;
if (typeof database === "string") throw new Error(database);
if (database) Object.assign(process.env, { PI_TEST_POSTGRES: variableFor(database), [ENGINE_VARIABLE]: "postgres" });
const seed = Number(values.seed);
console.error(`seed ${seed}`);
const started = performance.now();
const report = await runChaos({
  rounds: Number(values.rounds),
  seed,
  channels: values.channels,
  database,
  onRound: (line) => console.error(line),
});
await database?.[Symbol.asyncDispose]();
console.log(JSON.stringify({ ...report, seed, seconds: Math.round((performance.now() - started) / 1_000) }, null, 2));
const { lost, unheard, doubled, wrong, outOfOrder } = report;
const port = [lost, unheard, doubled, wrong, outOfOrder].every(({ length }) => length === 0);
if (!port || !Object.values(report.channels ?? {}).every(isClean)) process.exitCode = 1;
