/** The MCP door, with the gate, the approvals and the keys it stands on. */
import { createHmac } from "node:crypto";
import type { Conversations } from "../contracts/conversations.ts";
import type { McpDoor } from "../contracts/mcp-door.ts";
import { createMcpDoor } from "../mcp/server/index.ts";
import { idsOfPerson } from "../routing/index.ts";
import { openSecretFiles } from "../store/index.ts";
import { notesOfPeople } from "../tools/index.ts";
import { type Core, ofModule } from "./core.ts";
import type { Groups } from "./groups.ts";

interface McpDoorParts extends Groups {
  /** Resolves when the port is open. */
  readonly conversations: Promise<Conversations>;
}

export function openMcpDoor(whole: Core, { tools, messages, conversations }: McpDoorParts): McpDoor {
  const core = ofModule(whole, "mcp");
  const { clock, ids, log, events, store, config, options, secrets } = core;
  const { mediaKey } = openSecretFiles({ ids, shared: config().store.secret }, options.home);
  return createMcpDoor({
    clock,
    ids,
    log,
    events,
    version: options.version,
    stateKey: createHmac("sha256", mediaKey).update("state of MCP requests").digest(),
    tools,
    resources: {
      notes: notesOfPeople(store.notes, (who) => idsOfPerson(config().session.identityLinks, who)),
      sessions: store.sessions,
      media: store.media,
    },
    prompts: { commands: messages.commands, conversations },
    surface: tools.mcpSurface,
    mask: secrets.mask,
  });
}
