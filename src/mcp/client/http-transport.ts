/** A server at an address, over streamable HTTP by the MCP library, through the guarded way out. */
import {
  type AuthProvider,
  type OAuthClientProvider,
  StreamableHTTPClientTransport,
} from "@modelcontextprotocol/client";
import type { McpServerSettings } from "../../config/index.ts";
import type { GuardedStream } from "../../kit/outside/guarded-stream.ts";

/** How often a broken stream is opened again before the connection counts as gone. */
const MAX_RETRIES = 3;

export function createHttpTransport(
  fetch: GuardedStream,
  { url = "", headers }: Pick<McpServerSettings, "url" | "headers">,
  authProvider: AuthProvider | OAuthClientProvider | null,
): StreamableHTTPClientTransport {
  const sent = Object.entries(headers).map(([name, value]) => [name, value.reveal()]);
  return new StreamableHTTPClientTransport(new URL(url), {
    fetch,
    requestInit: { headers: Object.fromEntries(sent) },
    reconnectionOptions: {
      initialReconnectionDelay: 1_000,
      maxReconnectionDelay: 30_000,
      reconnectionDelayGrowFactor: 2,
      maxRetries: MAX_RETRIES,
    },
    ...(authProvider === null ? {} : { authProvider }),
  });
}
