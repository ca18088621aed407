/** One plugin by itself, for tests and checks of its author: loaded, and run by the same steps as in a gateway. */
import type { GatewayPlugin } from "../../contracts/plugin.ts";
import type { Clock } from "../../kit/clock.ts";
import type { Log } from "../../kit/log.ts";
import type { Usable } from "../folder/discover.ts";
import type { PluginServices } from "./api.ts";
import { type RunningPlugin, startPlugin } from "./plugin.ts";
import { createPluginCopy } from "./plugin-copy.ts";
import { createSourceLocation, NO_LOCATION, type SourceLocation } from "./source-location.ts";

interface GivenPlugin {
  readonly id: string;
  readonly version: string;
  readonly config: Readonly<Record<string, unknown>>;
  readonly folder: string;
  readonly storageFile: string;
  readonly startServices: boolean;
  readonly init: GatewayPlugin;
}

export function runPlugin(
  deps: { readonly clock: Clock; readonly log: Log },
  services: PluginServices,
  { init, ...identity }: GivenPlugin,
): Promise<RunningPlugin> {
  return startPlugin(deps, services, { ...identity, digest: null, location: NO_LOCATION, load: async () => init });
}

interface LoadingPlugin {
  load(): Promise<GatewayPlugin>;
  /** Where its errors come from. */
  readonly location: SourceLocation;
}

/** From a copy below `home`, as a gateway does it. */
export function loadPlugin(home: string, found: Usable): LoadingPlugin {
  const copy = createPluginCopy(home, found, 1);
  return { load: copy.load, location: createSourceLocation(copy.folder, found) };
}
