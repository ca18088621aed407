/** A server at an address, over streamable HTTP by the MCP library, through the guarded way out. */
import {
  type AuthProvider,
  type OAuthClientProvider,
  StreamableHTTPClientTransport,
} from "@modelcontextprotocol/client";
import type { McpServerSettings } from "../../config/index.ts";
import type { GuardedStream } from "../../kit/outside/guarded-stream.ts";
import { shallowJson } from "./shallow-json.ts";

/** How often a broken stream is opened again before the connection counts as gone. */
const MAX_RETRIES = 3;

export function createHttpTransport(
  call: GuardedStream,
  { url = "", headers }: Pick<McpServerSettings, "url" | "headers">,
  authProvider: AuthProvider | OAuthClientProvider | null,
): StreamableHTTPClientTransport {
  return new StreamableHTTPClientTransport(new URL(url), {
    fetch: shallow(withHeaders(call, new URL(url).origin, headers)),
    reconnectionOptions: {
      initialReconnectionDelay: 1_000,
      maxReconnectionDelay: 30_000,
      reconnectionDelayGrowFactor: 2,
      maxRetries: MAX_RETRIES,
    },
    ...(authProvider === null ? {} : { authProvider }),
  });
}

function shallow(call: GuardedStream): GuardedStream {
  return async (url, init) => {
    const response = await call(url, init);
    const { body, status, statusText, headers } = response;
    return body === null ? response : new Response(shallowJson(body), { status, statusText, headers });
  };
}

/** The headers of the settings are for the server: an authorization server that it names gets none of them. What the library sends itself wins. */
function withHeaders(call: GuardedStream, origin: string, headers: McpServerSettings["headers"]): GuardedStream {
  return (url, init = {}) => {
    if (new URL(url).origin !== origin) return call(url, init);
    const sent = new Headers(
      Object.entries(headers).map(([name, value]) => [name, value.reveal()] as [string, string]),
    );
    new Headers(init.headers).forEach((value, name) => sent.set(name, value));
    return call(url, { ...init, headers: sent });
  };
}
