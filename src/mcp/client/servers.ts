/** All MCP servers of the settings: those that are new are learnt, those that are gone are stopped, and the others go on as they are. */
import type { Config, McpServerSettings } from "../../config/index.ts";
import type { Questions } from "../../contracts/channels/question.ts";
import type { McpClients, McpServerStatus } from "../../contracts/mcp.ts";
import type { ToolRegistry } from "../../contracts/tools/tool.ts";
import type { Clock } from "../../kit/clock.ts";
import type { Ids } from "../../kit/ids.ts";
import type { Log } from "../../kit/log.ts";
import type { McpConnections } from "./open-connection.ts";
import { createMcpServer, fingerprintOf, type McpServer } from "./server.ts";
import { catalogFile } from "./state-file.ts";
import { createTrials, type TryServer } from "./trial.ts";

interface McpServersDeps {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  readonly registry: Pick<ToolRegistry, "register">;
  readonly questions: Pick<Questions, "ask">;
  /** How servers are reached. */
  readonly connections: McpConnections;
}

interface McpServersOptions {
  readonly home: string;
}

export interface McpServers extends McpClients, AsyncDisposable {
  /** Puts these settings into effect. Tools that are known are there at once. Servers that are to be stopped end in the background. */
  apply(settings: Config["mcp"]): void;
  /** From now on servers whose tools are not known are started to learn them. */
  learn(): void;
  /** A server with these settings, whether it is saved or not. */
  readonly tryOut: TryServer;
  /** Sentences about servers that do not work, and about tools that wait for an owner. */
  notices(): readonly string[];
}

export function createMcpServers(deps: McpServersDeps, options: McpServersOptions): McpServers {
  const servers = new Map<string, McpServer>();
  const ending = new Set<Promise<void>>();
  let off: readonly string[] = [];
  let learns = false;

  const end = (name: string): void => {
    const server = servers.get(name);
    servers.delete(name);
    if (server === undefined) return;
    const ended = stopped(name, server).finally(() => ending.delete(ended));
    ending.add(ended);
  };
  /** Never rejects. */
  const stopped = async (name: string, server: McpServer): Promise<void> => {
    try {
      await server[Symbol.asyncDispose]();
    } catch (error) {
      deps.log.error("MCP server could not be stopped", { server: name, error });
    }
  };
  const begin = (name: string, settings: McpServerSettings): void => {
    const open = deps.connections.open(name);
    const server = createMcpServer({ ...deps, file: catalogFile(options.home, name), open }, name, settings);
    servers.set(name, server);
    if (learns) server.learn();
  };
  return {
    apply({ servers: wanted }) {
      off = Object.keys(wanted).filter((name) => wanted[name]?.enabled === false);
      const on = Object.entries(wanted).filter(([, { enabled }]) => enabled);
      const names = new Set(on.map(([name]) => name));
      for (const name of servers.keys()) if (!names.has(name)) end(name);
      for (const [name, settings] of on) {
        const running = servers.get(name);
        if (running?.fingerprint === fingerprintOf(settings)) running.update(settings);
        else {
          end(name);
          begin(name, settings);
        }
      }
    },
    learn() {
      learns = true;
      for (const server of servers.values()) server.learn();
    },
    list: () => [...[...servers.values()].map((server) => server.status()), ...off.map(offStatus)].toSorted(byName),
    test: async (name, signal) => (await servers.get(name)?.test(signal)) ?? null,
    tryOut: createTrials(deps),
    accept(name) {
      const server = servers.get(name);
      server?.accept();
      return server?.status() ?? null;
    },
    notices: () => [...servers.values()].flatMap((server) => noticesOf(server.status())),
    async [Symbol.asyncDispose]() {
      for (const name of servers.keys()) end(name);
      await Promise.all(ending);
      deps.connections[Symbol.dispose]();
    },
  };
}

const byName = (a: McpServerStatus, b: McpServerStatus): number => (a.name < b.name ? -1 : 1);

function offStatus(name: string): McpServerStatus {
  return {
    name,
    kind: "program",
    state: "off",
    server: "",
    protocol: "",
    tools: [],
    trouble: null,
    nextTryAt: null,
    notices: [],
  };
}

function noticesOf({ name, trouble, tools }: McpServerStatus): readonly string[] {
  const waiting = tools.filter(({ review }) => review === "new" || review === "changed");
  const which = waiting.length === 1 ? "A tool" : `${waiting.length} tools`;
  return [
    ...(trouble === null ? [] : [`The MCP server ${name} does not work: ${trouble}`]),
    ...(waiting.length === 0
      ? []
      : [
          `${which} of the MCP server ${name} changed or came later; the next call asks you. See: pi-gw mcp list ${name}`,
        ]),
  ];
}
