/** `pi-gw config check|get|schema`: looks at the configuration file; prints no secrets and changes nothing. */
import { resolve } from "node:path";
import type { Config } from "../config/index.ts";
import { GatewayError } from "../contracts/errors.ts";
import { visible } from "../observe/index.ts";
import { EXIT_CONFIG, EXIT_FAILED, EXIT_OK } from "./exit-code.ts";
import { homeOf, MAX_CONFIG_BYTES, readSmall } from "./home.ts";
import type { CliWorld, CommonFlags } from "./world.ts";

export interface ConfigFlags extends CommonFlags {
  readonly config?: string;
}

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
  const { problems, warnings } = checkConfigText(await readConfig(path), world.environment.variables);
  const ok = problems.length === 0;
  if (flags.json) world.stdout(`${JSON.stringify({ file: path, ok, problems, warnings })}\n`);
  else {
    for (const problem of [...problems, ...warnings]) world.stdout(`${visible(formatProblem(problem, path))}\n`);
    world.stdout(visible(ok ? `${path} is valid.` : `${path} is not valid.`) + "\n");
  }
  return ok ? EXIT_OK : EXIT_CONFIG;
}

export async function configSchema(world: CliWorld, flags: CommonFlags): Promise<number> {
  const { configJsonSchema } = await configDoor();
  world.stdout(`${JSON.stringify(configJsonSchema(), null, flags.json ? undefined : 2)}\n`);
  return EXIT_OK;
}

/** All settings with their defaults, or the one at `path`, such as `gateway.port`. */
export async function configGet(world: CliWorld, path: string | undefined, flags: ConfigFlags): Promise<number> {
  const { publicConfig } = await configDoor();
  const config = await configInForce(world, flags);
  const found = path === undefined ? publicConfig(config) : memberAt(publicConfig(config), path);
  if (found === undefined) {
    world.stderr(`${visible(`There is no setting ${path}. See all of them with: pi-gw config get`)}\n`);
    return EXIT_FAILED;
  }
  world.stdout(`${JSON.stringify(found, null, flags.json ? undefined : 2)}\n`);
  return EXIT_OK;
}

/** What the file says, with defaults; a file with problems ends the command with all of them. */
export async function configInForce(world: CliWorld, flags: ConfigFlags): Promise<Config> {
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
