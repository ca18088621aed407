/** The routes of plugins and MCP servers, a part of `HttpApi`. Types only. */
import type { SettingEdit } from "./config-api.ts";
import type { McpServerStatus } from "./mcp.ts";
import type { PluginStatus } from "./plugin.ts";

export interface ExtensionsApi {
  "GET /api/plugins": { result: { items: readonly PluginStatus[] } };
  "POST /api/plugins/:id/reload": { path: { id: string }; result: { plugin: PluginStatus } };
  "GET /api/mcp": { result: { items: readonly McpServerStatus[] } };
  "POST /api/mcp/:name/test": { path: { name: string }; result: McpServerStatus };
  /** A server as it would be with changes below `mcp.servers.NAME` that are not saved. */
  "POST /api/mcp/:name/try": {
    path: { name: string };
    body: { edits: readonly SettingEdit[] };
    result: McpServerStatus;
  };
  "POST /api/mcp/:name/accept": { path: { name: string }; result: McpServerStatus };
}
