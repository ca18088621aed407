/** What tools there are, who may call them, and how scripts inside agents prove who they are; and where plugins come from. */
import { join } from "node:path";
import { createAgentTokens } from "./agents/index.ts";
import { builtinPlugins } from "./builtin.ts";
import type { Config } from "./config/index.ts";
import type { Store } from "./contracts/store.ts";
import type { Tool } from "./contracts/tools/tool.ts";
import type { GatewayDeps, GatewayOptions } from "./gateway.ts";
import type { PluginsOptions } from "./plugins/index.ts";
import { createToolGate, createToolRegistry } from "./tools/index.ts";

export function createToolSide(deps: GatewayDeps, store: Store) {
  const registry = createToolRegistry();
  const tools = createToolGate({ ...deps, store: store.toolCalls, registry });
  return { registry, tools, agentTokens: createAgentTokens(deps) };
}

/** The gateway's own tools come by the same door as everybody's. */
export function pluginOptions(config: () => Config, options: GatewayOptions, own: readonly Tool[]): PluginsOptions {
  return {
    ...options,
    userHome: options.environment.userHome,
    builtin: builtinPlugins(own),
    config: () => config().plugins,
    agentFolders: () => agentWorkspaces(config(), options),
  };
}

/** Where agents write: no plugin is loaded from there. */
function agentWorkspaces({ agent, agents, roles }: Config, { home, environment }: GatewayOptions): readonly string[] {
  const all = [agent, ...agents, ...Object.values(roles.profiles)];
  const given = all.flatMap((one) => (one?.workspace === undefined ? [] : [one.workspace]));
  const expand = (path: string) => (/^~(?=$|\/)/.test(path) ? join(environment.userHome, path.slice(1)) : path);
  return [join(home, "workspace"), ...given.map(expand)];
}
