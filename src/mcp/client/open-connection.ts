/** Opens a connection to a server by its settings: a program behind the wall, or an address. The library is loaded here, by the first server that is needed. */
import type { McpServerSettings } from "../../config/index.ts";
import type { Programs } from "../../contracts/programs.ts";
import { isGatewayError } from "../../contracts/errors.ts";
import type { Clock } from "../../kit/clock.ts";
import { lazy } from "../../kit/deferred.ts";
import type { Log } from "../../kit/log.ts";
import { createGuardedStream } from "../../kit/outside/guarded-stream.ts";
import type { Resolver } from "../../kit/outside/public-address.ts";
import type { Connected } from "./connection.ts";

export type OpenConnection = (
  settings: McpServerSettings,
  parts: ConnectionParts,
  signal: AbortSignal,
) => Promise<Connected>;

export interface ConnectionParts {
  /** It is known to speak only the protocol of before 2026. */
  readonly legacy: boolean;
  listChanged(): void;
  closed(why: string): void;
  heard(): void;
}

interface OpenDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly programs: Programs;
  readonly resolve: Resolver;
  readonly version: string;
}

interface NamedServer {
  readonly name: string;
  readonly settings: McpServerSettings;
}

const library = lazy(async () => ({
  ...(await import("./connection.ts")),
  ...(await import("./stdio-transport.ts")),
  ...(await import("./http-transport.ts")),
}));

const MAX_ANSWER_BYTES = 64 * 1024 * 1024;
const IDLE_MS = 120_000;

export function createOpenConnection(deps: OpenDeps, name: string): OpenConnection {
  return async (settings, parts, signal) => {
    if (settings.url !== undefined) return openAddress(deps, { name, settings }, parts, signal);
    const open = (legacy: boolean) => openProgram(deps, { name, settings }, { ...parts, legacy }, signal);
    try {
      return await open(parts.legacy);
    } catch (error) {
      // some servers of before 2026 end when they are asked something that they do not know
      if (parts.legacy || signal.aborted || isGatewayError(error)) throw error;
      return await open(true);
    }
  };
}

async function openProgram(
  { clock, log, programs, version }: OpenDeps,
  { name, settings }: NamedServer,
  parts: ConnectionParts,
  signal: AbortSignal,
): Promise<Connected> {
  const { connect, createStdioTransport } = await library();
  const { command = "", args, env, folders, network, startMs } = settings;
  let end: string | null = null;
  const transport = createStdioTransport({ clock }, async () => {
    const program = await programs.start({
      name: `mcp-${name}`,
      command,
      args,
      env,
      folders,
      network,
      setting: `mcp.servers.${name}`,
      output: (bytes) => transport.push(bytes),
    });
    void program.ended.then(({ detail, asked }) => {
      if (!asked) end = detail;
      transport.ended(detail);
    });
    return program;
  });
  const closed = (why: string): void => parts.closed(end ?? why);
  try {
    return await connect({ log }, { version, startMs, transport, ...parts, closed }, signal);
  } catch (error) {
    await transport.close();
    if (end !== null && !isGatewayError(error)) throw new Error(end, { cause: error });
    throw error;
  }
}

/** An address that the owner wrote down may be on a private network; whatever it sends us to may not. */
async function openAddress(
  { clock, log, resolve, version }: OpenDeps,
  { name, settings }: NamedServer,
  parts: ConnectionParts,
  signal: AbortSignal,
): Promise<Connected> {
  const { connect, createHttpTransport, explained } = await library();
  const { url = "", startMs } = settings;
  const fetch = createGuardedStream(
    { clock, resolve },
    { trustedOrigins: [url], maxBytes: MAX_ANSWER_BYTES, idleMs: IDLE_MS },
  );
  const transport = createHttpTransport(fetch, settings, null);
  try {
    return await connect({ log }, { version, startMs, transport, ...parts }, signal);
  } catch (error) {
    await transport.close();
    throw explained(error, name);
  }
}
