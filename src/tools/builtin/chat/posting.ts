/** What the tools that speak share: one message to the caller's own chat, at most once for each call. */
import type { OutboundMessage } from "../../../contracts/chat.ts";
import type { ChatPoster } from "../../../contracts/store/posts.ts";
import type { ToolCall } from "../define.ts";

export interface PostDeps {
  readonly poster: ChatPoster;
}

/** `content` tells this message apart from another one of a call with the same id: models number their calls as they like. */
export async function postToOwnChat(
  { poster }: PostDeps,
  message: OutboundMessage,
  content: readonly unknown[],
  { callId, context }: ToolCall,
): Promise<string> {
  const posted = await poster.post({
    turnId: context.turnId,
    sessionKey: context.sessionKey,
    onceKey: JSON.stringify([callId, content]),
    to: context.origin,
    message,
  });
  if (posted.kind === "posted") return posted.id;
  if (posted.kind === "full")
    throw new Error(
      `Nothing was sent: one turn may send ${posted.max} messages besides its reply. Say the rest there.`,
    );
  throw new Error("Nothing was sent: this call does not come from a conversation, so there is no chat to send to.");
}
