/** MCP servers of the settings, whose tools become tools of the gateway. */
import { checkEdits } from "../config/index.ts";
import type { SettingEdit } from "../contracts/config-api.ts";
import { GatewayError } from "../contracts/errors.ts";
import type { McpClients, McpTrials } from "../contracts/mcp.ts";
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
const SERVER_PATH = ["mcp", "servers"];

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

/** `file`: the settings that are in force are in it; null: there is none. */
export function mcpServersForPort(
  { options }: Core,
  { list, test, accept, tryOut }: McpServers,
  file: () => string | null,
): McpClients & McpTrials {
  const { environment, configSource } = options;
  return {
    list,
    test,
    accept,
    async try(name, edits, signal) {
      const isOwn = ({ path }: SettingEdit): boolean =>
        SERVER_PATH.every((key, at) => path[at] === key) && path[2] === name;
      if (!edits.every(isOwn)) {
        const say = `Only settings below mcp.servers.${name} can be tried here.`;
        throw new GatewayError("bad_request", "other settings than those of the server", { say });
      }
      const { servers } = (await checkEdits(file() ?? configSource.expectedPath, edits, environment.variables)).mcp;
      const settings = Object.hasOwn(servers, name) ? servers[name] : undefined;
      if (settings !== undefined) return tryOut(name, settings, signal);
      const say = `There would be no MCP server called ${name} with these settings.`;
      throw new GatewayError("bad_request", "no such server", { say });
    },
  };
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
