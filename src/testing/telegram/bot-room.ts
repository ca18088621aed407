/** What people would see on Telegram: the chats of one bot, its messages with every change, and the updates that wait for it. */
import { faultOf, MAX_CAPTION_UNITS, type ShownEntity } from "./entity-rules.ts";

interface ShownMessage {
  readonly id: number;
  readonly chat: string;
  readonly method: string;
  text: string;
  entities: readonly ShownEntity[];
  readonly thread?: number;
  readonly replyTo?: number;
  readonly file?: { readonly field: string; readonly name: string; readonly bytes: Uint8Array };
  buttons: readonly { readonly text: string; readonly data: string }[];
  /** It asks for a reply; Telegram lets nobody change such a message. */
  readonly wantsReply: boolean;
  /** Texts it had before. */
  readonly before: string[];
  reactions: readonly string[];
  pinned: boolean;
  deleted: boolean;
}

export type Fields = Readonly<Record<string, unknown>>;
export type MethodResult =
  | { readonly ok: true; readonly result: unknown }
  | { readonly ok: false; readonly error_code: number; readonly description: string; readonly parameters?: Fields };

export interface UploadedFile {
  readonly field: string;
  readonly name: string;
  readonly bytes: Uint8Array;
}

export interface BotRoom {
  readonly id: number;
  readonly username: string;
  readonly messages: readonly ShownMessage[];
  readonly actions: readonly { readonly chat: string; readonly action: string }[];
  readonly answers: readonly { readonly id: string; readonly text: string }[];
  readonly commands: ReadonlyMap<string, readonly Fields[]>;
  readonly reactions: readonly { readonly chat: string; readonly message: number; readonly emoji: readonly string[] }[];
  readonly webhook: Fields | null;
  /** Nobody may write there any more. */
  readonly closedChats: Set<string>;
  /** Groups that have become supergroups: the old number, and the new one. */
  readonly moved: Map<string, string>;
  /** How the bot stands in a group; a member where nothing is said. */
  readonly standing: Map<string, Fields>;
  /** Documents are taken, photos are not. */
  refusePhotos: boolean;
  /** Its privacy mode is off: it gets everything that is said in a group. */
  readsAll: boolean;
  readonly files: Map<string, Uint8Array>;
  /** Messages that people wrote: an administrator may delete them, nobody else may change them. */
  readonly theirs: Set<number>;
  nextMessageId(): number;
  /** Null: there is no such method here. */
  run(method: string, fields: Fields, files: readonly UploadedFile[]): MethodResult | null;
}

/** What people say is not kept here; a number as far as this from the last one is nobody's. */
const FAR = 10_000;
const fine = (result: unknown): MethodResult => ({ ok: true, result });
const bad = (description: string, error_code = 400): MethodResult => ({
  ok: false,
  error_code,
  description: `${error_code === 403 ? "Forbidden" : "Bad Request"}: ${description}`,
});

const MEDIA: Readonly<Record<string, string>> = {
  sendPhoto: "photo",
  sendDocument: "document",
  sendVideo: "video",
  sendAudio: "audio",
  sendVoice: "voice",
};

export function createBotRoom(id: number, username: string): BotRoom {
  const messages: ShownMessage[] = [];
  const actions: { chat: string; action: string }[] = [];
  const answers: { id: string; text: string }[] = [];
  const reactions: { chat: string; message: number; emoji: readonly string[] }[] = [];
  const commands = new Map<string, readonly Fields[]>();
  const closedChats = new Set<string>();
  const moved = new Map<string, string>();
  const standing = new Map<string, Fields>();
  let webhook: Fields | null = null;
  let lastMessageId = 1_000;

  const find = (fields: Fields): ShownMessage | undefined =>
    messages.find((one) => one.chat === String(fields.chat_id) && one.id === Number(fields.message_id) && !one.deleted);

  const post = (method: string, fields: Fields, file?: UploadedFile): MethodResult => {
    const chat = String(fields.chat_id);
    if (closedChats.has(chat)) return bad("bot was blocked by the user", 403);
    const text = String((file ? fields.caption : fields.text) ?? "");
    const entities = parsed<readonly ShownEntity[]>(file ? fields.caption_entities : fields.entities) ?? [];
    const fault = file && text === "" ? null : faultOf(text, entities, file ? MAX_CAPTION_UNITS : undefined);
    if (fault) return bad(fault);
    const reply = parsed<{ message_id: number }>(fields.reply_parameters);
    const message: ShownMessage = {
      id: ++lastMessageId,
      chat,
      method,
      text,
      entities,
      ...(fields.message_thread_id === undefined ? {} : { thread: Number(fields.message_thread_id) }),
      ...(reply ? { replyTo: reply.message_id } : {}),
      ...(file ? { file } : {}),
      buttons: buttonsOf(fields),
      wantsReply: parsed<{ force_reply?: boolean }>(fields.reply_markup)?.force_reply === true,
      before: [],
      reactions: [],
      pinned: false,
      deleted: false,
    };
    messages.push(message);
    return fine({ message_id: message.id, date: 0, chat: { id: Number(chat), type: "private" }, text });
  };

  /** All of it, or nothing. The caption is with one of its pieces. */
  const postGroup = (fields: Fields, uploads: readonly UploadedFile[]): MethodResult => {
    const media = parsed<readonly Fields[]>(fields.media) ?? [];
    if (media.length < 2 || media.length > 10) return bad("wrong number of items in the album");
    if (room.refusePhotos && media.some(({ type }) => type === "photo")) return bad("PHOTO_INVALID_DIMENSIONS");
    const results: unknown[] = [];
    for (const item of media) {
      const file = uploads.find(({ field }) => `attach://${field}` === item.media);
      if (!file) return bad("there is no file in the request");
      const { chat_id, message_thread_id, reply_parameters } = fields;
      const about = { chat_id, reply_parameters, ...(message_thread_id === undefined ? {} : { message_thread_id }) };
      const posted = post("sendMediaGroup", { ...item, ...about }, { ...file, field: String(item.type) });
      if (!posted.ok) return posted;
      results.push(posted.result);
    }
    return fine(results);
  };

  const room: BotRoom = {
    id,
    username,
    messages,
    actions,
    answers,
    commands,
    reactions,
    closedChats,
    moved,
    standing,
    files: new Map(),
    theirs: new Set(),
    refusePhotos: false,
    readsAll: false,
    nextMessageId: () => ++lastMessageId,
    get webhook() {
      return webhook;
    },
    run(method, fields, uploads) {
      const to = moved.get(String(fields.chat_id));
      if (to !== undefined) {
        const description = "Bad Request: group chat was upgraded to a supergroup chat";
        return { ok: false, error_code: 400, description, parameters: { migrate_to_chat_id: Number(to) } };
      }
      const field = MEDIA[method];
      if (field !== undefined) {
        const [file] = uploads;
        if (!file) return bad("there is no file in the request");
        if (field === "photo" && room.refusePhotos) return bad("PHOTO_INVALID_DIMENSIONS");
        return post(method, fields, { ...file, field });
      }
      if (method === "sendMediaGroup") return postGroup(fields, uploads);
      switch (method) {
        case "getMe":
          return fine({ id, is_bot: true, first_name: "Fake", username, can_read_all_group_messages: room.readsAll });
        case "sendMessage":
          return post(method, fields);
        case "editMessageText": {
          const message = find(fields);
          if (!message) return bad("message to edit not found");
          if (message.wantsReply) return bad("message can't be edited");
          if (message.file) return bad("there is no text in the message to edit");
          const text = String(fields.text ?? "");
          const entities = parsed<readonly ShownEntity[]>(fields.entities) ?? [];
          const fault = faultOf(text, entities);
          if (fault) return bad(fault);
          const same = JSON.stringify([text, entities, buttonsOf(fields)]);
          if (same === JSON.stringify([message.text, message.entities, message.buttons]))
            return bad("message is not modified");
          message.before.push(message.text);
          Object.assign(message, { text, entities, buttons: buttonsOf(fields) });
          return fine({ message_id: message.id, date: 0, chat: { id: Number(message.chat), type: "private" }, text });
        }
        case "editMessageCaption": {
          const message = find(fields);
          if (!message?.file) return bad("message to edit not found");
          const text = String(fields.caption ?? "");
          const entities = parsed<readonly ShownEntity[]>(fields.caption_entities) ?? [];
          const fault = text === "" ? null : faultOf(text, entities, MAX_CAPTION_UNITS);
          if (fault) return bad(fault);
          message.before.push(message.text);
          Object.assign(message, { text, entities });
          return fine({ message_id: message.id, date: 0, chat: { id: Number(message.chat), type: "private" } });
        }
        case "editMessageReplyMarkup": {
          const message = find(fields);
          if (room.theirs.has(Number(fields.message_id))) return bad("message can't be edited");
          if (!message) return bad("message to edit not found");
          message.buttons = buttonsOf(fields);
          return fine(true);
        }
        case "deleteMessage": {
          if (room.theirs.delete(Number(fields.message_id))) return fine(true);
          const message = find(fields);
          if (!message) return bad("message to delete not found");
          message.deleted = true;
          return fine(true);
        }
        case "setMessageReaction": {
          const emoji = (parsed<readonly { emoji: string }[]>(fields.reaction) ?? []).map((one) => one.emoji);
          if (emoji.some((one) => one === "🦄🦄")) return bad("REACTION_INVALID");
          const message = find(fields);
          if (!message && Number(fields.message_id) > lastMessageId + FAR) return bad("message to react not found");
          reactions.push({ chat: String(fields.chat_id), message: Number(fields.message_id), emoji });
          if (message) message.reactions = emoji;
          return fine(true);
        }
        case "pinChatMessage":
        case "unpinChatMessage": {
          const message = find(fields);
          if (!message) return bad("message to pin not found");
          message.pinned = method === "pinChatMessage";
          return fine(true);
        }
        case "sendChatAction":
          actions.push({ chat: String(fields.chat_id), action: String(fields.action) });
          return fine(true);
        case "answerCallbackQuery":
          answers.push({ id: String(fields.callback_query_id), text: String(fields.text ?? "") });
          return fine(true);
        case "setMyCommands":
          commands.set(JSON.stringify(parsed(fields.scope) ?? null), parsed<readonly Fields[]>(fields.commands) ?? []);
          return fine(true);
        case "getFile": {
          const file = String(fields.file_id);
          return room.files.has(file) ? fine({ file_id: file, file_path: `files/${file}` }) : bad("invalid file_id");
        }
        case "getChatMember":
          return fine(standing.get(String(fields.chat_id)) ?? { status: "member" });
        case "setWebhook":
          webhook = fields;
          return fine(true);
        case "deleteWebhook":
          webhook = null;
          return fine(true);
        case "getWebhookInfo":
          return fine({ url: String(webhook?.url ?? ""), pending_update_count: 0 });
        default:
          return null;
      }
    },
  };
  return room;
}

function buttonsOf(fields: Fields): ShownMessage["buttons"] {
  const markup = parsed<{ inline_keyboard?: readonly (readonly { text: string; callback_data: string }[])[] }>(
    fields.reply_markup,
  );
  return (markup?.inline_keyboard ?? []).flat().map(({ text, callback_data: data }) => ({ text, data }));
}

/** In a multipart request what is not text comes as JSON. */
function parsed<T>(value: unknown): T | undefined {
  if (value === undefined || value === null) return undefined;
  return (typeof value === "string" ? JSON.parse(value) : value) as T;
}
