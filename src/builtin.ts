/** The one visible list of channels and tools that ship with the gateway. */
import { createWebChat, type WebChat, type WebChatDeps } from "./channels/webchat/index.ts";
import type { Tool, ToolFactory } from "./contracts/tools/tool.ts";
import type { BuiltinPlugin } from "./plugins/index.ts";
import {
  addTask,
  completeTask,
  delegateToAgent,
  type DelegateToolDeps,
  gatewayTool,
  type GatewayToolDeps,
  listTasks,
  message,
  type MessageToolDeps,
  type NoteToolDeps,
  saveNote,
  searchNotes,
  sendMedia,
  type SendMediaDeps,
  sendMessage,
  sessionStatus,
  type SessionStatusDeps,
  type TaskToolDeps,
  updateTask,
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

export type BuiltinToolDeps = NoteToolDeps &
  TaskToolDeps &
  SendMediaDeps &
  MessageToolDeps &
  SessionStatusDeps &
  GatewayToolDeps & { readonly search: Omit<WebSearchDeps, "clock" | "ids"> };

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
    // without a provider there is nothing to offer; a provider that is set later is offered after the next start
    ...(deps.search.settings().provider ? [webSearch({ clock, ids, ...deps.search })] : []),
    gatewayTool(deps),
  ];
}

/** Those that are different for every caller. */
export function builtinFactories(deps: DelegateToolDeps): readonly ToolFactory[] {
  return [delegateToAgent(deps)];
}

/** The gateway's own tools come by the same door as everybody's. */
export function builtinPlugins(tools: readonly (Tool | ToolFactory)[]): readonly BuiltinPlugin[] {
  const gateway: BuiltinPlugin = {
    id: "gateway",
    init(api) {
      for (const tool of tools) api.registerTool(tool);
    },
  };
  return [gateway];
}
