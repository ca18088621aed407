/** Which plugins there are, and what is to become of each: found, checked against the settings, with a reason. Reads folders, runs nothing. */
import { existsSync, lstatSync, readdirSync, realpathSync } from "node:fs";
import { basename, isAbsolute, join, relative, resolve, sep } from "node:path";
import type { Config } from "../../config/index.ts";
import type { PluginManifest } from "../../contracts/plugin.ts";
import { checkPluginConfig, type SettingProblem } from "./check-config.ts";
import { MANIFEST_FILE, PLUGIN_ID, readManifest } from "./manifest.ts";
import { type PluginFiles, readFolder } from "./read-folder.ts";

interface DiscoverOptions {
  readonly home: string;
  readonly version: string;
  readonly owner: number | null;
  readonly userHome: string;
  /** Where agents write: nothing is loaded from there. */
  readonly agentFolders: readonly string[];
}

export interface Usable extends PluginFiles {
  readonly kind: "usable";
  readonly id: string;
  readonly folder: string;
  readonly manifest: PluginManifest;
  readonly config: Readonly<Record<string, unknown>>;
}

export type Discovered =
  | Usable
  /** Found and left alone: nobody asked for it (`available`), or somebody asked not to (`disabled`). */
  | { readonly kind: "available" | "disabled"; readonly id: string; readonly folder: string }
  | Refused;

interface Refused {
  readonly kind: "refused";
  readonly id: string;
  readonly folder: string | null;
  readonly why: string;
  /** The wrong settings, when those are the reason. */
  readonly settings?: readonly SettingProblem[];
}

type PluginsConfig = Config["plugins"];

const MAX_PLUGINS = 200;

/** Where plugins are looked for, in this order: the state directory's own folder, then those of the settings. */
export function pluginRoots(
  config: Pick<PluginsConfig, "dirs">,
  options: Pick<DiscoverOptions, "home" | "userHome">,
): readonly string[] {
  const expand = (path: string) =>
    path === "~" || path.startsWith("~/") ? join(options.userHome, path.slice(1)) : resolve(path);
  return [...new Set([join(options.home, "plugins"), ...config.dirs.map(expand)])];
}

export function discoverPlugins(config: PluginsConfig, options: DiscoverOptions): readonly Discovered[] {
  const found = new Map<string, Discovered>();
  const folders = pluginRoots(config, options).flatMap(pluginFolders).slice(0, MAX_PLUGINS);
  for (const folder of folders) {
    const one = judge(folder, config, options);
    const before = found.get(one.id);
    // Asked for by id, so a second one of the same id cannot be told apart: neither the first nor chance decides silently.
    if (before) found.set(one.id, refusedTwice(before, folder));
    else found.set(one.id, one);
  }
  for (const id of config.enabled) {
    if (found.has(id) || config.disabled.includes(id)) continue;
    const why = `It is in plugins.enabled, but there is no such plugin. Put its folder into ${join(options.home, "plugins")}, or name its place in plugins.dirs.`;
    found.set(id, { kind: "refused", id, folder: null, why });
  }
  return [...found.values()];
}

/** A folder of plugins, or one plugin by itself. */
function pluginFolders(root: string): readonly string[] {
  if (existsSync(join(root, MANIFEST_FILE))) return [root];
  try {
    return readdirSync(root)
      .sort()
      .map((name) => join(root, name))
      .filter((path) => lstatSync(path).isDirectory() && existsSync(join(path, MANIFEST_FILE)));
  } catch {
    return []; // not there (yet); the watcher looks again
  }
}

function judge(folder: string, config: PluginsConfig, options: DiscoverOptions): Discovered {
  const name = basename(folder);
  const wanted = (id: string) => config.enabled.includes(id) && !config.disabled.includes(id);
  // Nothing of a folder is looked at before somebody has asked for it by name; its own name is the folder's until then.
  if (PLUGIN_ID.test(name) && !wanted(name)) {
    const kind = config.disabled.includes(name) ? "disabled" : "available";
    return { kind, id: name, folder };
  }
  const refuse = (why: string): Discovered => ({ kind: "refused", id: name, folder, why });
  if (!PLUGIN_ID.test(name)) return refuse("The name of its folder must be small letters, digits and dashes.");
  if (options.agentFolders.some((writable) => isInside(writable, folder)))
    return refuse("It lies in a folder that agents can write to.");
  const read = readFolder(folder, options.owner);
  if (!read.ok) return refuse(read.why);
  const manifest = readManifest(textOf(read.files.get(MANIFEST_FILE)), options.version);
  if (!manifest.ok) return refuse(manifest.why);
  const { id, main } = manifest.manifest;
  if (id !== name) return refuse(`${MANIFEST_FILE} says that its id is "${id}"; the folder must have the same name.`);
  if (!read.files.has(main)) return refuse(`There is no ${main} in it.`);
  const pin = config.pins[id];
  if (pin !== undefined && pin !== read.digest)
    return refuse(`It is not the one that plugins.pins.${id} names: its digest is ${read.digest}.`);
  const checked = checkPluginConfig(manifest.manifest, config.config[id] ?? {});
  if (!checked.ok) return { kind: "refused", id: name, folder, why: checked.why, settings: checked.problems };
  const { files, digest } = read;
  return { kind: "usable", id, folder, manifest: manifest.manifest, files, digest, config: checked.config };
}

function refusedTwice({ id, folder }: Discovered, second: string): Refused {
  const why = `There are two plugins with the id ${id}: ${folder} and ${second}. Remove one of them.`;
  return { kind: "refused", id, folder, why };
}

function isInside(folder: string, path: string): boolean {
  const below = relative(real(folder), real(path));
  return below === "" || (below !== ".." && !below.startsWith(`..${sep}`) && !isAbsolute(below));
}

function real(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return resolve(path); // not there: then nothing lies in it either
  }
}

function textOf(bytes: Uint8Array | undefined): string {
  return bytes ? Buffer.from(bytes).toString("utf8") : "";
}
