/** The MCP door on a gate of a test, and the official client in front of a port. */
import {
  Client,
  type ClientOptions,
  StreamableHTTPClientTransport,
  type Transport,
} from "@modelcontextprotocol/client";
import type { McpDoor } from "../../contracts/mcp-door.ts";
import { NO_MASK } from "../../kit/secret.ts";
import { createMcpDoor, createMcpSurface, type McpDoorDeps } from "../../mcp/server/index.ts";
import { createFakeClock } from "../fake-clock.ts";
import { recordingLog } from "../recording-log.ts";
import { createSeqIds } from "../seq-ids.ts";
import { TOKEN } from "./http-fixture.ts";

/** Both of them have to be served. */
export const MCP_REVISIONS = ["2026-07-28", "2025-11-25"] as const;
export type McpRevision = (typeof MCP_REVISIONS)[number];

type GivenDeps = Pick<McpDoorDeps, "events" | "tools"> & Partial<McpDoorDeps>;

export function testMcpDoor(given: GivenDeps): McpDoor {
  return createMcpDoor({
    clock: createFakeClock(),
    ids: createSeqIds(),
    log: recordingLog(),
    version: "1.2.3",
    stateKey: new Uint8Array(32).fill(7),
    resources: {
      notes: { list: async () => [], get: async () => null },
      sessions: { get: async () => null, list: async () => ({ items: [] }), transcript: async () => ({ items: [] }) },
      media: { list: async () => [], find: async () => null, read: async () => null },
    },
    prompts: { commands: { list: () => [] }, conversations: new Promise(() => undefined) },
    surface: createMcpSurface(),
    mask: NO_MASK,
    ...given,
  });
}

interface McpTarget {
  /** Of the gateway, without a path. */
  readonly url: string;
  readonly revision: McpRevision;
  readonly token?: string;
}

/** Connected. Dispose it with `close`. */
export function mcpClient({ url, revision, token = TOKEN }: McpTarget, options: ClientOptions = {}): Promise<Client> {
  const headers = { authorization: `Bearer ${token}` };
  const transport = new StreamableHTTPClientTransport(new URL("/mcp", url), { requestInit: { headers } });
  return mcpClientOn(transport, revision, options);
}

export async function mcpClientOn(
  transport: Transport,
  revision: McpRevision,
  options: ClientOptions,
): Promise<Client> {
  const mode = revision === "2026-07-28" ? { pin: revision } : "legacy";
  const client = new Client({ name: "a test", version: "1" }, { versionNegotiation: { mode }, ...options });
  await client.connect(transport);
  return client;
}
