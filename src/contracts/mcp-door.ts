/** The MCP door: tools, resources and prompts of the gateway for programs that speak the Model Context Protocol. The port hands requests in. */
import type { ApiKey } from "./api-keys.ts";
import type { SessionKey } from "./ids.ts";
import type { SessionReach } from "./session-reach.ts";
import type { ToolContext } from "./tools/tool.ts";

export interface McpDoor extends AsyncDisposable {
  /** Answers one request of the streamable HTTP transport. Its signal ends what it began. */
  answer(request: Request, asking: McpAsking): Promise<Response>;
}

/** Who asks, decided by the port. */
export interface McpAsking {
  /** For whom tools are called: outside of any turn, from the origin `mcp`. */
  readonly caller: ToolContext;
  /** Null: the operator. */
  readonly key: ApiKey | null;
  /** Aborts when the credential is replaced, revoked or expires: what began with it ends. */
  readonly ending: AbortSignal;
  /** Whether this session may be read. */
  sees(sessionKey: SessionKey): boolean;
  /** The sessions that `sees` allows, for lists. Null: all of them. */
  readonly reach: SessionReach | null;
}
