/** The one visible list of channels and tools that ship with the gateway. */
import { createWebChat, type WebChat } from "./channels/webchat/index.ts";
import type { Events } from "./contracts/events.ts";
import type { Tool } from "./contracts/tools/tool.ts";
import type { BuiltinPlugin } from "./plugins/index.ts";
import { sessionStatus } from "./tools/index.ts";

export interface BuiltinChannels {
  readonly webchat: WebChat;
  readonly api: WebChat;
}

export function builtinChannels(deps: { readonly events: Events }): BuiltinChannels {
  return { webchat: createWebChat(deps, "webchat"), api: createWebChat(deps, "api") };
}

export function builtinTools(): readonly Tool[] {
  return [sessionStatus()];
}

/** The gateway's own tools come by the same door as everybody's. */
export function builtinPlugins(): readonly BuiltinPlugin[] {
  const gateway: BuiltinPlugin = {
    id: "gateway",
    init(api) {
      for (const tool of builtinTools()) api.registerTool(tool);
    },
  };
  return [gateway];
}
