/** What `doctor` says about plugins: whether those that are enabled could be loaded. Loads none of them. */
import { join } from "node:path";
import type { Config } from "../../config/index.ts";
import type { CliWorld } from "../world.ts";

export interface PluginFinding {
  readonly state: "ok" | "broken";
  readonly say: string;
}

export async function checkPlugins(
  world: Pick<CliWorld, "environment" | "version">,
  home: string,
  config: Config,
): Promise<readonly PluginFinding[]> {
  const { enabled, disabled } = config.plugins;
  if (enabled.length === 0) return [{ state: "ok", say: "none enabled" }];
  const { discoverPlugins } = await import("../../plugins/index.ts");
  const { userHome } = world.environment;
  const given = [config.agent, ...config.agents].flatMap(({ workspace }) => (workspace ? [workspace] : []));
  const found = discoverPlugins(config.plugins, {
    home,
    version: world.version,
    owner: process.getuid?.() ?? null,
    userHome,
    agentFolders: [join(home, "workspace"), ...given],
  });
  return found
    .filter(({ id }) => enabled.includes(id) && !disabled.includes(id))
    .map((one) => {
      if (one.kind === "usable") return { state: "ok", say: `${one.id} ${one.manifest.version}, sha256 ${one.digest}` };
      return { state: "broken", say: `${one.id}: ${one.kind === "refused" ? one.why : "it is not loaded"}` };
    });
}
