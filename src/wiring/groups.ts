/** The groups of the gateway that commands, tools, the port, the status and turns are made of. gateway.ts builds them in this order. */
import type { Agents } from "./agents.ts";
import type { Automation } from "./automation.ts";
import type { McpServers } from "../mcp/client/index.ts";
import type { Messages } from "./messages.ts";
import type { NotificationParts } from "./notifications.ts";
import type { People } from "./people.ts";
import type { Tools } from "./tools.ts";

export interface Groups {
  readonly people: People;
  readonly tools: Tools;
  readonly agents: Agents;
  readonly mcpServers: McpServers;
  readonly messages: Messages;
  readonly automation: Automation;
  readonly notifications: NotificationParts;
}
