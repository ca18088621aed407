/** MCP servers of the settings, whose tools become tools of the gateway. */
import type { Lifetime } from "../kit/lifetime.ts";
import { systemResolver } from "../kit/outside/public-address.ts";
import {
  createHostedConnections,
  createMcpServers,
  createOwnConnections,
  type McpServers,
} from "../mcp/client/index.ts";
import type { Agents } from "./agents.ts";
import { type Core, ofModule } from "./core.ts";
import type { Tools } from "./tools.ts";

/** Longer than a server that does not want to end takes step by step. */
const MCP_STOP_MS = 10_000;

interface McpParts {
  readonly tools: Tools;
  readonly agents: Agents;
  readonly hostPath: (() => Promise<string>) | undefined;
}

export function openMcpServers(life: Lifetime, whole: Core, { tools, agents, hostPath }: McpParts): McpServers {
  const core = ofModule(whole, "mcp");
  const { clock, ids, log, config, options } = core;
  const { registry, questions } = tools;
  const connections = connectionsOf(core, agents, hostPath);
  const servers = createMcpServers({ clock, ids, log, registry, questions, connections }, { home: options.home });
  life.own("MCP servers", servers, MCP_STOP_MS);
  servers.apply(config().mcp); // tools that are known are there before the first turn
  return servers;
}

/** By the MCP host, where it was built. */
function connectionsOf(
  { clock, ids, log, options }: Core,
  { programs, ownPrograms }: Agents,
  hostPath: McpParts["hostPath"],
) {
  const { home, version } = options;
  if (hostPath === undefined)
    return createOwnConnections({ clock, log, programs, resolve: systemResolver }, { home, version });
  return createHostedConnections({ clock, ids, programs, ownPrograms }, { home, version, file: hostPath });
}
