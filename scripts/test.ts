/**
 * `npm test`: runs every test file, some processes at a time, and closes with one line, `N passed, N failed`. The numbers are Bun's own; a run
 * that ended badly never says "0 failed", and a run without any test is a failure. With arguments it is `bun test` with those arguments.
 * `--store postgres` runs the tests of a store on Postgres, those of the folders and files that follow, or all. `--costs` runs each file, of the
 * folders and files that follow or of all, in a process of its own, and names the costliest.
 */
import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { variableFor } from "../src/testing/postgres/database.ts";
import { ENGINE_VARIABLE } from "../src/testing/postgres/home-database.ts";
import { startPostgres } from "../src/testing/postgres/server.ts";
import { GATEWAY_VARIABLE } from "../src/testing/whole/gateway-process.ts";
import { ensureDist } from "./bundle.ts";
import { type Batch, batchesOf, singly } from "./test/batches.ts";
import { ensureCompiledGateway } from "./test/compiled-gateway.ts";
import { ensureCompiledPi } from "./test/compiled-pi.ts";
import { costTable, type FileCost, openCostMeter } from "./test/costs.ts";
import { needPostgres, postgresTests } from "./test/postgres-tests.ts";
import { type CoreTimes, coreTimes, restedPercent } from "./test/rest.ts";
import { runAll } from "./test/run-all.ts";
import { type BatchLimits, type BatchResult, type BatchWorld, needsIsolation, runBatch } from "./test/run-batch.ts";
import { SQLITE_ONLY } from "./test/sqlite-only.ts";
import { closingLine, sumOf, type Totals } from "./test/totals.ts";

const LIMITS: BatchLimits = { testMs: 120_000, silentMs: 300_000, wholeMs: 900_000, graceMs: 5_000 };
/** Much of the time is spent waiting for processes, disks and timers, so five at a time fit two cores well. */
const AT_ONCE = 5;
const FOLDERS = ["src", "test", "verification", "bridge", "console", "examples"];

/** With one Postgres server for all processes. It ends with this process, whatever ends this process. */
async function testEverything(world: BatchWorld, plan: RunPlan): Promise<number> {
  const { env } = world;
  const postgres = env.PI_TEST_POSTGRES ? { url: env.PI_TEST_POSTGRES } : await startPostgres();
  const { totals, unsteady } = await testAll(
    { ...world, env: { ...env, PI_TEST_POSTGRES: variableFor(postgres) } },
    plan,
  );
  if (typeof postgres === "string") console.log(`Tests with Postgres were SKIPPED: ${postgres}`);
  else if (Symbol.asyncDispose in postgres) await postgres[Symbol.asyncDispose]();
  console.log(`\n${closingLine(totals, unsteady.length)}`);
  return totals.failed > 0 ? 1 : 0;
}

/** Without a server there is nothing to try, and that is a failure. */
async function testOnPostgres(world: BatchWorld, paths: readonly string[]): Promise<number> {
  const { files, names, leftOut } = postgresTests(world.root, everyFile(world.root), SQLITE_ONLY);
  for (const line of leftOut) console.log(line);
  const chosen = files.filter((file) => isChosen(paths, file));
  const onPostgres = { ...world, env: { ...world.env, [ENGINE_VARIABLE]: "postgres" }, names };
  return testEverything(onPostgres, together(world.root, chosen));
}

async function countCosts(world: BatchWorld, paths: readonly string[]): Promise<number> {
  const files = everyFile(world.root).filter((file) => isChosen(paths, file));
  const costs: FileCost[] = [];
  const addCost = (batch: Batch, result: BatchResult): void => {
    report(batch, result);
    costs.push({ file: batch.name, processorMs: result.processorMs });
  };
  using meter = openCostMeter();
  const code = await testEverything(meter ? { ...world, meter } : world, { batches: singly(files), report: addCost });
  console.log(`\nThe costliest files, in seconds of processors:\n${costTable(costs).join("\n")}`);
  if (!meter) console.log("Killed and detached processes are NOT counted: no control group can be made here.");
  return code;
}

/** No path means every file. */
function isChosen(paths: readonly string[], file: string): boolean {
  return paths.length === 0 || paths.some((path) => isIn(path, file));
}

function isIn(path: string, file: string): boolean {
  return file === path || file.startsWith(`${path.replace(/\/$/, "")}/`);
}

function everyFile(root: string): readonly string[] {
  return [...new Bun.Glob(`{${FOLDERS.join(",")}}/**/*.test.{ts,tsx}`).scanSync(root)];
}

interface RunPlan {
  readonly batches: readonly Batch[];
  report(batch: Batch, result: BatchResult): void;
}

function together(root: string, files: readonly string[]): RunPlan {
  return { batches: batchesOf(files, (file) => needsIsolation(root, file)), report };
}

async function testAll(
  world: BatchWorld,
  { batches, report: tell }: RunPlan,
): Promise<{ readonly totals: Totals; readonly unsteady: readonly string[] }> {
  const began = performance.now();
  const before = coreTimes();
  const run = (batch: Batch): Promise<BatchResult> => runBatch(world, batch.files, LIMITS);
  const { results, again, unsteady } = await runAll(batches, { atOnce: AT_ONCE, run, report: tell });
  const totals = sumOf(results.map((one) => one.totals));
  const count = batches.flatMap(({ files }) => files).length;
  const busyMs = results.reduce((sum, one) => sum + one.processorMs, 0);
  console.log(
    `\nRan ${count} files in ${seconds(performance.now() - began)} s, with ${seconds(busyMs)} s of processors${rest(before)}.`,
  );
  if (again.length > 0) console.log(`Run again, because their process stopped answering: ${again.join(", ")}.`);
  for (const test of unsteady) console.log(`UNSTEADY: it failed beside others and passed alone. ${test}`);
  return { totals, unsteady };
}

function rest(before: CoreTimes): string {
  const rested = restedPercent(before, coreTimes());
  return rested === null ? "" : `, which rested ${rested.toFixed(1)} % of the time`;
}

/** One line for what is well. What is not is shown whole. */
function report({ name }: Batch, { totals, said, ms, processorMs, stuck }: BatchResult): void {
  const outcome = stuck ? "STUCK" : totals.failed > 0 ? "FAILED" : "ok";
  if (outcome !== "ok") console.log(`\n${said.trim()}\n`);
  const counts = totals.failed > 0 || totals.skipped > 0 ? closingLine(totals) : `${totals.passed} passed`;
  console.log(
    `${outcome.padEnd(6)} ${seconds(ms).padStart(5)} s, ${seconds(processorMs).padStart(5)} s busy  ${name}: ${counts}`,
  );
}

function seconds(ms: number): string {
  return (ms / 1_000).toFixed(1);
}

/** With one Postgres server for all files, if there are several that need one: each would start its own, and a killed one would leave it behind. */
async function testSome({ root, env }: BatchWorld, args: readonly string[]): Promise<number> {
  const paths = args.filter((arg) => !arg.startsWith("-")).map((arg) => arg.replace(/^\.\//, ""));
  const files = everyFile(root).filter((file) => isChosen(paths, file));
  if (env.PI_TEST_POSTGRES || files.length < 2 || !needPostgres(root, files)) return runBun({ root, env }, args);
  const postgres = await startPostgres();
  const code = await runBun({ root, env: { ...env, PI_TEST_POSTGRES: variableFor(postgres) } }, args);
  if (typeof postgres !== "string") await postgres[Symbol.asyncDispose]();
  return code;
}

async function runBun({ root, env }: BatchWorld, args: readonly string[]): Promise<number> {
  const chosen = args.some((arg) => !arg.startsWith("-")) ? [] : FOLDERS.map((folder) => `./${folder}`);
  const command = [process.execPath, "--no-env-file", "test", `--timeout=${LIMITS.testMs}`, "--isolate"];
  const run = Bun.spawn([...command, ...chosen, ...args], { cwd: root, stdio: ["ignore", "inherit", "inherit"], env });
  return run.exited;
}

if (import.meta.main) {
  const root = dirname(import.meta.dir);
  await ensureDist(root);
  const cache = join(root, "node_modules/.cache/pi-gateway/bun"); // shared by every gateway and agent the tests start
  mkdirSync(cache, { recursive: true });
  const args = process.argv.slice(2);
  const areMany = args.length === 0 || args[0] === "--costs" || args[0] === "--store"; // for a few, compiling takes longer than it saves
  const gateway = areMany ? { [GATEWAY_VARIABLE]: await ensureCompiledGateway(root) } : {};
  const compiled = { PI_GATEWAY_PI: await ensureCompiledPi(root), ...gateway };
  const world = { root, env: { ...process.env, BUN_RUNTIME_TRANSPILER_CACHE_PATH: cache, ...compiled } };
  if (args[0] === "--store" && args[1] === "postgres") process.exit(await testOnPostgres(world, args.slice(2)));
  if (args[0] === "--costs") process.exit(await countCosts(world, args.slice(1)));
  const everything = (): Promise<number> => testEverything(world, together(root, everyFile(root)));
  process.exit(args.length > 0 ? await testSome(world, args) : await everything());
}
