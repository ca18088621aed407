/**
 * What plugins import from the gateway by name (`pi-gateway/plugin`): served from memory, so that a plugin has the names of the very gateway
 * that runs it, wherever its folder is and whatever lies beside it.
 */

/** By what plugins write in their imports. Each is loaded when the first plugin asks for it. */
export type SdkModules = Readonly<Record<string, () => Promise<object>>>;

/** Holds for the whole process, as imports do. */
export function provideModules(modules: SdkModules): void {
  Bun.plugin({
    name: "modules of pi-gateway",
    setup(build) {
      for (const [name, load] of Object.entries(modules))
        build.module(name, async () => ({ loader: "object", exports: { ...(await load()) } }));
    },
  });
}
