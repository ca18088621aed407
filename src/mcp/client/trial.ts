/** A try of a server with settings that are not saved: started, asked for its tools, and ended. None of its tools can be called, and no list of them is kept. */
import type { McpServerSettings } from "../../config/index.ts";
import { GatewayError } from "../../contracts/errors.ts";
import type { McpServerStatus } from "../../contracts/mcp.ts";
import type { Clock } from "../../kit/clock.ts";
import type { Ids } from "../../kit/ids.ts";
import type { Log } from "../../kit/log.ts";
import type { McpConnections } from "./open-connection.ts";
import { createMcpServer, type McpServerDeps } from "./server.ts";
import { unavailable } from "./server-life.ts";

interface TrialDeps {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  readonly connections: Pick<McpConnections, "open">;
}

export type TryServer = (name: string, settings: McpServerSettings, signal: AbortSignal) => Promise<McpServerStatus>;

/** A package may have to be downloaded first. */
const TRIAL_MS = 120_000;
const MAX_TRIALS = 3;

/** Rejects with GatewayError `mcp_unavailable`, or `conflict` when as many are tried as can be. */
export function createTrials(deps: TrialDeps): TryServer {
  let running = 0;
  return async (name, settings, signal) => {
    if (running >= MAX_TRIALS) {
      const say = `${MAX_TRIALS} MCP servers are being tried already. Try again when one of them is done.`;
      throw new GatewayError("conflict", "too many trials of MCP servers", { say });
    }
    running++;
    try {
      return await tryOnce(deps, name, settings, signal);
    } finally {
      running--;
    }
  };
}

async function tryOnce(
  { clock, ids, log, connections }: TrialDeps,
  name: string,
  settings: McpServerSettings,
  signal: AbortSignal,
): Promise<McpServerStatus> {
  using limit = clock.deadline(TRIAL_MS, () => unavailable(name, `It did not answer within ${TRIAL_MS / 1_000} s.`));
  const parts: McpServerDeps = {
    clock,
    ids,
    log,
    registry: { register: () => ({ [Symbol.dispose]: () => undefined }) },
    questions: { ask: async () => ({ kind: "none" }) },
    file: { read: () => null, write: () => undefined },
    open: connections.open(name),
  };
  await using server = createMcpServer(parts, name, settings);
  log.info("MCP server tried before it is saved", { server: name });
  return await server.test(AbortSignal.any([signal, limit.signal]));
}
