/** What the test harness of plugins promises. Types only. */
import type { Role } from "../contracts/ids.ts";
import type { GatewayPlugin, PluginManifest, PluginProvides } from "../contracts/plugin.ts";
import type { ToolErrorCode, ToolResult, ToolSpec } from "../contracts/tools/tool.ts";

export interface HarnessOptions {
  /** What `plugins.config.ID` would say. With a manifest it is checked against its schema, and defaults are filled in. */
  readonly config?: Readonly<Record<string, unknown>>;
  /** The contents of plugin.json; absent: any plugin. */
  readonly manifest?: PluginManifest;
  /** What an owner answers when a call waits for approval; default `deny`. */
  readonly approve?: "once" | "deny";
  /** Tools that wait for approval besides those that always do, as `tools.approvals.ask`. */
  readonly ask?: readonly string[];
  /** False: services are not started. */
  readonly startServices?: boolean;
}

/** Who calls; default: an owner in a private chat. */
export interface HarnessCaller {
  readonly role?: Role;
  /** Such as `telegram:user:7`. */
  readonly principal?: string;
  readonly scope?: "dm" | "group";
  /** Absent: a person said something. */
  readonly cause?: "cron" | "heartbeat";
  /** The same id again gets the same answer; absent: a new one. */
  readonly callId?: string;
  readonly signal?: AbortSignal;
}

export interface HarnessOutcome {
  readonly ok: boolean;
  /** The text of the result, or the sentence that says why there is none. */
  readonly text: string;
  /** Why there is no result; null: there is one. */
  readonly code: ToolErrorCode | null;
  readonly result: ToolResult | null;
  /** What the tool reported with `onUpdate`. */
  readonly progress: readonly string[];
}

/** A plugin that runs without a gateway. Its tools are called by the gateway's own gate: names, hooks, schema, rights, approval, limits, audit. */
export interface PluginHarness extends AsyncDisposable {
  call(tool: string, params: unknown, caller?: HarnessCaller): Promise<HarnessOutcome>;
  /** What a model is told of the tools that this role may use. */
  tools(role?: Role): readonly ToolSpec[];
  readonly provides: PluginProvides;
  /** Why tools cannot be used, or are not checked as a whole. */
  readonly notices: readonly string[];
  /** What the plugin and the gate have logged: `warn the tool failed {"tool":"x"}`. */
  readonly log: readonly string[];
}

/** Rejects with a sentence when the plugin does not come up. */
export type OpenHarness = (plugin: GatewayPlugin, options?: HarnessOptions) => Promise<PluginHarness>;
