/**
 * The gateway as an MCP server: tools, resources and prompts for Claude Desktop, editors and every other MCP client, over `/mcp`.
 * It knows neither the port nor who may call; each tool call passes the gate, and it refuses what a caller may not see.
 */
export { createMcpSurface } from "./surface.ts";
export { createMcpDoor } from "./door.ts";
export type { McpDoorDeps } from "./deps.ts";
