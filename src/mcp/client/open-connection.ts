/** Opens a connection to a server by its settings: a program behind the wall, or an address. The library is loaded here, by the first server that is needed. */
import type { OAuthClientProvider, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import type { McpServerSettings } from "../../config/index.ts";
import type { ProgramOrder, Programs } from "../../contracts/programs.ts";
import { isGatewayError } from "../../contracts/errors.ts";
import type { Clock } from "../../kit/clock.ts";
import { lazy } from "../../kit/deferred.ts";
import type { Log } from "../../kit/log.ts";
import { createGuardedStream } from "../../kit/outside/guarded-stream.ts";
import type { Resolver } from "../../kit/outside/public-address.ts";
import type { Connected } from "./connection.ts";
import { type CredentialsFile, credentialsFile, tokensFor } from "./oauth/credentials-file.ts";

export type OpenConnection = (
  settings: McpServerSettings,
  parts: ConnectionParts,
  signal: AbortSignal,
) => Promise<Connected>;

/** How servers are reached: in this process, or by the MCP host. */
export interface McpConnections extends Disposable {
  open(name: string): OpenConnection;
}

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
  readonly credentials: CredentialsFile;
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
  ...(await import("./oauth/provider.ts")),
  UnauthorizedError: (await import("@modelcontextprotocol/client")).UnauthorizedError,
}));

const MAX_ANSWER_BYTES = 64 * 1024 * 1024;
const IDLE_MS = 120_000;
/** A program that does not answer the first question of the newer protocol speaks the older one. At an address silence means that nobody is there. */
const PROGRAM_PROBE_MS = 10_000;

/** In this process, which loads the library of MCP with the first connection. */
export function createOwnConnections(
  deps: Omit<OpenDeps, "credentials" | "version">,
  { home, version }: { readonly home: string; readonly version: string },
): McpConnections {
  return {
    open: (name) => createOpenConnection({ ...deps, version, credentials: credentialsFile(home, name) }, name),
    [Symbol.dispose]: () => undefined,
  };
}

export function createOpenConnection(deps: OpenDeps, name: string): OpenConnection {
  return async (settings, parts, signal) => {
    if (settings.url !== undefined)
      return openAddress(deps, { name, settings, login: storedLogin(deps.credentials, settings) }, parts, signal);
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

/** What the program of a server is started with. */
export function programOrder(name: string, settings: McpServerSettings): Omit<ProgramOrder, "output"> {
  const { command = "", args, env, folders, network } = settings;
  return { name: `mcp-${name}`, command, args, env, folders, network, setting: `mcp.servers.${name}` };
}

async function openProgram(
  { clock, log, programs, version }: OpenDeps,
  { name, settings }: NamedServer,
  parts: ConnectionParts,
  signal: AbortSignal,
): Promise<Connected> {
  const { connect, createStdioTransport } = await library();
  const { startMs } = settings;
  let end: string | null = null;
  const transport = createStdioTransport({ clock }, async () => {
    const program = await programs.start({ ...programOrder(name, settings), output: (bytes) => transport.push(bytes) });
    void program.ended.then(({ detail, asked }) => {
      if (!asked) end = detail;
      transport.ended(detail);
    });
    return program;
  });
  const closed = (why: string): void => parts.closed(end ?? why);
  try {
    return await connect(
      { log },
      { version, startMs, probeMs: Math.min(PROGRAM_PROBE_MS, startMs), transport, ...parts, closed },
      signal,
    );
  } catch (error) {
    await transport.close();
    if (end !== null && !isGatewayError(error)) throw new Error(end, { cause: error });
    throw error;
  }
}

/** Who signs in at an address: a person who is there, or the gateway by the tokens that a person got before. */
type AddressLogin = (library: Library) => LoginParts | null;

interface LoginParts {
  readonly provider: OAuthClientProvider;
  attach?(transport: StreamableHTTPClientTransport): void;
}

type Library = Awaited<ReturnType<typeof library>>;

/** An address that the owner wrote down may be on a private network; whatever it sends us to may not. */
export async function openAddress(
  { clock, log, resolve, version }: Omit<OpenDeps, "programs" | "credentials">,
  { name, settings, login }: NamedServer & { readonly login: AddressLogin },
  parts: ConnectionParts,
  signal: AbortSignal,
): Promise<Connected> {
  const loaded = await library();
  const { url = "", oauth, startMs } = settings;
  const trustedOrigins = [url, ...(oauth?.issuer === undefined ? [] : [oauth.issuer])];
  const fetch = createGuardedStream(
    { clock, resolve },
    { trustedOrigins, maxBytes: MAX_ANSWER_BYTES, idleMs: IDLE_MS },
  );
  const auth = login(loaded);
  const transport = loaded.createHttpTransport(fetch, settings, auth?.provider ?? null);
  auth?.attach?.(transport);
  try {
    return await loaded.connect({ log }, { version, startMs, probeMs: startMs, transport, ...parts }, signal);
  } catch (error) {
    await transport.close();
    throw loaded.explained(error, { name, settings });
  }
}

/** Without tokens nothing is tried: nobody is there who could sign in, and a service would be asked to register us again and again. */
function storedLogin(file: CredentialsFile, { url = "", oauth = {}, headers }: McpServerSettings): AddressLogin {
  return ({ createOAuthProvider, UnauthorizedError }) => {
    const { port } = file.read();
    const hasHeader = Object.keys(headers).some((name) => name.toLowerCase() === "authorization");
    if (hasHeader || tokensFor(file, url) === null) return null;
    const redirect = (): never => {
      throw new UnauthorizedError("the login has ended");
    };
    const redirectUrl = `http://127.0.0.1:${port ?? oauth.callbackPort ?? 0}/callback`;
    return { provider: createOAuthProvider({ file, url, settings: oauth, redirectUrl, state: "", redirect }) };
  };
}
