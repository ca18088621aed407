/** `pi-gw config set|diff`: changes one setting in the file, and shows what is not as it is by default. A file that would be wrong is not written. */
import { join } from "node:path";
import { visible } from "../observe/index.ts";
import { type ConfigFlags, configOfFile } from "./config-command.ts";
import { EXIT_CONFIG, EXIT_FAILED, EXIT_OK } from "./exit-code.ts";
import { readLines } from "./read-lines.ts";
import { homeOf } from "./state-directory.ts";
import { tellGateway } from "./tell-gateway.ts";
import { printAnswer } from "./ask-gateway.ts";
import type { CliWorld, CommonFlags } from "./world.ts";

export interface SetFlags extends ConfigFlags {
  readonly unset?: boolean;
}

/** The module is loaded here and not above: it is the slowest to load, and a wrong command line needs none of it. */
const configDoor = () => import("../config/index.ts");

export async function configSet(
  world: CliWorld,
  path: string,
  given: string | undefined,
  flags: SetFlags,
): Promise<number> {
  const unset = flags.unset === true;
  if (unset === (given !== undefined)) return fail(world, ["Give a value, or --unset, and not both."], EXIT_FAILED);
  const value = unset ? undefined : valueOf(given === "-" ? await firstLine(world) : (given ?? ""));
  const keys = path.split(".");
  const { checkConfigText, editConfig, findConfigFile } = await configDoor();
  const { variables } = world.environment;
  // An unknown setting in the file is a warning, because files outlive versions; who types one has made a mistake. Problems are left to
  // `editConfig`, which sees the whole file: whether a value is right may depend on other settings.
  const { warnings } = checkConfigText(JSON.stringify(nested(keys, value)), variables);
  const mistakes = warnings.filter(({ path: at }) => isAbout(at, path)).map(({ message }) => message);
  if (!unset && mistakes.length > 0) return fail(world, mistakes, EXIT_CONFIG);
  const home = homeOf(flags.home, world.environment);
  const file = findConfigFile({ home, flag: flags.config, cwd: world.cwd }) ?? join(home, "pi-gateway.jsonc");
  const edited = await editConfig(file, { keys, value }, variables);
  if (edited.kind === "refused") return fail(world, edited.problems, EXIT_CONFIG);
  const { path: written, backup } = edited;
  if (flags.json) world.stdout(`${JSON.stringify({ file: written, setting: path, backup })}\n`);
  else
    world.stdout(
      `${visible(`${unset ? "Took away" : "Set"} ${path} in ${written}.${backup === null ? "" : ` The file as it was is ${backup}.`}`)}\n`,
    );
  await tellGateway(world, flags);
  return EXIT_OK;
}

export async function configDiff(world: CliWorld, flags: ConfigFlags): Promise<number> {
  const { defaultConfig, publicConfig } = await configDoor();
  const usual = flat(publicConfig(defaultConfig()));
  const now = flat(publicConfig(await configOfFile(world, flags)));
  const changed = [...new Set([...usual.keys(), ...now.keys()])].filter((path) => usual.get(path) !== now.get(path));
  for (const path of changed.sort()) {
    const [before, after] = [usual.get(path), now.get(path)];
    const line = `${path}: ${after ?? "not set"} (default: ${before ?? "not set"})`;
    const record = { setting: path, value: parsed(after), default: parsed(before) };
    world.stdout(`${flags.json ? JSON.stringify(record) : visible(line)}\n`);
  }
  if (changed.length === 0 && !flags.json) world.stdout("All settings are as they are by default.\n");
  return EXIT_OK;
}

/** `18789`, `true` and `["a"]` are what they are in JSON; everything else is a text. */
export function valueOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function nested(keys: readonly string[], value: unknown): unknown {
  return keys.reduceRight((inner, key) => ({ [key]: inner }), value);
}

/** Problems of other settings are those of a file that holds nothing else. */
function isAbout(problem: string, path: string): boolean {
  return `${problem}.`.startsWith(`${path}.`) || `${path}.`.startsWith(`${problem}.`);
}

/** Dotted paths of all values; lists are values. */
export function flat(value: unknown, path = "", found = new Map<string, string>()): ReadonlyMap<string, string> {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    return found.set(path, JSON.stringify(value));
  for (const [key, inner] of Object.entries(value)) flat(inner, path === "" ? key : `${path}.${key}`, found);
  return found;
}

function parsed(text: string | undefined): unknown {
  return text === undefined ? null : JSON.parse(text);
}

async function firstLine(world: CliWorld): Promise<string> {
  for await (const line of readLines(world.stdin)) return line;
  return "";
}

function fail(world: CliWorld, sentences: readonly string[], code: number): number {
  for (const sentence of sentences) world.stderr(`${visible(sentence)}\n`);
  return code;
}

/** Asks the running gateway: it knows which file is broken, and what was in force before. */
export function configRevert(world: CliWorld, flags: CommonFlags): Promise<number> {
  return printAnswer(
    world,
    flags,
    { method: "POST", path: "/api/config/revert", body: {} },
    () => "The last good settings are in the file again. A copy of the broken one is beside it.",
  );
}
