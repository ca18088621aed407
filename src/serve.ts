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
import type { GatewayError } from "./contracts/errors.ts";
import { type Gateway, startGateway } from "./gateway.ts";
import type { ConsoleAssets } from "./http/index.ts";
import { systemClock } from "./kit/clock.ts";
import { deferred } from "./kit/deferred.ts";
import { systemIds } from "./kit/ids.ts";
import { type Log, silentLog } from "./kit/log.ts";
import { isSecret, type Secret } from "./kit/secret.ts";
import { createRedactor, openLog, type Redactor } from "./observe/index.ts";
import { createSandbox, openCgroups } from "./sandbox/index.ts";
import { openStateDirectory } from "./store/index.ts";
import type { Supervisor } from "./supervisor/index.ts";

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
}

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

/** Resolves when the gateway has stopped; rejects when it could not start, or had to end because of the database. */
export async function serve(world: ServeWorld, options: ServeOptions): Promise<void> {
  const clock = systemClock;
  const ids = systemIds;
  await using home = await openStateDirectory({ log: silentLog }, resolveHome(options.home, world.environment));
  const redactor = createRedactor();
  const hideSecrets = secretHider(redactor, world.environment);
  const load = async (): Promise<LoadedConfig> => {
    const fresh = await loadWithFlags(world, home.path, options);
    hideSecrets(fresh); // before anyone can log what a changed file brought
    return fresh;
  };
  const loaded = await load();
  tellConfigTrouble(world, loaded, options.json);
  const logSettings = ({ level, file, retentionDays }: LoadedConfig["config"]["logging"]) => ({
    level,
    folder: file ? join(home.path, "logs") : null,
    retentionDays,
  });
  await using sink = await openLog(
    { clock, redactor, stderr: world.stderr },
    {
      ...logSettings(loaded.config.logging),
      console: options.json ? "json" : world.isTerminal ? "pretty" : "plain",
      colour: world.isTerminal && !world.environment.noColor,
    },
  );
  const { log } = sink;
  const { assets, version, environment } = world;
  await using supervisor = await supervisorOf(environment, log);
  const { bun, bunEnv } = assets;
  const launcher = await assets.sandboxPath(home.path);
  const sandbox = createSandbox({ clock }, { home: home.path, bun, bunEnv, launcher, cgroups: openCgroups() });
  void sandbox.wall(); // tried while the rest starts, and remembered over restarts; never rejects
  const about = {
    home: home.path,
    version,
    environment,
    console: await assets.console(),
    bridgePath: await assets.bridgePath(home.path),
    bun,
    bunEnv,
    sandbox,
  };
  const start = (from: LoadedConfig, askRestart: () => boolean): Promise<Gateway> =>
    startGateway(
      {
        clock,
        ids,
        log,
        startTakesLonger: (status) => supervisor?.starting(status),
        mcpHostPath: () => assets.mcpHostPath(home.path),
        setLogging: (settings) => sink.configure(logSettings(settings)),
        hide: redactor.add,
        scrub: redactor.scrub,
        mask: redactor.mask,
      },
      { ...about, loaded: from, configSource: { load, expectedPath: join(home.path, "pi-gateway.jsonc") }, askRestart },
    );
  for (let from = loaded; ;) {
    const run = { world, options, home: home.path, log, from, supervisor };
    const { reason, port } = await runOnce(run, (ask) => start(from, ask));
    if (reason !== RESTART) return;
    from = onPort(await load(), port);
    tellConfigTrouble(world, from, options.json);
    sink.configure(logSettings(from.config.logging));
  }
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
  { world, options, home, log, from, supervisor }: Run,
  start: (askRestart: () => boolean) => Promise<Gateway>,
): Promise<{ readonly reason: string; readonly port: number }> {
  const restart = deferred<string>();
  const gateway = await start(() => {
    restart.resolve(RESTART);
    return true;
  });
  const { url, port } = gateway.http;
  const running = join(home, RUNNING_FILE);
  const startedAt = systemClock.now();
  writeFileSync(running, `${JSON.stringify({ pid: process.pid, url, startedAt })}\n`, { mode: 0o600 });
  const signIn = `${url}/#code=${gateway.http.signInCode()}`;
  log.info("gateway ready", { url, version: world.version, config: from.path, source: from.source });
  world.stdout(
    options.json
      ? `${JSON.stringify({ event: "ready", url, signIn })}\n`
      : `pi-gateway ready ${url} sign-in ${signIn}\n`,
  );
  supervisor?.ready(`Serving on ${url}`);
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
  if (options.port === undefined) return loaded;
  const { config } = loaded;
  return { ...loaded, config: { ...config, gateway: { ...config.gateway, port: options.port } } };
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
