/** WebChat: the web console, and programs that use the HTTP API. Its platform is the gateway's own event stream, so sending cannot fail half-way. */
export type { AbilityDeps as WebChatDeps } from "./abilities.ts";
export { createWebChat, type WebChat } from "./plugin.ts";
