/** What plugins may import from the gateway by name, each loaded when the first plugin asks for it. */
export const SDK_MODULES = { "pi-gateway/plugin": pluginModule, "pi-gateway/client": clientModule } as const;

async function pluginModule() {
  const { defineTool, openHarness } = await import("./plugin.ts");
  return { defineTool, openHarness };
}

async function clientModule() {
  const { createGatewayClient, isGatewayRequestError } = await import("../client/index.ts");
  return { createGatewayClient, isGatewayRequestError };
}
