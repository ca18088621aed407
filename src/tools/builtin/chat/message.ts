/**
 * `message`: react to, edit, delete, pin and read messages of the chat the agent is talking in. The chat is the caller's, whatever the call
 * says; only an owner may read another one. What a channel cannot do is answered with what it can.
 */
import { type Static, Type } from "typebox";
import type { ActionResult, Channel, ChatPlace } from "../../../contracts/channel.ts";
import type { ChatAddress } from "../../../contracts/chat.ts";
import type { SessionKey } from "../../../contracts/ids.ts";
import type { Tool, ToolContext } from "../../../contracts/tools/tool.ts";
import { answer, closed, defineTool, MINUTE_MS, type ToolCall } from "../define.ts";

export interface MessageToolDeps {
  channel(id: string): Channel | undefined;
  /** The chat of a session that is named by its key; null: there is no such session. */
  placeOf(sessionKey: string): { readonly sessionKey: SessionKey; readonly to: ChatAddress } | null;
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
const ABILITY = {
  react: "react",
  edit: "edit",
  delete: "delete",
  pin: "pin",
  read: "history",
} as const satisfies Record<Action, keyof Channel>;

const emoji = Type.String({ minLength: 1, maxLength: MAX_EMOJI_CHARS });
const Params = Type.Object(
  {
    action: Type.Union(
      ACTIONS.map((action) => Type.Literal(action)),
      { description: "What to do" },
    ),
    messageId: Type.Optional(
      Type.String({ minLength: 1, maxLength: MAX_ID_CHARS, description: "Which message (react, edit, delete, pin)" }),
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
        description: "Left out: this chat. Owners may name another session (read)",
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
    flags: { idempotent: true, sequential: true }, // each action leaves the same behind however often it is done
    limit: { calls: 60, perMs: MINUTE_MS },
    timeoutMs: 20_000,
    async run(params, call) {
      const { context } = call;
      const channel = deps.channel(context.origin.channel);
      if (!channel?.[ABILITY[params.action]]) throw new Error(cannot(params.action, context.origin.channel, channel));
      if (params.action === "read") return read(deps, params, call);
      const place: ChatPlace = { to: context.origin, sessionKey: context.sessionKey };
      if (!isOwnChat(params.chatId, context))
        throw new Error("Only messages of the chat you are in can be changed. Leave chatId out.");
      const result = await act(channel, params, place, call.signal);
      if (result.kind === "refused") throw new Error(result.because);
      return answer({ action: params.action, done: true, messageId: params.messageId });
    },
  });
}

function cannot(action: Action, name: string, channel: Channel | undefined): string {
  const able = ACTIONS.filter((one) => channel?.[ABILITY[one]]);
  const instead = able.length === 0 ? "Nothing can be done to messages here." : `Here you can: ${able.join(", ")}.`;
  return `The channel ${name} has no way to ${action === "read" ? "read the history" : `${action === "react" ? "react to" : action} messages`}. ${instead}`;
}

async function act(channel: Channel, params: Params, place: ChatPlace, signal: AbortSignal): Promise<ActionResult> {
  const { messageId } = params;
  if (messageId === undefined) throw new Error(`${params.action} needs messageId. The action read tells the ids.`);
  const target = { ...place, messageId };
  const done: ActionResult = { kind: "done" };
  switch (params.action) {
    case "react": {
      if (params.emoji === undefined) throw new Error("react needs emoji.");
      const wanted = typeof params.emoji === "string" ? [params.emoji] : params.emoji;
      return (await channel.react?.(target, { emoji: wanted, remove: params.remove ?? false }, signal)) ?? done;
    }
    case "edit":
      if (params.text === undefined || params.text.trim() === "") throw new Error("edit needs text.");
      return (await channel.edit?.(target, params.text.toWellFormed(), signal)) ?? done;
    case "delete":
      return (await channel.delete?.(target, signal)) ?? done;
    case "pin":
      return (await channel.pin?.(target, params.unpin ?? false, signal)) ?? done;
    default:
      return done; // reading has a way of its own
  }
}

async function read(deps: MessageToolDeps, params: Params, { context, signal }: ToolCall) {
  const place = chatToRead(deps, params.chatId, context);
  const page = {
    limit: params.limit ?? DEFAULT_READ,
    ...(params.before === undefined ? {} : { before: params.before }),
  };
  const result = await deps.channel(place.to.channel)?.history?.(place, page, signal);
  if (!result) throw new Error(`The channel ${place.to.channel} has no way to read the history.`);
  if (result.kind === "refused") throw new Error(result.because);
  return answer({
    messages: result.messages.map(({ id, from, name, text, at, files }) => ({
      id,
      from: name ?? from,
      text: text.length > MAX_SHOWN_CHARS ? `${text.slice(0, MAX_SHOWN_CHARS)}…` : text,
      at: new Date(at).toISOString(),
      ...(files.length > 0 ? { files } : {}),
    })),
  });
}

function isOwnChat(chatId: string | undefined, { origin, sessionKey }: ToolContext): boolean {
  return chatId === undefined || chatId === origin.chat || chatId === sessionKey;
}

/** Naming another chat is not a right that comes with knowing its name. */
function chatToRead(deps: MessageToolDeps, chatId: string | undefined, context: ToolContext): ChatPlace {
  const own: ChatPlace = { to: context.origin, sessionKey: context.sessionKey };
  if (isOwnChat(chatId, context)) return own;
  if (context.role !== "owner") throw new Error("Only the chat you are in can be read. Leave chatId out.");
  const other = deps.placeOf(chatId ?? "");
  if (!other) throw new Error("There is no such chat. Name it by its session key, or leave chatId out.");
  return other;
}
