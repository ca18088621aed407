/** `pi-gw config check|get|schema`: looks at the configuration; prints no secrets and changes nothing. */
import { join, resolve } from "node:path";
import type { Config, ConfigProblem } from "../config/index.ts";
import { GatewayError } from "../contracts/errors.ts";
import { visible, visibleLines } from "../observe/index.ts";
import { createClient } from "./client.ts";
import { EXIT_CONFIG, EXIT_FAILED, EXIT_OK } from "./exit-code.ts";
import { findGateway, homeOf, MAX_CONFIG_BYTES, readSmall } from "./state-directory.ts";
import type { CliWorld, CommonFlags } from "./world.ts";

export interface ConfigFlags extends CommonFlags {
  readonly config?: string;
}

const ASK_GATEWAY_MS = 3_000;

/** The module is loaded here and not above: most commands do not need it, and it is the slowest to load. */
const configDoor = () => import("../config/index.ts");

export async function configCheck(world: CliWorld, file: string | undefined, flags: ConfigFlags): Promise<number> {
  const { checkConfigText, formatProblem } = await configDoor();
  const path = await whichFile(world, flags, file);
  if (path === null) {
    world.stdout(
      flags.json
        ? `${JSON.stringify({ file: null, ok: true })}\n`
        : "There is no configuration file; the defaults are used.\n",
    );
    return EXIT_OK;
  }
  const text = await readConfig(path);
  const checked = checkConfigText(text, world.environment.variables);
  const home = homeOf(flags.home, world.environment);
  const plugins = checked.config ? await pluginProblems(world, { home, config: checked.config, text }) : NO_PROBLEMS;
  const problems = [...checked.problems, ...plugins.problems];
  const warnings = [...checked.warnings, ...plugins.warnings];
  const ok = problems.length === 0;
  if (flags.json) world.stdout(`${JSON.stringify({ file: path, ok, problems, warnings })}\n`);
  else {
    for (const problem of [...problems, ...warnings]) world.stdout(`${visible(formatProblem(problem, path))}\n`);
    world.stdout(visible(ok ? `${path} is valid.` : `${path} is not valid.`) + "\n");
  }
  return ok ? EXIT_OK : EXIT_CONFIG;
}

interface Problems {
  readonly problems: readonly ConfigProblem[];
  readonly warnings: readonly ConfigProblem[];
}

const NO_PROBLEMS: Problems = { problems: [], warnings: [] };

/** Settings of plugins against the schema that each plugin brings. A plugin that cannot be loaded for another reason is a warning. */
async function pluginProblems(
  world: CliWorld,
  { home, config, text }: { readonly home: string; readonly config: Config; readonly text: string },
): Promise<Problems> {
  const { findPosition } = await configDoor();
  const { enabledPlugins } = await import("./check-plugins.ts");
  const problems: ConfigProblem[] = [];
  const warnings: ConfigProblem[] = [];
  const at = (path: readonly string[], message: string): ConfigProblem => ({
    path: path.join("."),
    ...(findPosition(text, path) ?? { line: 1, column: 1 }),
    message,
  });
  for (const plugin of await enabledPlugins(world, home, config)) {
    if (plugin.kind !== "refused") continue;
    const { id, why, settings } = plugin;
    for (const { path, message } of settings ?? []) problems.push(at(["plugins", "config", id, ...path], message));
    if (!settings?.length) warnings.push(at(["plugins", "enabled"], `${id}: ${why}`));
  }
  return { problems, warnings };
}

export async function configSchema(world: CliWorld, flags: CommonFlags): Promise<number> {
  const { configJsonSchema } = await configDoor();
  world.stdout(`${JSON.stringify(configJsonSchema(), null, flags.json ? undefined : 2)}\n`);
  return EXIT_OK;
}

/** All settings in force with their defaults, or the one at `path`, such as `gateway.port`. */
export async function configGet(world: CliWorld, path: string | undefined, flags: ConfigFlags): Promise<number> {
  const settings = await settingsInForce(world, flags);
  const found = path === undefined ? settings : memberAt(settings, path);
  if (found === undefined) {
    world.stderr(`${visible(`There is no setting ${path}. See all of them with: pi-gw config get`)}\n`);
    return EXIT_FAILED;
  }
  world.stdout(`${JSON.stringify(found, null, flags.json ? undefined : 2)}\n`);
  return EXIT_OK;
}

/** Those of the running gateway; without one, those a start would use. A file that is named is read whatever runs. */
async function settingsInForce(world: CliWorld, flags: ConfigFlags): Promise<unknown> {
  const gateway = flags.config === undefined ? await findGateway(world, flags.home).catch(() => null) : null;
  if (gateway !== null) {
    using limit = world.clock.deadline(ASK_GATEWAY_MS, () => new Error("The gateway did not answer."));
    const settings = await createClient(gateway)
      .ask({ path: "/api/config" }, limit.signal)
      .catch(() => null); // not running any more: a start from here is what there is to show
    if (settings !== null) {
      if (!flags.json) world.stderr(`As the running gateway at ${visible(gateway.url)} has it:\n`);
      return settings;
    }
  }
  const { publicConfig } = await configDoor();
  return publicConfig((await lastGoodInForce(world, flags)) ?? (await configOfFile(world, flags)));
}

/** The last good settings, while the file is broken: a start would use them. Null: the file is right, or there are none. */
async function lastGoodInForce(world: CliWorld, flags: ConfigFlags): Promise<Config | null> {
  const { checkConfigText, formatProblem, LAST_GOOD_NAME } = await configDoor();
  const file = await whichFile(world, flags, undefined);
  const text = file === null ? null : await readSmall(file, MAX_CONFIG_BYTES);
  const { variables } = world.environment;
  const { config, problems } = checkConfigText(text ?? "{}", variables);
  const kept = await readSmall(join(homeOf(flags.home, world.environment), LAST_GOOD_NAME), MAX_CONFIG_BYTES);
  const lastGood = config || kept === null ? null : checkConfigText(kept, variables).config;
  if (lastGood === null) return null;
  const lines = problems.map((problem) => `  ${formatProblem(problem, file ?? "")}`);
  world.stderr(
    `${visibleLines([`${file} is broken, so a start uses the last good settings:`, ...lines].join("\n"))}\n`,
  );
  return lastGood;
}

/** What the file says, with defaults; a file with problems ends the command with all of them. */
export async function configOfFile(world: CliWorld, flags: ConfigFlags): Promise<Config> {
  const { checkConfigText, formatProblem } = await configDoor();
  const file = await whichFile(world, flags, undefined);
  const { config, problems } = checkConfigText(
    file === null ? "{}" : await readConfig(file),
    world.environment.variables,
  );
  if (config) return config;
  const list = problems.map((problem) => formatProblem(problem, file ?? "")).join("\n");
  throw new GatewayError("config_invalid", "the file has problems", { say: list });
}

async function whichFile(world: CliWorld, flags: ConfigFlags, named: string | undefined): Promise<string | null> {
  if (named !== undefined) return resolve(world.cwd, named);
  const { findConfigFile } = await configDoor();
  return findConfigFile({ home: homeOf(flags.home, world.environment), flag: flags.config, cwd: world.cwd });
}

async function readConfig(path: string): Promise<string> {
  const text = await readSmall(path, MAX_CONFIG_BYTES);
  if (text !== null) return text;
  throw new GatewayError("config_invalid", "the file cannot be read", {
    say: `${path} cannot be read. Check that it exists and that your user may read it.`,
  });
}

function memberAt(value: unknown, path: string): unknown {
  let at = value;
  for (const key of path.split(".")) {
    if (typeof at !== "object" || at === null || !Object.hasOwn(at, key)) return undefined;
    at = Reflect.get(at, key);
  }
  return at;
}
