/** What `doctor` and `config check` say about plugins: whether those that are enabled could be loaded. Loads none of them. */
import type { Config } from "../config/index.ts";
import type { Discovered } from "../plugins/index.ts";
import type { CliWorld } from "./world.ts";

interface PluginFinding {
  readonly state: "ok" | "broken";
  readonly say: string;
}

type PluginsWorld = Pick<CliWorld, "environment" | "version">;

export async function checkPlugins(
  world: PluginsWorld,
  home: string,
  config: Config,
): Promise<readonly PluginFinding[]> {
  if (config.plugins.enabled.length === 0) return [{ state: "ok", say: "none enabled" }];
  return (await enabledPlugins(world, home, config)).map((one) => {
    if (one.kind === "usable") return { state: "ok", say: `${one.id} ${one.manifest.version}, sha256 ${one.digest}` };
    return { state: "broken", say: `${one.id}: ${one.kind === "refused" ? one.why : "it is not loaded"}` };
  });
}

export async function enabledPlugins(
  world: PluginsWorld,
  home: string,
  config: Config,
): Promise<readonly Discovered[]> {
  const { enabled, disabled } = config.plugins;
  if (enabled.length === 0) return [];
  const { discoverPlugins } = await import("../plugins/index.ts");
  const { userHome } = world.environment;
  const { allWorkspaces } = await import("../agents/index.ts");
  const found = discoverPlugins(config.plugins, {
    home,
    version: world.version,
    owner: process.getuid?.() ?? null,
    userHome,
    agentFolders: allWorkspaces(config, { home, environment: world.environment }),
  });
  return found.filter(({ id }) => enabled.includes(id) && !disabled.includes(id));
}
