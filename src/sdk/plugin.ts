/**
 * `pi-gateway/plugin`: what authors of plugins import. Types, `defineTool` whose parameters follow from the schema, and a harness for tests.
 * Inside the gateway the same names are there; nothing of the gateway itself is.
 */
import type { PluginTool } from "../contracts/plugin.ts";
import type { ToolContext, ToolResult } from "../contracts/tools/tool.ts";
import type { OpenHarness } from "./harness-types.ts";
import type { JsonSchema, SchemaValue } from "./schema-value.ts";

export type {
  GatewayPlugin,
  GatewayPluginApi,
  PluginChannel,
  PluginManifest,
  PluginProvides,
  PluginReply,
  PluginRequest,
  PluginRoute,
  PluginService,
  PluginSkill,
  PluginStorage,
  PluginTool,
  PluginToolFactory,
} from "../contracts/plugin.ts";
export type { HookAnswer, HookEvents, HookHandler, HookName } from "../contracts/plugin-hooks.ts";
export type {
  ContentBlock,
  ToolContext,
  ToolFlags,
  ToolLimit,
  ToolOrigin,
  ToolResult,
  ToolSpec,
} from "../contracts/tools/tool.ts";
export type { Channel } from "../contracts/channel.ts";
export type { ChannelAccessSettings, GroupSettings } from "../contracts/channels/access.ts";
export type { ApprovalMessages, ChannelKit, PluginChannelDeps } from "../contracts/channels/channel-kit.ts";
export type { Arrival, OpenChannel, PlatformDeps } from "../contracts/channels/platform.ts";
export type { InboundMessage, OutboundMessage } from "../contracts/chat.ts";
export type { OutboxRow } from "../contracts/delivery.ts";
export type { PendingApproval } from "../contracts/tools/approval.ts";
export type { Clock } from "../kit/clock.ts";
export type { Log } from "../kit/log.ts";
export type { Secret } from "../kit/secret.ts";
export type { Caller } from "../contracts/agent.ts";
export type { Command, CommandContext } from "../contracts/command.ts";
export type { Principal, Role } from "../contracts/ids.ts";
export type { HarnessCaller, HarnessOptions, HarnessOutcome, OpenHarness, PluginHarness } from "./harness-types.ts";
export type { JsonSchema, SchemaValue } from "./schema-value.ts";

/** A tool whose `execute` gets parameters of the type that its schema describes. */
export interface DefinedTool<S extends JsonSchema> extends Omit<PluginTool, "parameters" | "execute"> {
  readonly parameters: S;
  /**
   * `callId` is the same when the same call is made again. `params` have passed the schema. `signal` aborts when the call is cancelled or takes
   * too long. `onUpdate` shows progress to people. `context` says for whom it is called.
   */
  execute(
    callId: string,
    params: SchemaValue<S>,
    signal: AbortSignal,
    onUpdate: (partial: ToolResult) => void,
    context: ToolContext,
  ): Promise<ToolResult>;
}

export type DefineTool = <const S extends JsonSchema>(tool: DefinedTool<S>) => PluginTool;

/** Gives the tool back as it is, for `registerTool`. */
export const defineTool: DefineTool = (tool) => tool as PluginTool;

/** Runs a plugin in a test. Loaded when it is used: it brings the gateway's gate along. */
export const openHarness: OpenHarness = async (plugin, options = {}) =>
  (await import("./harness.ts")).runInHarness(plugin, options);
