/** Runs the gateway in this process from start to stop: state directory, configuration, log, ready line, signals. */
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  configReport,
  configReportText,
  type Environment,
  type LoadedConfig,
  loadConfig,
  readSupervisor,
  resolveHome,
} from "./config/index.ts";
import { GatewayError, isGatewayError } from "./contracts/errors.ts";
import { type Gateway, startGateway } from "./gateway.ts";
import type { ConsoleAssets } from "./http/index.ts";
import { systemClock } from "./kit/clock.ts";
import { compileAsUsual } from "./kit/compile-threshold.ts";
import { deferred, orAborted } from "./kit/deferred.ts";
import { systemIds } from "./kit/ids.ts";
import { type Log, silentLog } from "./kit/log.ts";
import { isSecret, type Secret } from "./kit/secret.ts";
import { createRedactor, openLog, type Redactor } from "./observe/index.ts";
import { createSandbox, openCgroups } from "./sandbox/index.ts";
import { openStateDirectory } from "./store/index.ts";
import type { Supervisor } from "./supervisor/index.ts";
import { beginVersion, type RunningVersion, versionFiles } from "./update/index.ts";

/** Built files, which are found differently from source, from a bundle and in a single executable. */
export interface Assets {
  console(): Promise<ConsoleAssets>;
  /** The bridge extension as a file that pi can read. */
  bridgePath(home: string): Promise<string>;
  /** The launcher of confined programs, as a file that Bun can run. */
  sandboxPath(home: string): Promise<string>;
  /** The MCP host, as a file that Bun can run. */
  mcpHostPath(home: string): Promise<string>;
  /** The plugin SDK: names of its files, and where they are. */
  sdk(): Promise<ReadonlyMap<string, string>>;
  /** Runs Bun, for the agent processes. */
  readonly bun: readonly string[];
  readonly bunEnv: Readonly<Record<string, string>>;
}

interface ServeOptions {
  readonly home?: string | undefined;
  readonly port?: number | undefined;
  readonly config?: string | undefined;
  readonly json: boolean;
  /** For `pi-gw update`, on a copy of a state directory: opens everything, says so, and waits for its end without doing anything. */
  readonly rehearse?: boolean | undefined;
}

/** How a run of the gateway ended. */
type ServeEnd =
  | { readonly kind: "stopped" }
  /** Another version is to be started in the place of this process. `port`: one that was picked, and that browsers know by now; null: the settings say which. */
  | { readonly kind: "hand over"; readonly launcher: string; readonly port: number | null };

interface ServeWorld {
  readonly environment: Environment;
  readonly cwd: string;
  readonly version: string;
  readonly isTerminal: boolean;
  readonly assets: Assets;
  stdout(text: string): void;
  stderr(text: string): void;
  /** Resolves with the reason when the process was told to stop. */
  readonly stopAsked: Promise<string>;
}

const RUNNING_FILE = "gateway.json";
const RESTART = "restart";

const STOPPED: ServeEnd = { kind: "stopped" };

/** Resolves when the gateway has stopped; rejects when it could not start, or had to end because of the database. */
export async function serve(world: ServeWorld, options: ServeOptions): Promise<ServeEnd> {
  await using home = await openStateDirectory({ log: silentLog }, resolveHome(options.home, world.environment));
  const { variables } = world.environment;
  const launcher = variables("PI_GATEWAY_LAUNCHER");
  const version = await beginVersion(
    { clock: systemClock },
    { home: home.path, launcher, runs: options.rehearse ? undefined : variables("PI_GATEWAY_RUNS") },
  );
  try {
    return await serveIn(world, options, { home: home.path, version, launcher });
  } catch (error) {
    if (!version.isOnTrial()) throw error;
    const why = isGatewayError(error) ? error.say : String(error);
    version.failed(why);
    // a code after which the supervisor starts it again: the launcher takes the old version then
    throw new GatewayError("update_failed", "the new version did not start", { cause: error, say: why });
  }
}

interface Place {
  /** Held by this process. */
  readonly home: string;
  readonly version: RunningVersion;
  /** Undefined: this process was not started by the launcher, and no update can replace it. */
  readonly launcher: string | undefined;
}

async function serveIn(
  world: ServeWorld,
  options: ServeOptions,
  { home, version: running, launcher }: Place,
): Promise<ServeEnd> {
  const clock = systemClock;
  const ids = systemIds;
  const redactor = createRedactor();
  const hideSecrets = secretHider(redactor, world.environment);
  const load = async (): Promise<LoadedConfig> => {
    const fresh = await loadWithFlags(world, home, options);
    hideSecrets(fresh); // before anyone can log what a changed file brought
    return fresh;
  };
  const loaded = await load();
  tellConfigTrouble(world, loaded, options.json);
  await using sink = await openLog(
    { clock, redactor, stderr: world.stderr },
    {
      ...logSettings(home, loaded.config.logging),
      console: options.json ? "json" : world.isTerminal ? "pretty" : "plain",
      colour: world.isTerminal && !world.environment.noColor,
    },
  );
  const { log } = sink;
  running.tell(log);
  if (loaded.config.store.url !== undefined) running.count(); // no copy of that database is made, so there is no way back
  await using supervisor = await supervisorOf(world.environment, log);
  const files = versionFiles(home);
  const waits = (): boolean => launcher !== undefined && files.hasTrial();
  const about = await aboutGateway(world, home);
  const start = (from: LoadedConfig, askRestart: () => boolean): Promise<Gateway> =>
    startGateway(
      {
        clock,
        ids,
        log,
        startTakesLonger: (status) => supervisor?.starting(status),
        mcpHostPath: () => world.assets.mcpHostPath(home),
        update: { isRehearsal: options.rehearse === true, beforeFirstMessage: () => running.count(), waits },
        setLogging: (settings) => sink.configure(logSettings(home, settings)),
        hide: redactor.add,
        scrub: redactor.scrub,
        mask: redactor.mask,
      },
      { ...about, loaded: from, configSource: { load, expectedPath: join(home, "pi-gateway.jsonc") }, askRestart },
    );
  for (let from = loaded; ;) {
    const run = { world, options, home, log, from, supervisor, launcher };
    const { reason, port } = await runOnce(run, (ask) => start(from, ask));
    if (reason !== RESTART) return STOPPED;
    const picked = loaded.config.gateway.port === 0 ? port : null;
    if (launcher !== undefined && waits()) return { kind: "hand over", launcher, port: picked };
    from = onPort(await load(), port);
    tellConfigTrouble(world, from, options.json);
    sink.configure(logSettings(home, from.config.logging));
  }
}

/** What stays the same over restarts. */
async function aboutGateway({ assets, version, environment }: ServeWorld, home: string) {
  const { bun, bunEnv } = assets;
  const launcher = await assets.sandboxPath(home);
  const sandbox = createSandbox({ clock: systemClock }, { home, bun, bunEnv, launcher, cgroups: openCgroups() });
  void sandbox.wall(); // tried while the rest starts, and remembered over restarts; never rejects
  return {
    home,
    version,
    environment,
    console: await assets.console(),
    bridgePath: await assets.bridgePath(home),
    bun,
    bunEnv,
    sandbox,
  };
}

function logSettings(home: string, { level, file, retentionDays }: LoadedConfig["config"]["logging"]) {
  return { level, folder: file ? join(home, "logs") : null, retentionDays };
}

/** On the terminal, where the person who starts it is looking; the status and the console show the same. */
function tellConfigTrouble({ stderr }: Pick<ServeWorld, "stderr">, loaded: LoadedConfig, json: boolean): void {
  const report = configReport(loaded);
  if (report === null) return;
  stderr(json ? `${JSON.stringify({ event: "configuration", ...report })}\n` : configReportText(report));
}

interface Run {
  readonly world: ServeWorld;
  readonly options: ServeOptions;
  readonly home: string;
  readonly log: Log;
  readonly from: LoadedConfig;
  /** Null: nobody wants to be told. */
  readonly supervisor: Supervisor | null;
  /** Written down for \`pi-gw update\`. */
  readonly launcher: string | undefined;
}

/** Loaded when there is one: most starts have none. */
async function supervisorOf(environment: Environment, log: Log): Promise<Supervisor | null> {
  const settings = readSupervisor(environment.variables, process.pid);
  if (settings === null) return null;
  const { openSupervisor } = await import("./supervisor/index.ts");
  return openSupervisor({ clock: systemClock, log }, settings);
}

/** From start to stop. A restart is a stop that somebody asked for from inside; the state directory and the log stay open over it. */
async function runOnce(
  { world, options, home, log, from, supervisor, launcher }: Run,
  start: (askRestart: () => boolean) => Promise<Gateway>,
): Promise<{ readonly reason: string; readonly port: number }> {
  const restart = deferred<string>();
  const starting = start(() => {
    restart.resolve(RESTART);
    return true;
  });
  const early = await stoppedBefore(world.stopAsked, starting);
  if (early !== null) {
    log.info("gateway told to stop while it starts", { reason: early });
    await endStart(starting, early);
    return { reason: early, port: 0 };
  }
  const gateway = await starting;
  const { url, port } = gateway.http;
  const running = join(home, RUNNING_FILE);
  try {
    noteRunning(running, { pid: process.pid, url, startedAt: systemClock.now(), launcher: launcher ?? null });
  } catch (error) {
    await gateway.stop("its state directory takes no file"); // or it would go on without anybody who can stop it
    throw error;
  }
  const signIn = `${url}/#code=${gateway.http.signInCode()}`;
  log.info("gateway ready", { url, version: world.version, config: from.path, source: from.source });
  world.stdout(
    options.json
      ? `${JSON.stringify({ event: "ready", url, signIn })}\n`
      : `pi-gateway ready ${url} sign-in ${signIn}\n`,
  );
  supervisor?.ready(`Serving on ${url}`);
  compileAsUsual(); // turns run the same code again and again
  let failure: GatewayError | null = null;
  const failed = gateway.failed.then((error) => {
    failure = error;
    return error.code === "internal" ? "an error that nobody caught" : "the database failed";
  });
  const reason = await Promise.race([world.stopAsked, restart.promise, failed]);
  log.info("gateway stopping", { reason });
  if (reason !== RESTART) supervisor?.stopping(reason);
  rmSync(running, { force: true });
  await gateway.stop(reason);
  log.info("gateway stopped", { reason });
  if (failure !== null) throw failure; // also when it failed during the stop: the supervisor should know
  return { reason, port };
}

/** The reason; null: it has started, or has failed, before it was told to stop. */
async function stoppedBefore(stopAsked: Promise<string>, starting: Promise<Gateway>): Promise<string | null> {
  const over = starting.then(
    () => null,
    () => null, // whoever waits for the start hears of it
  );
  return Promise.race([over, stopAsked]);
}

/** A start may wait for a database that is away. The process ends then, and what it has opened with it. */
const END_START_MS = 10_000;

/** Whatever comes of the start: nobody wants it any more. */
async function endStart(starting: Promise<Gateway>, reason: string): Promise<void> {
  using limit = systemClock.deadline(END_START_MS, () => new Error("the start takes too long"));
  const ended = starting.then((gateway) => gateway.stop(reason));
  await orAborted(ended, limit.signal).catch(() => undefined);
}

/** For `pi-gw`, which finds the running gateway by it. Throws where the disk is full. */
function noteRunning(path: string, facts: Readonly<Record<string, unknown>>): void {
  writeFileSync(path, `${JSON.stringify(facts)}\n`, { mode: 0o600 });
}

/** A port that was picked at the start is kept over a restart: browsers and programs know it by now. */
function onPort(loaded: LoadedConfig, port: number): LoadedConfig {
  const { config } = loaded;
  if (config.gateway.port !== 0) return loaded;
  return { ...loaded, config: { ...config, gateway: { ...config.gateway, port } } };
}

/** Flags win over the file, also when the file changes later. */
async function loadWithFlags(world: ServeWorld, home: string, options: ServeOptions): Promise<LoadedConfig> {
  const { environment, cwd } = world;
  const loaded = await loadConfig({ log: silentLog }, { home, flag: options.config, cwd, environment });
  const { port = loaded.config.gateway.port } = options;
  const config = { ...loaded.config, gateway: { ...loaded.config.gateway, port } };
  return { ...loaded, config: options.rehearse ? rehearsedConfig(config) : config };
}

/** Nothing that reaches out of the copy: no other database, no plugin, no network but loopback, no agent before one is needed. */
function rehearsedConfig(config: LoadedConfig["config"]): LoadedConfig["config"] {
  const { agent, gateway, plugins } = config;
  return {
    ...config,
    store: {},
    gateway: { ...gateway, bind: "loopback" },
    plugins: { ...plugins, dirs: [], enabled: [] },
    agent: { ...agent, pool: { ...agent.pool, min: 0 } },
  };
}

/** Each value is handed over once: the redactor forgets the oldest when it is given too many, and files are loaded often. */
function secretHider(redactor: Redactor, environment: Environment): (loaded: LoadedConfig) => void {
  const known = new Set<string>();
  return ({ config }) => {
    for (const hidden of [...secretsIn(config), ...Object.values(environment.providerKeys)]) {
      if (known.has(hidden.reveal())) continue;
      known.add(hidden.reveal());
      redactor.add(hidden);
    }
  };
}

/** Wherever a section keeps one. */
function secretsIn(value: unknown): readonly Secret[] {
  if (isSecret(value)) return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(secretsIn) : [];
}
