/** The MCP door, with the gate, the approvals and the keys it stands on. */
import { createHmac } from "node:crypto";
import type { McpDoor } from "../contracts/mcp-door.ts";
import { createMcpDoor } from "../mcp/server/index.ts";
import { openSecretFiles } from "../store/index.ts";
import type { Core } from "./core.ts";
import type { Groups } from "./groups.ts";

export function openMcpDoor(core: Core, { people, tools }: Groups): McpDoor {
  const { clock, ids, log, events, options } = core;
  const { mediaKey } = openSecretFiles({ ids }, options.home);
  return createMcpDoor({
    clock,
    ids,
    log,
    events,
    version: options.version,
    stateKey: createHmac("sha256", mediaKey).update("state of MCP requests").digest(),
    tools,
    keys: people.keys,
  });
}
