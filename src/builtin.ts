/** The one visible list of channels, platforms and tools that ship with the gateway. */
import { createWebChat, type WebChat, type WebChatDeps } from "./channels/webchat/index.ts";
import type { DiscordSettings } from "./channels/discord/index.ts";
import type { PlatformEntry } from "./channels/index.ts";
import type { Config } from "./config/index.ts";
import type { Tool, ToolFactory } from "./contracts/tools/tool.ts";
import type { BuiltinPlugin } from "./plugins/index.ts";
import {
  addTask,
  askAgent,
  type AskAgentDeps,
  completeTask,
  createReminder,
  cron,
  type CronToolDeps,
  delegateToAgent,
  type DelegateToolDeps,
  gatewayTool,
  type GatewayToolDeps,
  listTasks,
  message,
  type MessageToolDeps,
  type NoteToolDeps,
  type ReminderDeps,
  saveNote,
  searchNotes,
  sendMedia,
  type SendMediaDeps,
  sendMessage,
  type SendMessageDeps,
  sessionStatus,
  type SessionStatusDeps,
  type TaskToolDeps,
  toolSearch,
  type ToolSearchDeps,
  updateTask,
  webFetch,
  type WebFetchDeps,
  webSearch,
  type WebSearchDeps,
} from "./tools/index.ts";

export interface BuiltinChannels {
  readonly webchat: WebChat;
  readonly api: WebChat;
}

export function builtinChannels(deps: WebChatDeps): BuiltinChannels {
  return { webchat: createWebChat(deps, "webchat"), api: createWebChat(deps, "api") };
}

/**
 * Platforms that are opened when the configuration enables them. Their code is loaded then, and not before:
 * `{ id, settings: ({ channels }) => (channels.ID.enabled ? channels.ID : null), load: async ({ channels }) => (await import("./channels/ID/index.ts")).createID(channels.ID) }`
 */
const PLATFORMS: readonly PlatformEntry[] = [
  {
    id: "telegram",
    settings: ({ channels: { telegram } }) => (hasBot(telegram) ? telegram : null),
    load: async ({ channels }) => (await import("./channels/telegram/index.ts")).createTelegram(channels.telegram),
  },
  {
    id: "discord",
    settings: ({ channels: { discord } }) => discordSettings(discord),
    load: async ({ channels: { discord } }) => {
      const settings = discordSettings(discord);
      if (!settings) throw new Error("Discord has no token");
      return (await import("./channels/discord/index.ts")).createDiscord(settings);
    },
  },
];

/** A platform whose id is in `plugins.disabled` has no settings, so it is never loaded. */
export const BUILTIN_PLATFORMS: readonly PlatformEntry[] = PLATFORMS.map((entry) => ({
  ...entry,
  settings: (config) => (config.plugins.disabled.includes(entry.id) ? null : entry.settings(config)),
}));

function hasBot({ enabled, botToken, accounts }: Config["channels"]["telegram"]): boolean {
  return enabled && (botToken !== undefined || Object.keys(accounts).length > 0);
}

/** Null: there is no bot. Who may write to it is asked for each message, so a change of that opens nothing anew. */
function discordSettings({ enabled, token, ...discord }: Config["channels"]["discord"]): DiscordSettings | null {
  if (!enabled || token === undefined) return null;
  const { apiRoot, applicationId, publicKey, streamMode, mediaMaxMb } = discord;
  return {
    token,
    streamMode,
    mediaMaxMb,
    ...(apiRoot === undefined ? {} : { apiRoot }),
    ...(applicationId === undefined ? {} : { applicationId }),
    ...(publicKey === undefined ? {} : { publicKey }),
  };
}

export type BuiltinToolDeps = NoteToolDeps &
  TaskToolDeps &
  SendMediaDeps &
  MessageToolDeps &
  SendMessageDeps &
  SessionStatusDeps &
  CronToolDeps &
  ReminderDeps &
  ToolSearchDeps &
  GatewayToolDeps & {
    readonly search: Omit<WebSearchDeps, "clock" | "ids">;
    readonly pages: Omit<WebFetchDeps, "clock" | "ids">;
    /** Whether `tools.webFetch` is on. */
    opensPages(): boolean;
  };

/** All there are; which of them an agent is offered is decided elsewhere. Making them has no effects. */
export function builtinTools(deps: BuiltinToolDeps): readonly Tool[] {
  const { clock, ids } = deps;
  return [
    sendMessage(deps),
    sendMedia(deps),
    message(deps),
    sessionStatus(deps),
    saveNote(deps),
    searchNotes(deps),
    addTask(deps),
    listTasks(deps),
    completeTask(deps),
    updateTask(deps),
    cron(deps),
    createReminder(deps),
    // without a provider there is nothing to offer
    ...(deps.search.settings().provider ? [webSearch({ clock, ids, ...deps.search })] : []),
    ...(deps.opensPages() ? [webFetch({ clock, ids, ...deps.pages })] : []),
    gatewayTool(deps),
    toolSearch(deps),
  ];
}

/** Those that are different for every caller. */
export function builtinFactories(deps: DelegateToolDeps & AskAgentDeps): readonly NamedFactory[] {
  return [
    { name: "delegate_to_agent", make: delegateToAgent(deps) },
    { name: "ask_agent", make: askAgent(deps) },
  ];
}

interface NamedFactory {
  readonly name: string;
  readonly make: ToolFactory;
}

/** The shipped tools, without those that `plugins.disabled` names. */
export function enabledTools(
  tools: readonly (Tool | NamedFactory)[],
  disabled: readonly string[],
): readonly (Tool | ToolFactory)[] {
  return tools.filter(({ name }) => !disabled.includes(name)).map((tool) => ("make" in tool ? tool.make : tool));
}

/** Ids besides those of plugins that `plugins.disabled` may name: channels, and tools whether they are set up or not. */
export const IDS_TO_DISABLE: readonly string[] = [
  ...PLATFORMS.map(({ id }) => id),
  ...["send_message", "send_media", "message", "session_status", "save_note", "search_notes", "add_task", "list_tasks"],
  ...[
    "complete_task",
    "update_task",
    "cron",
    "create_reminder",
    "web_search",
    "web_fetch",
    "delegate_to_agent",
    "ask_agent",
    "tool_search",
  ],
];

/** The built-in tools come by the same door as everybody's. `tools` is asked again when the settings bring others. */
export function builtinPlugins(tools: () => readonly (Tool | ToolFactory)[]): readonly BuiltinPlugin[] {
  const names = (): string =>
    tools()
      .map((tool) => (typeof tool === "function" ? "(factory)" : tool.name))
      .join(" ");
  const gateway: BuiltinPlugin = {
    id: "gateway",
    key: names,
    init(api) {
      for (const tool of tools()) api.registerTool(tool);
    },
  };
  return [gateway];
}
