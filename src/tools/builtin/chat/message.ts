/**
 * `message`: react to, edit, delete, pin and read messages of the chat the agent is talking in. The chat is the caller's, whatever the call
 * says; only an owner may read another one. What a channel cannot do is answered with what it can.
 */
import { type Static, Type } from "typebox";
import type { Channel } from "../../../contracts/channel.ts";
import type { ChatMessages, MessageAction } from "../../../contracts/channels/chat-messages.ts";
import type { SessionKey } from "../../../contracts/ids.ts";
import type { HistoryMessage, MessageStore } from "../../../contracts/store/messages.ts";
import type { Tool, ToolContext } from "../../../contracts/tools/tool.ts";
import type { Ids } from "../../../kit/ids.ts";
import { wrapUntrusted } from "../../../kit/marks/untrusted.ts";
import { answer, closed, defineTool, MINUTE_MS, type ToolCall } from "../define.ts";

export interface MessageToolDeps {
  readonly ids: Ids;
  channel(id: string): Channel | undefined;
  readonly messages: Pick<ChatMessages, "act">;
  readonly history: MessageStore["history"];
  /** The session that an owner names by its key, or by the id of a chat of the caller's own channel; null: there is none. */
  sessionOf(name: string, caller: Pick<ToolContext, "origin" | "agentId">): Promise<SessionKey | null>;
}

const MAX_ID_CHARS = 200;
const MAX_EMOJI_CHARS = 64;
const MAX_EMOJI = 10;
const MAX_TEXT_CHARS = 16_000;
const MAX_READ = 100;
const DEFAULT_READ = 20;
const MAX_SHOWN_CHARS = 4_000;

const ACTIONS = ["react", "edit", "delete", "pin", "read"] as const;
type Action = (typeof ACTIONS)[number];
type Change = Exclude<Action, "read">;

const emoji = Type.String({ minLength: 1, maxLength: MAX_EMOJI_CHARS });
const Params = Type.Object(
  {
    action: Type.Union(
      ACTIONS.map((action) => Type.Literal(action)),
      { description: "What to do" },
    ),
    messageId: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: MAX_ID_CHARS,
        description:
          "Which message: an id from the facts, from read or from a tool that sent it (react, edit, delete, pin)",
      }),
    ),
    emoji: Type.Optional(
      Type.Union([emoji, Type.Array(emoji, { minItems: 1, maxItems: MAX_EMOJI })], { description: "Emoji (react)" }),
    ),
    text: Type.Optional(Type.String({ minLength: 1, maxLength: MAX_TEXT_CHARS, description: "The new text (edit)" })),
    remove: Type.Optional(Type.Boolean({ description: "Take the reaction away instead of adding it (react)" })),
    unpin: Type.Optional(Type.Boolean({ description: "Unpin instead of pin (pin)" })),
    chatId: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 512,
        description: "Left out: this chat. Owners may name another session by its key (read)",
      }),
    ),
    limit: Type.Optional(
      Type.Integer({ minimum: 1, maximum: MAX_READ, default: DEFAULT_READ, description: "Messages at most (read)" }),
    ),
    before: Type.Optional(
      Type.String({ minLength: 1, maxLength: MAX_ID_CHARS, description: "Only messages before this id (read)" }),
    ),
  },
  closed,
);
type Params = Static<typeof Params>;

export function message(deps: MessageToolDeps): Tool {
  return defineTool({
    name: "message",
    label: "Message",
    description:
      "Works on messages of the current chat: react, edit (your own), delete (your own), pin, or read the history with message ids.",
    parameters: Params,
    flags: { idempotent: true, sequential: true, inConversation: true }, // each action leaves the same behind however often it is done
    limit: { calls: 60, perMs: MINUTE_MS },
    timeoutMs: 20_000,
    async run(params, call) {
      const { context, signal } = call;
      if (params.action === "read") return read(deps, params, call);
      const { channel: name } = context.origin;
      const channel = deps.channel(name);
      if (!channel?.[params.action]) throw new Error(cannot(params.action, name, channel));
      if (!isOwnChat(params.chatId, context))
        throw new Error("Only messages of the chat you are in can be changed. Leave chatId out.");
      const { messageId } = params;
      if (messageId === undefined) throw new Error(`${params.action} needs messageId. The action read tells the ids.`);
      const target = { to: context.origin, sessionKey: context.sessionKey, messageId };
      const result = await deps.messages.act(target, actionOf(params.action, params), signal);
      if (result.kind === "refused") throw new Error(result.because);
      const shown = result.reactions ? { reactions: result.reactions } : {};
      return answer({ action: params.action, done: true, messageId, ...shown });
    },
  });
}

function cannot(action: Change, name: string, channel: Channel | undefined): string {
  const able = ACTIONS.filter((one) => one === "read" || channel?.[one]);
  return `The channel ${name} has no way to ${action === "react" ? "react to" : action} messages. Here you can: ${able.join(", ")}.`;
}

function actionOf(kind: Change, { emoji: wanted, remove, text, unpin }: Params): MessageAction {
  switch (kind) {
    case "react":
      if (wanted === undefined) throw new Error("react needs emoji.");
      return { kind, emoji: typeof wanted === "string" ? [wanted] : wanted, remove: remove ?? false };
    case "edit":
      if (text === undefined || text.trim() === "") throw new Error("edit needs text.");
      return { kind, text: text.toWellFormed() };
    case "delete":
      return { kind };
    case "pin":
      return { kind, unpin: unpin ?? false };
  }
}

async function read(deps: MessageToolDeps, params: Params, { context }: ToolCall) {
  const sessionKey = await sessionToRead(deps, params.chatId, context);
  const { limit = DEFAULT_READ, before } = params;
  const messages = await deps.history(sessionKey, { limit, ...(before === undefined ? {} : { before }) });
  if (!messages) throw new Error("There is no message with the id of `before` in this chat.");
  return answer({
    ...(sessionKey === context.sessionKey ? {} : { session: sessionKey }),
    messages: messages.map((one) => shownMessage(deps.ids, one)),
  });
}

function shownMessage(ids: Ids, { id, from, sender, text, at, files, replyTo }: HistoryMessage) {
  const words = text.length > MAX_SHOWN_CHARS ? `${text.slice(0, MAX_SHOWN_CHARS)}…` : text;
  const author = sender && { id: sender.principal, name: sender.name };
  const isGuest = sender?.role === "guest"; // marked as in the prompt: a guest in a group speaks to people
  return {
    id,
    from: sender?.name ?? from,
    text: author && isGuest ? wrapUntrusted(ids, { source: "group member (guest)", author, text: words }) : words,
    at: new Date(at).toISOString(),
    ...(files.length > 0 ? { files } : {}),
    ...(replyTo === undefined ? {} : { replyTo }),
  };
}

function isOwnChat(chatId: string | undefined, { origin, sessionKey }: ToolContext): boolean {
  return chatId === undefined || chatId === origin.chat || chatId === sessionKey;
}

/** Naming another chat is not a right that comes with knowing its name. */
async function sessionToRead(
  deps: MessageToolDeps,
  chatId: string | undefined,
  context: ToolContext,
): Promise<SessionKey> {
  if (chatId === undefined || isOwnChat(chatId, context)) return context.sessionKey;
  if (context.role !== "owner") throw new Error("Only the chat you are in can be read. Leave chatId out.");
  const other = await deps.sessionOf(chatId, context);
  if (other) return other;
  throw new Error("There is no such chat. Name it by its session key, or leave chatId out.");
}
