/** Runs the gateway in this process from start to stop: state directory, configuration, log, ready line, signals. */
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Environment, type LoadedConfig, loadConfig, resolveHome } from "./config/index.ts";
import { startGateway } from "./gateway.ts";
import type { PageAssets } from "./http/index.ts";
import { systemClock } from "./kit/clock.ts";
import { systemIds } from "./kit/ids.ts";
import { silentLog } from "./kit/log.ts";
import { createRedactor, openLog, type Redactor } from "./observe/index.ts";
import { openHome } from "./store/index.ts";

/** What is built beforehand and found differently from source, from a bundle and in a single executable. */
export interface Assets {
  page(): Promise<PageAssets>;
  /** The bridge extension as a file that pi can read. */
  bridgePath(home: string): Promise<string>;
  /** Runs Bun, for the agent processes. */
  readonly bun: readonly string[];
  readonly bunEnv: Readonly<Record<string, string>>;
}

export interface ServeOptions {
  readonly home?: string | undefined;
  readonly port?: number | undefined;
  readonly config?: string | undefined;
  readonly json: boolean;
}

export interface ServeWorld {
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

/** Resolves when the gateway has stopped; rejects when it could not start. */
export async function serve(world: ServeWorld, options: ServeOptions): Promise<void> {
  const clock = systemClock;
  const ids = systemIds;
  await using home = await openHome({ log: silentLog }, resolveHome(options.home, world.environment));
  const redactor = createRedactor();
  const hideSecrets = secretHider(redactor, world.environment);
  const load = async (): Promise<LoadedConfig> => {
    const fresh = await loadWithFlags(world, home.path, options);
    hideSecrets(fresh); // before anyone can log what a changed file brought
    return fresh;
  };
  const loaded = await load();
  await using sink = await openLog(
    { clock, redactor, stderr: world.stderr },
    {
      level: loaded.config.logging.level,
      folder: loaded.config.logging.file ? join(home.path, "logs") : null,
      retentionDays: loaded.config.logging.retentionDays,
      console: options.json ? "json" : world.isTerminal ? "pretty" : "plain",
      colour: world.isTerminal && !world.environment.noColor,
    },
  );
  const { log } = sink;
  const { assets, version, environment } = world;
  const gateway = await startGateway(
    { clock, ids, log, setLogLevel: sink.setLevel, hide: redactor.add, scrub: redactor.scrub },
    {
      home: home.path,
      version,
      environment,
      page: await assets.page(),
      bridgePath: await assets.bridgePath(home.path),
      bun: assets.bun,
      bunEnv: assets.bunEnv,
      loaded,
      configSource: { load, expectedPath: join(home.path, "pi-gateway.jsonc") },
    },
  );
  const { url } = gateway.http;
  const running = join(home.path, RUNNING_FILE);
  writeFileSync(running, `${JSON.stringify({ pid: process.pid, url, startedAt: clock.now() })}\n`, { mode: 0o600 });
  const signIn = `${url}/#code=${gateway.http.signInCode()}`;
  log.info("gateway ready", { url, version, config: loaded.path, source: loaded.source });
  world.stdout(
    options.json
      ? `${JSON.stringify({ event: "ready", url, signIn })}\n`
      : `pi-gateway ready ${url} sign-in ${signIn}\n`,
  );

  const reason = await world.stopAsked;
  log.info("gateway stopping", { reason });
  rmSync(running, { force: true });
  await gateway.stop(reason);
  log.info("gateway stopped", { reason });
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
  return ({ config: { gateway, models } }) => {
    const found = [
      gateway.auth.token,
      gateway.auth.password,
      ...Object.values(models.providers).map((provider) => provider.apiKey),
      ...Object.values(environment.providerKeys),
    ];
    for (const hidden of found) {
      if (!hidden || known.has(hidden.reveal())) continue;
      known.add(hidden.reveal());
      redactor.add(hidden);
    }
  };
}
