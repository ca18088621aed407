/**
 * `npm run queue-engines`: the same load through claims of our own, through pg-boss with `key_strict_fifo`, and through pg-boss without FIFO, which is the negative
 * control and has to go red. 100 sessions with 20 jobs each, sent session by session, three worker processes; one is killed, and one session begins with a job that can
 * never be done. `--engine "own claims"` measures one of them; `--sessions N`. pg-boss is installed into a temporary folder by its name: the product does not need it.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createTestDatabase } from "../../src/testing/postgres/database.ts";
import { startPostgres } from "../../src/testing/postgres/server.ts";
import { tempHome } from "../../src/testing/temp-home.ts";
import { spread } from "../../scripts/bench/parts/stats.ts";
import { makeBossQueue } from "./boss-jobs.ts";
import { ENGINE_NAMES, type EngineName, type JobEngine } from "./job-engine.ts";
import { type Judgement, judge, type Killed, type RunLine } from "./judge.ts";
import { makeOwnTables } from "./own-claims.ts";
import { openEngine, type WorkerOrder } from "./worker.ts";
import { scriptOptions } from "../../scripts/script-options.ts";

const values = scriptOptions(
  "verification/queue-engines/measure.ts",
  { engine: { type: "string" }, sessions: { type: "string", default: "100" } },
  ["sessions"],
);

const BOSS = "pg-boss@12.35.0";
const DURABLE = { fsync: "on", full_page_writes: "on", synchronous_commit: "on" };
const WORKERS = 3;
const SENDERS = 4;
const PER_SESSION = 20;
const PER_SESSION_POISONED = 5;
const IDLE_JOBS = 200;
const TAKES = [1, 10] as const;
const SLOTS = 10;
const LOOK_MS = 100;
const LIMIT_MS = 40_000;
const POISON_LIMIT_MS = 15_000;

type Sent = ReadonlyMap<string, number>;

interface Stage extends AsyncDisposable {
  readonly sender: JobEngine;
  startWorkers(count: number): Promise<void>;
  /** kill -9 of the first worker. */
  kill(): Killed;
  lines(): readonly RunLine[];
}

/** A new database with the tables of the engine, and nobody who works yet. */
async function openStage(engine: EngineName, bossFolder: string, poisoned: WorkerOrder["poisoned"]): Promise<Stage> {
  const all = new AsyncDisposableStack();
  const { url } = all.use(await createTestDatabase());
  const folder = all.use(await tempHome());
  if (engine === "own claims") await makeOwnTables(url);
  else await makeBossQueue(bossFolder, url, engine === "pg-boss" ? "key_strict_fifo" : "standard");
  const sender = all.use(await openEngine({ engine, bossFolder }, { url, isWorker: false, wake: () => undefined }));
  const workers: { readonly child: Bun.Subprocess; readonly file: string }[] = [];
  all.defer(async () => {
    for (const { child } of workers) child.kill("SIGKILL");
    await Promise.all(workers.map(({ child }) => child.exited));
  });
  const startOne = async (): Promise<void> => {
    const file = join(folder.path, `worker-${workers.length}.jsonl`);
    writeFileSync(file, "");
    const order: WorkerOrder = { engine, url, bossFolder, file, slots: SLOTS, takes: TAKES, poisoned };
    const script = join(import.meta.dir, "worker.ts");
    const child = Bun.spawn([process.execPath, "--no-env-file", script, JSON.stringify(order)], {
      stdio: ["pipe", "pipe", "inherit"],
    });
    workers.push({ child, file });
    for await (const said of child.stdout) if (Buffer.from(said).includes("ready")) break;
  };
  return {
    sender,
    async startWorkers(count) {
      await Promise.all(Array.from({ length: count }, startOne));
    },
    kill() {
      const [first] = workers;
      if (!first) throw new Error("no worker has been started");
      first.child.kill("SIGKILL");
      return { worker: first.child.pid, at: performance.timeOrigin + performance.now() };
    },
    lines: () => workers.flatMap(({ file }) => linesOf(file)),
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
}

/** The last line may be a half one, of a worker that was killed. */
function linesOf(file: string): readonly RunLine[] {
  return readFileSync(file, "utf8")
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line) as RunLine);
}

/** Session by session: jobs that stand beside each other are those of one key, so an engine without FIFO shows it. */
async function sendAll(
  sender: JobEngine,
  sessions: number,
  each: number,
): Promise<{ readonly sent: Sent; readonly perSecond: number }> {
  const sent = new Map(Array.from({ length: sessions }, (_, at) => [`session ${at}`, each]));
  const keys = [...sent.keys()];
  const from = performance.now();
  const sendSome = async (): Promise<void> => {
    for (let key = keys.shift(); key !== undefined; key = keys.shift())
      for (let number = 0; number < each; number++) await sender.send(key, number);
  };
  await Promise.all(Array.from({ length: SENDERS }, sendSome));
  return { sent, perSecond: (sessions * each) / ((performance.now() - from) / 1_000) };
}

const countedIn = (lines: readonly RunLine[]): number => lines.filter(({ kind }) => kind === "counted").length;

/** False: it did not happen in time. */
async function until(holds: () => boolean, limitMs: number): Promise<boolean> {
  const from = performance.now();
  while (!holds()) {
    if (performance.now() - from > limitMs) return false;
    await Bun.sleep(LOOK_MS);
  }
  return true;
}

async function measureIdle(engine: EngineName, bossFolder: string) {
  await using stage = await openStage(engine, bossFolder, null);
  await stage.startWorkers(WORKERS);
  const sentAt: number[] = [];
  for (let at = 0; at < IDLE_JOBS; at++) {
    sentAt.push(performance.timeOrigin + performance.now());
    await stage.sender.send(`idle ${at}`, 0);
    await Bun.sleep(LOOK_MS);
  }
  await until(() => countedIn(stage.lines()) === IDLE_JOBS, LIMIT_MS);
  const began = new Map(
    stage
      .lines()
      .filter(({ kind }) => kind === "began")
      .map(({ key, at }) => [key, at]),
  );
  const { p50, p99 } = spread(sentAt.map((at, index) => (began.get(`idle ${index}`) ?? Infinity) - at));
  return { p50, p99 };
}

async function measureLoad(engine: EngineName, bossFolder: string, sessions: number) {
  await using stage = await openStage(engine, bossFolder, null);
  const { sent, perSecond } = await sendAll(stage.sender, sessions, PER_SESSION);
  await stage.startWorkers(WORKERS);
  await until(() => countedIn(stage.lines()) >= sessions * PER_SESSION, LIMIT_MS);
  const lines = stage.lines();
  const times = lines.map(({ at }) => at);
  const jobsPerSecond = countedIn(lines) / ((Math.max(...times) - Math.min(...times)) / 1_000);
  return { sendsPerSecond: perSecond, jobsPerSecond, judged: judge(lines, sent, null) };
}

async function measureKill(engine: EngineName, bossFolder: string, sessions: number) {
  await using stage = await openStage(engine, bossFolder, null);
  const { sent } = await sendAll(stage.sender, sessions, PER_SESSION);
  const all = sessions * PER_SESSION;
  await stage.startWorkers(WORKERS);
  await until(() => countedIn(stage.lines()) > all / 4, LIMIT_MS);
  const killed = stage.kill();
  await until(() => judge(stage.lines(), sent, killed).lost === 0, LIMIT_MS);
  return judge(stage.lines(), sent, killed);
}

/** The first job of the first session can never be done. Do the others go on, and do those behind it? */
async function measurePoisoned(engine: EngineName, bossFolder: string, sessions: number) {
  const poisoned = { key: "session 0", number: 0 };
  await using stage = await openStage(engine, bossFolder, poisoned);
  await sendAll(stage.sender, sessions, PER_SESSION_POISONED);
  await stage.startWorkers(WORKERS);
  const from = performance.now();
  const others = (): number => countedIn(stage.lines().filter(({ key }) => key !== poisoned.key));
  const wanted = (sessions - 1) * PER_SESSION_POISONED;
  const isDone = await until(() => others() >= wanted, POISON_LIMIT_MS);
  const othersMs = performance.now() - from;
  const behind = (): number => countedIn(stage.lines().filter(({ key }) => key === poisoned.key));
  await until(() => behind() === PER_SESSION_POISONED - 1, POISON_LIMIT_MS);
  return {
    others: `${others()} of ${wanted}`,
    othersMs: isDone ? othersMs : null,
    behind: `${behind()} of ${PER_SESSION_POISONED - 1}`,
  };
}

async function installBoss(folder: string): Promise<void> {
  writeFileSync(join(folder, "package.json"), "{}");
  const npm = Bun.spawn(["npm", "install", "--no-audit", "--no-fund", BOSS], {
    cwd: folder,
    stdio: ["ignore", "ignore", "pipe"],
  });
  if ((await npm.exited) !== 0)
    throw new Error(`${BOSS} cannot be installed: ${await new Response(npm.stderr).text()}`);
}

const one = (number: number | null): string => (number === null ? "never" : number.toFixed(1));
const sayJudged = ({ overlaps, outOfOrder, lost, doubled }: Judgement): string =>
  `${overlaps} / ${outOfOrder} / ${lost} / ${doubled}`;

async function measure(engine: EngineName, bossFolder: string, sessions: number): Promise<readonly string[]> {
  const idle = await measureIdle(engine, bossFolder);
  const load = await measureLoad(engine, bossFolder, sessions);
  const kill = await measureKill(engine, bossFolder, sessions);
  const poisoned = await measurePoisoned(engine, bossFolder, sessions);
  const seconds = kill.takeoverMs === null ? null : kill.takeoverMs / 1_000;
  return [
    `${one(idle.p50)} / ${one(idle.p99)}`,
    one(load.sendsPerSecond),
    one(load.jobsPerSecond),
    sayJudged(load.judged),
    sayJudged(kill),
    `${kill.interrupted} / ${kill.rerun} / ${kill.overtaken}`,
    kill.interrupted === 0 ? "none was interrupted" : one(seconds),
    `${poisoned.others}, ${one(poisoned.othersMs)} ms`,
    poisoned.behind,
  ];
}

const ROWS = [
  "idle, from sending to starting, p50 / p99 ms",
  "sends a second",
  "jobs a second",
  "overlaps / out of order / lost / doubled",
  "the same with kill -9 of a worker",
  "kill -9: interrupted / run again / overtaken",
  "kill -9: seconds until the last began again",
  "a job that can never be done: others that were done",
  "and those behind it in its session",
];

if (import.meta.main) {
  const engines = ENGINE_NAMES.filter((name) => values.engine === undefined || values.engine === name);
  await using folder = await tempHome();
  if (engines.some((name) => name !== "own claims")) await installBoss(folder.path);
  const server = await startPostgres({ settings: DURABLE });
  if (typeof server === "string") throw new Error(server);
  process.env.PI_TEST_POSTGRES = server.url;
  const columns: (readonly string[])[] = [];
  for (const engine of engines) {
    console.error(`measuring ${engine}`);
    columns.push(await measure(engine, folder.path, Number(values.sessions)));
  }
  console.log(`| | ${engines.join(" | ")} |\n|---|${engines.map(() => "---|").join("")}`);
  for (const [at, row] of ROWS.entries())
    console.log(`| ${row} | ${columns.map((column) => column[at]).join(" | ")} |`);
  await server[Symbol.asyncDispose]();
  process.exit(0);
}
