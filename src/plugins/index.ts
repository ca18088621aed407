/**
 * Plugins: code of the owner's choice that runs inside the gateway and registers tools, commands, hooks, routes, services, skills and channels.
 * `startPlugins` finds, runs and follows them; `discoverPlugins` only looks, for `doctor`; `createHooks` is where the rest of the house asks
 * them. Each plugin can be replaced while the others go on, and what one does wrong stays with it.
 */
export { tellSent, tellTurns } from "./observed-hooks.ts";
export { createHooks, type PluginHooks } from "./hooks.ts";
export { type BuiltinPlugin, type Plugins, type PluginsOptions, startPlugins } from "./host.ts";
export { checkPluginConfig, wrapSecrets } from "./folder/check-config.ts";
export { loadPlugin, runPlugin } from "./run/run-plugin.ts";
export { provideModules } from "./run/sdk-modules.ts";
export { type Discovered, discoverPlugins } from "./folder/discover.ts";
