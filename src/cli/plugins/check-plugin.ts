/** `pi-gw plugins check`: whether a plugin could be loaded, what it registers, and whether its types are right. Runs its code, and no gateway. */
import { stat } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import type { Config } from "../../config/index.ts";
import { GatewayError } from "../../contracts/errors.ts";
import { visible, visibleLines } from "../../observe/index.ts";
import { configOfFile } from "../config-command.ts";
import { EXIT_FAILED, EXIT_OK } from "../exit-code.ts";
import { homeOf } from "../state-directory.ts";
import type { CliWorld, CommonFlags } from "../world.ts";
import { writeSdk } from "./new-plugin.ts";

export interface CheckPluginFlags extends CommonFlags {
  readonly config?: string;
}

/** A plugin of many files is checked in a second or two. */
const TYPES_MS = 60_000;

interface Report {
  readonly id: string;
  readonly ok: boolean;
  readonly problems: readonly string[];
  /** "tools: weather". */
  readonly provides: readonly string[];
  readonly notices: readonly string[];
}

/** `named`: an id in the state directory, or a folder. */
export async function checkOnePlugin(world: CliWorld, named: string, flags: CheckPluginFlags): Promise<number> {
  const home = homeOf(flags.home, world.environment);
  const { plugins } = await configOfFile(world, flags);
  const isPath = named.includes("/") || named === ".";
  const folder = isPath ? resolve(world.cwd, named) : await folderOf(world, named, { home, plugins });
  if (!(await isFolder(folder))) {
    const say = `There is no folder ${folder}. Name a plugin of the gateway, or the folder of one.`;
    throw new GatewayError("not_found", say, { say });
  }
  const report = await reportOf(world, folder, { home, plugins });
  if (flags.json) world.stdout(`${JSON.stringify(report)}\n`);
  else for (const line of linesOf(report)) world.stdout(`${visibleLines(line)}\n`);
  const code = report.ok ? EXIT_OK : EXIT_FAILED;
  world.exit?.(code); // a timer or connection of the plugin would keep this process
  return code;
}

interface Places {
  readonly home: string;
  readonly plugins: Config["plugins"];
}

/** Where the gateway would find it: in the state directory, or in `plugins.dirs`. */
async function folderOf(world: CliWorld, id: string, { home, plugins }: Places): Promise<string> {
  const { discoverPlugins } = await import("../../plugins/index.ts");
  const settings = { ...plugins, enabled: [], disabled: [] };
  const found = discoverPlugins(settings, placesOf(world, home)).find((one) => one.id === id);
  return found?.folder ?? join(home, "plugins", id);
}

function placesOf(world: CliWorld, home: string) {
  const owner = process.getuid?.() ?? null;
  return { home, version: world.version, owner, userHome: world.environment.userHome, agentFolders: [] };
}

async function reportOf(world: CliWorld, folder: string, { home, plugins }: Places): Promise<Report> {
  const id = basename(folder);
  const failed = (...problems: string[]): Report => ({ id, ok: false, problems, provides: [], notices: [] });
  const { discoverPlugins } = await import("../../plugins/index.ts");
  const settings = { ...plugins, enabled: [id], disabled: [], dirs: [folder], pins: {} };
  const places = placesOf(world, join(home, "none")); // only the folder that was named
  const found = discoverPlugins(settings, places).find((one) => one.id === id);
  if (!found || found.kind !== "usable") return failed(found?.kind === "refused" ? found.why : "It is not a plugin.");
  const { checkPlugin } = await import("../../sdk/index.ts");
  const checked = await checkPlugin(found);
  if (!checked.ok) return failed(checked.why);
  const types = found.files.has("tsconfig.json") ? await typeProblems(world, folder) : [];
  const provides = Object.entries(checked.provides).flatMap(([kind, names]) =>
    names.length === 0 ? [] : [`${kind}: ${names.join(", ")}`],
  );
  return { id, ok: types.length === 0, problems: types, provides, notices: checked.notices };
}

/** What the type checker says, line by line, with file and line. The types beside the plugin are brought up to date first. */
async function typeProblems(world: CliWorld, folder: string): Promise<readonly string[]> {
  const { assets } = world;
  if (!assets || (await writeSdk(world, dirname(folder))) === null) return [];
  const child = Bun.spawn([...assets.bun, "check", "--no-script", "--no-pretty", "-p", folder], {
    cwd: folder,
    env: { ...assets.bunEnv },
    stdio: ["ignore", "pipe", "ignore"],
    timeout: TYPES_MS,
  });
  const [output, code] = await Promise.all([new Response(child.stdout).text(), child.exited]);
  const errors = output.split("\n").filter((line) => line.includes("error TS"));
  return code === 0 || errors.length > 0 ? errors : ["Its types could not be checked."];
}

function linesOf({ id, ok, problems, provides, notices }: Report): readonly string[] {
  const head = ok ? `${id} can be loaded.` : `${id} is not in order:`;
  return [visible(head), ...[...problems, ...provides, ...notices].map((line) => `  ${line}`)];
}

async function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
}
