/** `pi-gw mcp add|remove`: writes and takes away servers in the configuration file, which a running gateway takes over at once. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { visible, visibleLines } from "../../observe/index.ts";
import { EXIT_CONFIG, EXIT_FAILED, EXIT_OK } from "../exit-code.ts";
import { homeOf } from "../state-directory.ts";
import { tellGateway } from "../tell-gateway.ts";
import type { CliWorld, CommonFlags } from "../world.ts";
import { type OwnServerFlags, ownSettings, pairs } from "./own-settings.ts";
import { presetSettings } from "./preset-settings.ts";
import { MCP_PRESETS, type McpPreset } from "./presets.ts";

export interface AddServerFlags extends CommonFlags, OwnServerFlags {
  readonly config?: string;
  readonly preset?: string;
  readonly set?: readonly string[];
}

interface NewServer {
  readonly settings: Readonly<Record<string, unknown>>;
  readonly after: readonly string[];
}

export async function addServer(
  world: CliWorld,
  name: string | undefined,
  command: readonly string[],
  flags: AddServerFlags,
): Promise<number> {
  if (name === undefined) return listPresets(world);
  const preset = flags.preset ?? presetOfName(name, command, flags);
  const made = preset === undefined ? ownServer(world.cwd, command, flags) : presetServer(world, preset, flags);
  if (typeof made === "string") return fail(world, made);
  const edited = await edit(world, flags, name, made.settings);
  if (edited !== null) return edited;
  await tellGateway(world, flags);
  for (const line of made.after) world.stdout(`${line.replaceAll("NAME", name)}\n`);
  return EXIT_OK;
}

export async function removeServer(world: CliWorld, name: string, flags: AddServerFlags): Promise<number> {
  const edited = await edit(world, flags, name, undefined);
  if (edited !== null) return edited;
  await tellGateway(world, flags);
  const { forgetServer } = await import("../../mcp/client/index.ts");
  const home = homeOf(flags.home, world.environment);
  forgetServer(home, name);
  const written = existsSync(join(home, "programs", `mcp-${name}`)) // servers at an address have no folder
    ? ` The files that it wrote stay in programs/mcp-${name}/ of the state directory.`
    : "";
  world.stdout(`Its login and the list of its tools are deleted.${written}\n`);
  return EXIT_OK;
}

/** Null: it was written. */
async function edit(world: CliWorld, flags: AddServerFlags, name: string, value: unknown): Promise<number | null> {
  const { checkConfigText, editConfig, findConfigFile } = await import("../../config/index.ts");
  const home = homeOf(flags.home, world.environment);
  const path = findConfigFile({ home, flag: flags.config, cwd: world.cwd }) ?? join(home, "pi-gateway.jsonc");
  const text = await Bun.file(path)
    .text()
    .catch(() => "{}");
  const known = checkConfigText(text, world.environment.variables).config?.mcp.servers;
  const isThere = known !== undefined && Object.hasOwn(known, name);
  if (value === undefined && !isThere) return fail(world, `There is no MCP server called ${name} in ${path}.`);
  if (value !== undefined && isThere)
    return fail(
      world,
      `There is an MCP server called ${name} in ${path} already. Remove it first: pi-gw mcp remove ${name}`,
    );
  const edited = await editConfig(path, { keys: ["mcp", "servers", name], value }, world.environment.variables);
  if (edited.kind === "refused") {
    for (const problem of edited.problems) world.stderr(`${visible(problem)}\n`);
    return EXIT_CONFIG;
  }
  const backup = edited.backup === null ? "" : ` The file as it was is ${edited.backup}.`;
  world.stdout(
    `${visible(`${value === undefined ? "Removed" : "Added"} mcp.servers.${name} in ${edited.path}.${backup}`)}\n`,
  );
  return null;
}

function fail(world: CliWorld, sentences: string): number {
  world.stderr(`${visibleLines(sentences)}\n`);
  return EXIT_FAILED;
}

function listPresets(world: CliWorld): number {
  world.stdout("pi-gw mcp add NAME --preset PRESET, with one of these:\n");
  for (const [name, { title }] of Object.entries(MCP_PRESETS)) world.stdout(`  ${name.padEnd(16)} ${title}\n`);
  world.stdout("or pi-gw mcp add NAME -- COMMAND ARGUMENTS…, or pi-gw mcp add NAME --url ADDRESS\n");
  return EXIT_OK;
}

/** `pi-gw mcp add github` says enough. */
function presetOfName(name: string, command: readonly string[], { url }: AddServerFlags): string | undefined {
  return url === undefined && command.length === 0 && Object.hasOwn(MCP_PRESETS, name) ? name : undefined;
}

/** A text: why not. */
function presetServer(world: CliWorld, wanted: string, { set = [] }: AddServerFlags): NewServer | string {
  const preset = Object.hasOwn(MCP_PRESETS, wanted) ? MCP_PRESETS[wanted] : undefined;
  if (!preset) return `There is no preset ${wanted}. Choose from: ${Object.keys(MCP_PRESETS).join(", ")}.`;
  const { variables, userHome } = world.environment;
  const given = { set: pairs(set), hasVariable: (name: string) => variables(name) !== undefined, userHome };
  const made = presetSettings(preset, given);
  if (made.kind === "missing") return missingText(preset, made.names);
  const told = preset.needs.some(({ usual }) => usual === undefined); // who has the values has done the steps
  return {
    settings: made.settings,
    after: [...(told ? [] : preset.steps.map((step) => `- ${step}`)), ...preset.after],
  };
}

function missingText({ needs, steps }: McpPreset, names: readonly string[]): string {
  const lines = needs.filter(({ name }) => names.includes(name)).map(({ name, what }) => `  --set ${name}=…   ${what}`);
  return [
    "Nothing was written yet. What to create, and where:",
    ...steps.map((step) => `- ${step}`),
    "Then say it again with:",
    ...lines,
  ].join("\n");
}

/** A text: why not. */
function ownServer(cwd: string, command: readonly string[], flags: AddServerFlags): NewServer | string {
  const settings = ownSettings(cwd, command, flags);
  if (settings === null) return "Say either --url ADDRESS, or -- COMMAND ARGUMENTS…, or --preset PRESET.";
  return {
    settings,
    after: ["Try it: pi-gw mcp test NAME", ...(flags.oauth === true ? ["Sign in first: pi-gw mcp login NAME"] : [])],
  };
}
