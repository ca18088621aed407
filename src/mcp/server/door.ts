/** The MCP door. The library behind it is loaded with the first request: most gateways never see one. */
import type { McpDoor } from "../../contracts/mcp-door.ts";
import { lazy } from "../../kit/deferred.ts";
import type { McpDoorDeps } from "./deps.ts";

export function createMcpDoor(deps: McpDoorDeps): McpDoor {
  let opened: McpDoor | null = null;
  const serving = lazy(async () => {
    const { createServing } = await import("./serve.ts");
    opened = createServing(deps);
    return opened;
  });
  return {
    answer: async (request, asking) => (await serving()).answer(request, asking),
    async [Symbol.asyncDispose]() {
      await opened?.[Symbol.asyncDispose]();
    },
  };
}
