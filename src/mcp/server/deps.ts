/** What the MCP door stands on. Types only. */
import type { Events } from "../../contracts/events.ts";
import type { ToolGate, ToolLists } from "../../contracts/tools/tool.ts";
import type { Clock } from "../../kit/clock.ts";
import type { Ids } from "../../kit/ids.ts";
import type { Log } from "../../kit/log.ts";
import type { SecretMask } from "../../kit/secret.ts";
import type { McpSurface } from "../../contracts/plugin.ts";
import type { CallClientDeps } from "./call-client.ts";
import type { PromptDeps } from "./prompts.ts";
import type { ResourceDeps } from "./resources.ts";

export interface McpDoorDeps {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  readonly events: Events;
  /** Of the gateway. */
  readonly version: string;
  /** Signs what a client is to bring back: 32 random bytes that stay the same across restarts. */
  readonly stateKey: Uint8Array;
  readonly tools: McpTools;
  readonly resources: Omit<ResourceDeps, "clock" | "surface" | "mask">;
  readonly prompts: Pick<PromptDeps, "commands" | "conversations">;
  /** Of plugins. */
  readonly surface: McpSurface;
  readonly mask: SecretMask;
}

interface McpTools extends Pick<CallClientDeps, "approvals" | "questions"> {
  readonly gate: Pick<ToolGate, "call" | "specs" | "onChange">;
  list(): ToolLists;
}
