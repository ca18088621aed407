/**
 * The one module where an id that a tool names becomes a message on a platform. The message has to be of the caller's own chat. The platform
 * is asked first, the store notes what it did, and everybody who watches sees it.
 */
import type { ActionResult, Channel, ChatSession, MessageTarget } from "../contracts/channel.ts";
import type { ChatMessages, MessageAction } from "../contracts/channels/chat-messages.ts";
import type { ChatAddress, TranscriptItem } from "../contracts/chat.ts";
import type { Events } from "../contracts/events.ts";
import type { MessageStore, StoredMessage } from "../contracts/store/messages.ts";
import type { PostStore } from "../contracts/store/posts.ts";
import type { Clock } from "../kit/clock.ts";

interface ChatMessagesDeps {
  readonly clock: Clock;
  readonly events: Pick<Events, "emit">;
  readonly messages: MessageStore;
  readonly posts: Pick<PostStore, "rewrite">;
  channel(id: string): Channel | undefined;
}

/** How long an action waits for the delivery of a message that a tool has just sent. */
const DELIVERY_MS = 10_000;
const LOOK_AGAIN_MS = 50;

const refused = (because: string): ActionResult => ({ kind: "refused", because });
const NO_SUCH = refused("There is no message with that id in this chat. The action read tells the ids.");
const NOT_OURS = refused("Only your own messages can be edited or deleted.");
const UNDELIVERED = refused("That message has not been delivered yet. Try again in a moment.");
const NOT_THERE = refused("The platform has no id for that message, so nothing can be done to it.");
const SEVERAL = refused("That message is shown as several messages because it is long. Delete it and send a new one.");

export function createChatMessages(deps: ChatMessagesDeps): ChatMessages {
  return {
    async find(chat, messageId) {
      const found = await deps.messages.find(chat, messageId);
      return found && isSameChat(found.to, chat.to) ? found.id : null;
    },
    async act({ messageId, ...chat }, action, signal) {
      const channel = deps.channel(chat.to.channel);
      if (!channel?.[action.kind]) return refused(`The channel ${chat.to.channel} cannot do that.`);
      const found = await delivered(deps, { chat, messageId, waits: !channel.ownIds }, signal);
      if (!found || !isSameChat(found.to, chat.to)) return NO_SUCH;
      if (!found.ours && (action.kind === "edit" || action.kind === "delete")) return NOT_OURS;
      if (found.pending && !channel.ownIds) return UNDELIVERED;
      const ids = channel.ownIds ? [found.id] : found.platformIds;
      if (ids.length === 0) return NOT_THERE;
      if (action.kind === "edit" && ids.length - found.files > 1) return SEVERAL;
      const result = await onPlatform(channel, { chat, ids }, action, signal);
      // the gateway's own channel works on the store itself
      if (result.kind === "done" && !channel.ownIds)
        await note(deps, { chat, found, reactions: result.reactions }, action);
      return result;
    },
  };
}

function isSameChat(one: ChatAddress, other: ChatAddress): boolean {
  return one.channel === other.channel && one.account === other.account && one.chat === other.chat;
}

interface Wanted {
  readonly chat: ChatSession;
  readonly messageId: string;
  readonly waits: boolean;
}

/** The message as it is once its delivery has ended, or as it is when that takes too long. */
async function delivered(
  { clock, messages }: ChatMessagesDeps,
  { chat, messageId, waits }: Wanted,
  signal: AbortSignal,
): Promise<StoredMessage | null> {
  const until = clock.elapsed() + DELIVERY_MS;
  for (;;) {
    const found = await messages.find(chat, messageId);
    if (!found?.pending || !waits || clock.elapsed() >= until) return found;
    await clock.sleep(LOOK_AGAIN_MS, signal);
  }
}

interface OnPlatform {
  readonly chat: ChatSession;
  /** Not empty. */
  readonly ids: readonly string[];
}

async function onPlatform(
  channel: Channel,
  { chat, ids }: OnPlatform,
  action: MessageAction,
  signal: AbortSignal,
): Promise<ActionResult> {
  const target: MessageTarget = { ...chat, messageId: ids[0] ?? "" };
  const cannot = NOT_THERE; // abilities were looked at before
  switch (action.kind) {
    case "react":
      return (await channel.react?.(target, { emoji: action.emoji, remove: action.remove }, signal)) ?? cannot;
    case "edit":
      return (await channel.edit?.(target, action.text, signal)) ?? cannot;
    case "pin":
      return (await channel.pin?.(target, action.unpin, signal)) ?? cannot;
    case "delete": {
      const results: ActionResult[] = [];
      for (const messageId of ids) results.push((await channel.delete?.({ ...chat, messageId }, signal)) ?? cannot);
      return results.find(({ kind }) => kind === "done") ?? results[0] ?? cannot;
    }
  }
}

interface Done {
  readonly chat: ChatSession;
  readonly found: StoredMessage;
  /** What the platform shows; absent: as asked. */
  readonly reactions: readonly string[] | undefined;
}

async function note(deps: ChatMessagesDeps, { chat, found, reactions }: Done, action: MessageAction): Promise<void> {
  const { messages, posts, events, clock } = deps;
  const { sessionKey } = chat;
  const at = clock.now();
  if (action.kind === "edit") await posts.rewrite(sessionKey, found.id, action.text, at);
  if (action.kind === "pin") await messages.mark(found.id, { pinned: !action.unpin }, at);
  if (action.kind === "react")
    await messages.mark(found.id, { reactions: reactions ?? changed(found.reactions, action) }, at);
  const row = action.kind === "delete" ? await posts.rewrite(sessionKey, found.id, null, at) : null;
  const gone =
    row && ({ id: row.id, role: "assistant", text: "", at: row.createdAt, turnId: row.turnId, deleted: true } as const);
  const item: TranscriptItem | null = gone ?? (await messages.item(found.id));
  if (item) events.emit("message", { sessionKey, item });
}

function changed(
  had: readonly string[],
  { emoji, remove }: Extract<MessageAction, { kind: "react" }>,
): readonly string[] {
  return remove ? had.filter((one) => !emoji.includes(one)) : [...new Set([...had, ...emoji])];
}
