/** Plugins: those that are installed, and the one that brings the built-in tools. */
import { allWorkspaces } from "../agents/index.ts";
import { builtinPlugins, IDS_TO_DISABLE } from "../builtin.ts";
import type { Config } from "../config/index.ts";
import type { Tool, ToolFactory } from "../contracts/tools/tool.ts";
import { type Plugins, type PluginsOptions, startPlugins } from "../plugins/index.ts";
import { SDK_MODULES } from "../sdk/index.ts";
import type { StrayFailures } from "../stray-failures.ts";
import type { Automation } from "./automation.ts";
import { type Core, type GatewayOptions, ofModule } from "./core.ts";
import type { Messages } from "./messages.ts";
import type { Tools } from "./tools.ts";

interface PluginParts {
  readonly tools: Tools;
  readonly messages: Messages;
  readonly automation: Automation;
  /** Asked again when the settings bring others. */
  builtInTools(): readonly (Tool | ToolFactory)[];
  readonly stray: StrayFailures;
}

export function openPlugins(
  whole: Core,
  { tools, messages, automation, builtInTools, stray }: PluginParts,
): Promise<Plugins> {
  const core = ofModule(whole, "plugins");
  const { clock, log, events, hooks, secrets, config, options } = core;
  return startPlugins(
    {
      clock,
      log,
      events,
      hooks,
      hide: secrets.hide,
      ofNoPlugin: stray.take,
      registry: tools.registry,
      skills: tools.skills,
      commands: messages.commands,
      platforms: messages.platforms,
      mcp: tools.mcpSurface,
      tellMain: automation.tellMain,
    },
    pluginOptions(config, options, builtInTools),
  );
}

function pluginOptions(
  config: () => Config,
  options: Pick<GatewayOptions, "home" | "version" | "environment">,
  builtInTools: () => readonly (Tool | ToolFactory)[],
): PluginsOptions {
  return {
    home: options.home,
    version: options.version,
    userHome: options.environment.userHome,
    builtin: builtinPlugins(builtInTools),
    modules: SDK_MODULES,
    disabledIds: IDS_TO_DISABLE,
    config: () => config().plugins,
    agentFolders: () => allWorkspaces(config(), options), // agents write there: no plugin is loaded from them
  };
}
