/** `pi-gw plugins new`: a plugin that works, with the types beside it. Writes into a folder that is not there yet, and changes no settings. */
import { access, mkdir, rm, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { GatewayError } from "../../contracts/errors.ts";
import { isObject } from "../../kit/json.ts";
import { EXIT_OK } from "../exit-code.ts";
import { homeOf } from "../state-directory.ts";
import type { CliWorld, CommonFlags } from "../world.ts";
import { pluginTemplate } from "./plugin-template.ts";

export interface NewPluginFlags extends CommonFlags {
  readonly dir?: string;
  readonly js?: boolean;
}

const PLUGIN_ID = /^[a-z0-9][a-z0-9-]{0,63}$/;
const PRIVATE_FOLDER = 0o700;
const PRIVATE_FILE = 0o600;

export async function newPlugin(world: CliWorld, id: string, flags: NewPluginFlags): Promise<number> {
  const home = homeOf(flags.home, world.environment);
  const root = flags.dir === undefined ? join(home, "plugins") : resolve(world.cwd, flags.dir);
  const folder = join(root, id);
  if (!PLUGIN_ID.test(id)) throw refused("The name of a plugin is small letters, digits and dashes, at most 64.");
  if (await isThere(folder)) throw refused(`${folder} is there already. Choose another name, or remove it.`);
  const files = pluginTemplate({ id, language: flags.js ? "js" : "ts", gatewayVersion: world.version });
  await mkdir(folder, { recursive: true, mode: PRIVATE_FOLDER });
  for (const [name, text] of files) await writeFile(join(folder, name), text, { mode: PRIVATE_FILE, flag: "wx" });
  const sdk = await writeSdk(world, root);
  const made = [...files.keys()].map((name) => join(folder, name));
  if (flags.json) world.stdout(`${JSON.stringify({ id, folder, files: made, sdk })}\n`);
  else world.stdout(`${nextSteps(id, folder, sdk)}\n`);
  return EXIT_OK;
}

/**
 * Puts the types and the test harness into `node_modules` of the folder that plugins are in: editors, tsc and test runners look for packages in
 * every folder above a file. Null: this build has none with it.
 */
export async function writeSdk(world: Pick<CliWorld, "assets">, root: string): Promise<string | null> {
  const files = await world.assets?.sdk();
  if (!files) return null;
  const folder = join(root, "node_modules", "pi-gateway");
  if (await isInstalled(folder)) return folder;
  await rm(folder, { recursive: true, force: true });
  for (const [name, path] of files) {
    const target = join(folder, name);
    await mkdir(dirname(target), { recursive: true, mode: PRIVATE_FOLDER });
    await writeFile(target, await Bun.file(path).bytes(), { mode: PRIVATE_FILE });
  }
  return folder;
}

/** The whole package, put there by a package manager: it has the types itself, and is not ours to replace. */
async function isInstalled(folder: string): Promise<boolean> {
  const about: unknown = await Bun.file(join(folder, "package.json"))
    .json()
    .catch(() => null); // there is none yet
  return isObject(about) && "bin" in about;
}

function nextSteps(id: string, folder: string, sdk: string | null): string {
  return [
    `Made ${folder}.`,
    ...(sdk === null ? [] : [`Types for your editor: ${sdk}.`]),
    `Check it:  pi-gw plugins check ${id}`,
    `Test it:   npx bun test ${folder}   (in the folder of the gateway, which brings Bun)`,
    `Switch it on by adding "${id}" to plugins.enabled in the configuration.`,
  ].join("\n");
}

async function isThere(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

function refused(say: string): GatewayError {
  return new GatewayError("bad_request", say, { say });
}
