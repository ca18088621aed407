/**
 * The plugin SDK: what authors of plugins import (plugin.ts, as `pi-gateway/plugin`), a harness that runs a plugin in a test, and the check of
 * `pi-gw plugins check`. The gateway hands the module to plugins; it uses nothing of it itself.
 */
export { checkPlugin } from "./check-plugin.ts";
export { SDK_MODULES } from "./modules.ts";
