/** MCP servers whose tools agents get, as the rest of the house sees them. */
import type { SettingEdit } from "./config-api.ts";

/** `idle`: its tools are known, and it is started by the next call. `waiting`: it could not be started, and is tried again later. */
export type McpServerState = "off" | "idle" | "starting" | "running" | "waiting";

export interface McpServerStatus {
  readonly name: string;
  readonly kind: "program" | "address";
  readonly state: McpServerState;
  /** What it calls itself, and the version of the protocol; empty while it has not been asked. */
  readonly server: string;
  readonly protocol: string;
  readonly tools: readonly McpToolStatus[];
  /** Why it is not there, as a sentence; null: nothing is known against it. */
  readonly trouble: string | null;
  /** When it is tried again, in epoch milliseconds. */
  readonly nextTryAt: number | null;
  /** Sentences about tools that were left out. */
  readonly notices: readonly string[];
}

export interface McpToolStatus {
  /** As agents call it. */
  readonly name: string;
  /** The server's own name of it. */
  readonly tool: string;
  readonly description: string;
  /** SHA-256 of what the server says about it. */
  readonly digest: string;
  /** `new` and `changed`: the next call asks an owner, whatever the lists say. `left_out`: allow or deny say so. */
  readonly review: "accepted" | "new" | "changed" | "left_out";
  readonly readOnly: boolean;
}

/** A server with changes of its settings that are not saved. */
export interface McpTrials {
  /** All changes are below `mcp.servers.NAME`. It is started, lists its tools, and is ended. Rejects with GatewayError `bad_request`, `mcp_unavailable`, `conflict`. */
  try(name: string, edits: readonly SettingEdit[], signal: AbortSignal): Promise<McpServerStatus>;
}

export interface McpClients {
  list(): readonly McpServerStatus[];
  /** Starts the server now if need be, and lists its tools anew. Null: there is no such server. Rejects with GatewayError `mcp_unavailable`. */
  test(name: string, signal: AbortSignal): Promise<McpServerStatus | null>;
  /** An owner takes all tools of the server as they are now. Null: there is no such server. */
  accept(name: string): McpServerStatus | null;
}
