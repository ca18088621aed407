/**
 * Puts a plugin's files where they are loaded from: a fresh place for each load, because a module that was loaded once is never read again.
 * What an earlier load left in memory stays there until the gateway ends; its files are removed.
 */
import { chmod, mkdir, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { GatewayError } from "../../contracts/errors.ts";
import type { GatewayPlugin } from "../../contracts/plugin.ts";
import type { Usable } from "../folder/discover.ts";

interface PluginCopy {
  /** Where the code of this plugin is; stack traces name it. */
  readonly folder: string;
  load(): Promise<GatewayPlugin>;
  remove(): Promise<void>;
}

export function pluginCopiesFolder(home: string): string {
  return join(home, "run", "plugins");
}

export function createPluginCopy(home: string, found: Usable, count: number): PluginCopy {
  const folder = join(pluginCopiesFolder(home), found.id, `${found.digest.slice(0, 12)}-${count}`);
  return {
    folder,
    async load() {
      await write(folder, found.files);
      const module: unknown = await import(pathToFileURL(join(folder, found.manifest.main)).href);
      const main = typeof module === "object" && module !== null && "default" in module ? module.default : null;
      if (typeof main === "function") return main as GatewayPlugin; // its shape is the plugin's promise; a wrong one fails in init
      const say = `${found.manifest.main} has no default export that is a function.`;
      throw new GatewayError("plugin_invalid", say, { say });
    },
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}

/** Nothing of a previous process is loaded again. */
export async function clearPluginCopies(home: string): Promise<void> {
  await rm(pluginCopiesFolder(home), { recursive: true, force: true });
}

async function write(folder: string, files: ReadonlyMap<string, Uint8Array>): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await chmod(folder, 0o700);
  for (const [path, content] of files) {
    const target = join(folder, path);
    await mkdir(dirname(target), { recursive: true, mode: 0o700 });
    await writeFile(target, content, { mode: 0o600, flag: "wx" });
  }
}
