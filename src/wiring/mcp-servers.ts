/** MCP servers of the settings, whose tools become tools of the gateway. */
import type { Lifetime } from "../kit/lifetime.ts";
import { systemResolver } from "../kit/outside/public-address.ts";
import { createMcpServers, type McpServers } from "../mcp/client/index.ts";
import type { Agents } from "./agents.ts";
import type { Core } from "./core.ts";
import type { Tools } from "./tools.ts";

/** Longer than a server that does not want to end takes step by step. */
const MCP_STOP_MS = 10_000;

export function openMcpServers(
  life: Lifetime,
  { clock, ids, log, config, options }: Core,
  { tools, agents }: { readonly tools: Tools; readonly agents: Agents },
): McpServers {
  const { registry, questions } = tools;
  const { home, version } = options;
  const servers = createMcpServers(
    { clock, ids, log, registry, questions, programs: agents.programs, resolve: systemResolver },
    { home, version },
  );
  life.own("MCP servers", servers, MCP_STOP_MS);
  servers.apply(config().mcp); // tools that are known are there before the first turn
  return servers;
}
