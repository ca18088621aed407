/**
 * `npm run sim`: plays seeds of the simulated gateway and says which promises were broken. `--seeds N` plays N of them, beginning with
 * `--seed S`, and shows how far it is; `--seed S` alone plays that one and shows the end of its trace. `--processes N` shares them out,
 * one for each core unless told otherwise. `--pool` plays them with the shipped pool,
 * whose processes are played, instead of agents without one. `--store postgres` plays them on a real Postgres server: choices are the same again, the order in
 * which the server answers is not. `--mutants` puts known bugs into a copy, one by one, and fails when the simulation does not
 * notice one; `--only delivery/` tries those whose file or sentence fits this regular expression.
 */
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { copyProject, type ProjectCopy } from "../mutants/project-copy.ts";
import type { SimulatedBug } from "../mutants/seeded-bug.ts";
import { SIMULATED_BUGS } from "../mutants/simulation/simulated-bugs.ts";
import { startPostgres } from "../../src/testing/postgres/server.ts";
import type { WorldOptions } from "./world.ts";
import { type Played, playSeeds, playToFirstFailure, type Seeds } from "./seeds.ts";
import { scriptOptions } from "../../scripts/script-options.ts";

const values = scriptOptions(
  "verification/sim/sim.ts",
  {
    seeds: { type: "string" },
    seed: { type: "string" },
    processes: { type: "string", default: String(availableParallelism()) },
    pool: { type: "boolean", default: false },
    store: { type: "string", default: "sqlite" },
    mutants: { type: "boolean", default: false },
    only: { type: "string", default: "" },
    "stop-at-first": { type: "boolean", default: false },
  },
  ["seeds", "seed", "processes"],
);

const isOnPostgres = values.store === "postgres";
const DEFAULT_SEEDS = 300;
const MUTANT_SEEDS = 200;
const MUTANT_MS = 120_000;
const PROGRESS_EVERY_MS = 5_000;

async function play(seeds: Seeds): Promise<number> {
  const startedAt = performance.now();
  const seconds = (): number => (performance.now() - startedAt) / 1_000;
  if (values["stop-at-first"]) {
    const { failed } = await playToFirstFailure(seeds);
    for (const { seed, broken } of failed) console.log(`seed ${seed}: ${broken[0]}`);
    return failed.length === 0 ? 0 : 1;
  }
  let saidAt = 0;
  let reported = 0;
  const { played, failed, sums } = await playSeeds(seeds, Number(values.processes), (so) => {
    for (const one of so.failed.slice(reported)) report(one);
    reported = so.failed.length;
    if (seconds() * 1_000 - saidAt < PROGRESS_EVERY_MS) return;
    saidAt = seconds() * 1_000;
    console.error(progress(so, seeds, seconds()));
  });
  const rate = `${Math.round(seconds())} s, ${Math.round(played / seconds())} seeds/s`;
  console.log(`${played} seeds from ${seeds.first}, ${failed.length} failed, ${rate}: ${JSON.stringify(sums)}`);
  return failed.length === 0 ? 0 : 1;
}

/** One server for all processes, which learn of it by a variable. */
async function playOnPostgres(seeds: Seeds): Promise<number> {
  const server = await startPostgres();
  if (typeof server === "string") throw new Error(`There is no Postgres on this machine: ${server}`);
  process.env.PI_TEST_POSTGRES = server.url;
  const code = await play(seeds);
  await server[Symbol.asyncDispose]();
  return code;
}

function progress({ played, failed }: Played, { count }: Seeds, seconds: number): string {
  const perSecond = played / seconds;
  const left = Math.round((count - played) / perSecond);
  return `${played} of ${count} seeds, ${failed.length} failed, ${Math.round(perSecond)} seeds/s, about ${left} s left`;
}

function report({ seed, options, broken, trace }: Played["failed"][number]): void {
  console.log(`seed ${seed}: ${broken[0]}`);
  for (const more of broken.slice(1)) console.log(`  also ${more}`);
  console.log(`  options ${JSON.stringify(options)}`);
  for (const line of trace) console.log(`  ${line}`);
  console.log(
    `  again: npm run sim -- --seed ${seed}${values.pool ? " --pool" : ""}${isOnPostgres ? " --store postgres" : ""}`,
  );
}

async function playMutants(root: string): Promise<number> {
  const words = new RegExp(values.only, "i");
  const bugs = SIMULATED_BUGS.filter(({ pool = false }) => pool || !values.pool).filter(({ file, what }) =>
    words.test(`${file} ${what}`),
  );
  if (bugs.length === 0) throw new Error("no seeded bug of the simulation has these words");
  await using copy = await copyProject(root);
  let missed = 0;
  for (const bug of bugs) {
    const caught = await copy.tryBug(bug, () => playBug(copy, bug));
    if (!caught) missed++;
    console.log(`${caught ? "caught" : "MISSED"}  ${bug.what}${caught ? ` (${caught})` : ""}`);
  }
  console.log(`${bugs.length} bugs, ${missed} missed`);
  return missed === 0 ? 0 : 1;
}

/** How the simulation in the copy noticed its bug; null when it did not. */
async function playBug(copy: ProjectCopy, { seed = 1, pool }: SimulatedBug): Promise<string | null> {
  const seeds = ["--seed", String(seed), "--seeds", String(MUTANT_SEEDS), ...(pool ? ["--pool"] : [])];
  const child = Bun.spawn([process.execPath, "--no-env-file", "verification/sim/sim.ts", ...seeds, "--stop-at-first"], {
    cwd: copy.path,
    stdio: ["ignore", "pipe", "pipe"],
    timeout: MUTANT_MS,
  });
  const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  if ((await child.exited) === 0) return null;
  return out.split("\n")[0] || err.split("\n").find((line) => line.startsWith("error")) || "it does not end";
}

const root = join(import.meta.dir, "../..");
const first = Number(values.seed ?? 1);
const count = Number(values.seeds ?? (values.seed === undefined ? DEFAULT_SEEDS : 1));
if (!["sqlite", "postgres"].includes(values.store)) throw new Error("--store is sqlite or postgres");
const about: WorldOptions = { shippedPool: values.pool, store: isOnPostgres ? "postgres" : "sqlite" };
process.exit(
  values.mutants ? await playMutants(root) : await (isOnPostgres ? playOnPostgres : play)({ first, count, about }),
);
