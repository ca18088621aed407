/**
 * A plugin: a folder with plugin.json and one default export `(api) => void`. It runs inside the gateway and is trusted like the gateway
 * itself. What it registers goes when it goes.
 */
import type { WakeText } from "./automation/jobs.ts";
import type { ChannelAccessSettings } from "./channels/access.ts";
import type { Caller } from "./agent.ts";
import type { PluginChannelDeps } from "./channels/channel-kit.ts";
import type { OpenChannel, Platform } from "./channels/platform.ts";
import type { Command } from "./command.ts";
import type { Principal } from "./ids.ts";
import type { ContentBlock, ResultMedia, Tool, ToolClient, ToolFlags } from "./tools/tool.ts";
import type { Log } from "../kit/log.ts";
import type { HookHandler, HookName } from "./plugin-hooks.ts";

export type GatewayPlugin = (api: GatewayPluginApi) => void | Promise<void>;

export interface PluginManifest {
  readonly id: string; // small letters, digits, dashes
  readonly version: string;
  /** The file with the default export, inside the folder. */
  readonly main: string;
  /** Versions of the gateway it works with, such as ">=0.1". */
  readonly gateway: string;
  readonly description?: string;
  /** JSON Schema of `plugins.config.<id>`. Text that is marked with `"secret": true` reaches the plugin as a Secret. */
  readonly config?: Readonly<Record<string, unknown>>;
}

export interface GatewayPluginApi {
  readonly id: string;
  readonly version: string;
  /** What `plugins.config.<id>` says, checked against the manifest's schema, with its defaults. */
  readonly config: Readonly<Record<string, unknown>>;
  readonly log: Log;
  readonly storage: PluginStorage;
  /** Aborts when the plugin is stopped. */
  readonly signal: AbortSignal;
  registerTool(tool: PluginTool | PluginToolFactory): Disposable;
  registerCommand(command: Command): Disposable;
  registerHook<H extends HookName>(name: H, handler: HookHandler<H>): Disposable;
  registerRoute(route: PluginRoute): Disposable;
  registerService(service: PluginService): Disposable;
  registerSkill(skill: PluginSkill): Disposable;
  registerChannel(channel: PluginChannel): Disposable;
  /** Resources and prompts for MCP clients. */
  registerMcp(shown: PluginMcp): Disposable;
  /**
   * Tells the main conversation of the owner something, as news from this plugin: now, or (`next-heartbeat`) with its next turn. Resolves when
   * it is stored; rejects when it is empty or too long.
   */
  wake(text: string, mode?: WakeText["mode"]): Promise<void>;
}

/** A tool whose obvious parts may be left out: label (its name), flags (may not run twice), timeoutMs (a minute). */
export type PluginTool = Omit<Tool, "label" | "flags" | "timeoutMs" | "locationOf" | "review"> & {
  readonly label?: string;
  readonly flags?: Partial<ToolFlags>;
  readonly timeoutMs?: number;
};

/** A tool that depends on who will call it; null: not for this caller. Asked once for each turn. */
export type PluginToolFactory = (caller: Caller) => PluginTool | null;

/** Small and durable: it survives restarts and reloads, and belongs to this plugin alone. Values are JSON. */
export interface PluginStorage {
  get(key: string): Promise<unknown>;
  /** Rejects with GatewayError `too_large` when the value, or all of them together, would be too much. */
  set(key: string, value: unknown): Promise<void>;
  delete(key: string): Promise<void>;
  keys(): Promise<readonly string[]>;
}

/** Answers below /plugins/{id}/. */
export interface PluginRoute {
  readonly method: "GET" | "POST";
  /** Begins with a slash: `/hello` is reached as /plugins/{id}/hello. No patterns. */
  readonly path: string;
  /** Who may call it: whoever may operate the gateway (the default), or anyone at all. */
  readonly access?: "owner" | "public";
  handle(request: PluginRequest): Promise<PluginReply> | PluginReply;
}

export interface PluginRequest {
  readonly query: URLSearchParams;
  readonly headers: Headers;
  readonly body: Uint8Array;
  /** Null on public routes. */
  readonly principal: Principal | null;
  readonly signal: AbortSignal;
}

/** A Response, or a value that is sent as JSON. */
export type PluginReply = Response | object | string | number | boolean | null;

/** Something that runs for as long as the plugin does. */
export interface PluginService {
  readonly name: string;
  /** Resolves when it is up. What it returns is called when it has to end. */
  start(signal: AbortSignal): Promise<(() => Promise<void> | void) | void>;
}

export interface PluginSkill {
  readonly name: string;
  /** A folder with SKILL.md, or such a file; relative to the plugin's folder, and inside it. */
  readonly path: string;
}

/**
 * A messenger, by the contract of those that ship with the gateway: opened, tried again and closed like them, with the same door. It speaks
 * for its own people only (`ID:user:…`). A SendError is known by its name and `kind`, so a plugin may throw one of its own making.
 */
export interface PluginChannel extends Platform {
  /** As a platform of the gateway is opened, with what those share in `deps.kit`. */
  open(deps: PluginChannelDeps, signal: AbortSignal): Promise<readonly OpenChannel[]>;
  /** Who may write to it. Left out, or what is left out: strangers get a pairing code, and no group is open. */
  readonly access?: ChannelAccessSettings;
}

/** What MCP clients are shown besides tools. Whoever may read resources or use prompts at all gets there; a plugin decides about more itself. */
export interface PluginMcp {
  readonly resources?: readonly PluginResource[];
  readonly prompts?: readonly PluginPrompt[];
}

export interface PluginResource {
  /** Such as `tide://today`. A name in braces stands for any text without a slash: `tide://{harbour}/today`. */
  readonly uri: string;
  readonly name: string;
  readonly description?: string;
  readonly mimeType?: string;
  read(asked: ResourceRequest): Promise<ResourceContent> | ResourceContent;
}

export interface ResourceRequest {
  readonly uri: string;
  /** What stands for the names in braces. */
  readonly variables: Readonly<Record<string, string>>;
  readonly caller: Caller;
  readonly signal: AbortSignal;
}

/** `base64`: bytes. */
export type ResourceContent = { readonly text: string } | { readonly base64: string };

export interface PluginPrompt {
  readonly name: string;
  readonly description: string;
  readonly arguments?: readonly PromptArgument[];
  get(asked: PromptRequest): Promise<readonly PromptMessage[]> | readonly PromptMessage[];
}

export interface PromptArgument {
  readonly name: string;
  readonly description?: string;
  readonly required?: boolean;
  /** Offered while somebody types. */
  readonly values?: readonly string[];
}

export interface PromptRequest {
  readonly arguments: Readonly<Record<string, string>>;
  readonly caller: Caller;
  readonly client: ToolClient;
  readonly signal: AbortSignal;
}

export interface PromptMessage {
  readonly role: "user" | "assistant";
  readonly content: ContentBlock | ResultMedia;
}

// ── as the rest of the house sees them ──────────────────────────────────────────────────────────────────────────────────────────────

export interface PluginHost {
  list(): readonly PluginStatus[];
  /** Plain sentences about plugins that need the owner's attention. */
  notices(): readonly string[];
  /** Starts it anew from its files. Resolves when it runs or has failed; null: there is no such plugin, or it is built in. */
  reload(id: string): Promise<PluginStatus | null>;
  /** Null: nothing is mounted there. `path` is the part behind /plugins/{id}. */
  route(id: string, method: string, path: string): MountedRoute | null;
}

/** What plugins show to MCP clients, all of it together. */
export interface McpSurface {
  /** Throws GatewayError `plugin_invalid` for an address or a name that is taken. Disposing takes it back. */
  add(shown: PluginMcp): Disposable;
  resources(): readonly PluginResource[];
  prompts(): readonly PluginPrompt[];
  onChange(listener: () => void): Disposable;
}

/** A skill of a running plugin. */
export interface RegisteredSkill {
  /** Absolute. */
  readonly path: string;
  /** Of the plugin's files: the same path with another digest is another skill. */
  readonly digest: string | null;
}

/** The skills that plugins give to agents. A process knows those it was started with, so a change means other processes. */
export interface SkillRegistry {
  /** Disposing takes it back. */
  add(skill: RegisteredSkill): Disposable;
  /** Their paths, for processes that are to be started from now on. */
  take(): readonly string[];
  /** The same, for people who look. */
  list(): readonly string[];
  /** Whether they are others than those that were taken last. */
  hasChanged(): boolean;
  onChange(listener: () => void): Disposable;
}

export interface MountedRoute {
  readonly access: "owner" | "public";
  handle(request: PluginRequest): Promise<Response>;
}

/**
 * found → (not enabled: `available`) → loading → running → stopped, and from anywhere → `failed` with the reason. A failed plugin has nothing
 * registered; it is tried again when its folder or its settings change.
 */
export type PluginState = "available" | "disabled" | "loading" | "running" | "failed";

export interface PluginStatus {
  readonly id: string;
  readonly version: string | null;
  readonly state: PluginState;
  readonly builtin: boolean;
  readonly folder: string | null;
  /** SHA-256 of the folder's files, for plugins.pins. */
  readonly digest: string | null;
  /** What went wrong, as a sentence; also set for a running plugin that misbehaved. */
  readonly trouble: string | null;
  readonly since: number;
  readonly provides: PluginProvides;
  /** Tools of it that cannot be used (`quarantined`), and tools whose schema is not checked as a whole. */
  readonly toolNotices: readonly ToolNotice[];
}

export interface ToolNotice {
  readonly tool: string;
  readonly quarantined: boolean;
  /** The reason, as a sentence. */
  readonly say: string;
}

export interface PluginProvides {
  readonly tools: readonly string[];
  readonly commands: readonly string[];
  readonly hooks: readonly string[];
  readonly routes: readonly string[];
  readonly services: readonly string[];
  readonly skills: readonly string[];
  readonly channels: readonly string[];
  /** Addresses of resources, and names of prompts. */
  readonly mcp: readonly string[];
}
