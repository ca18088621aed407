/** Updates as Telegram would bring them: who did what in which chat. */
import type { Fields } from "./bot-room.ts";

export interface Person {
  readonly id: number;
  readonly first_name: string;
}

export const FRIEND: Person = { id: 11, first_name: "Friend" };
export const OTHER: Person = { id: 22, first_name: "Other" };
export const STRANGER: Person = { id: 33, first_name: "Stranger" };
export const GROUP_ID = -1001;
/** What a small group is called when it has become a large one. */
export const NEW_GROUP_ID = -100_2001;

interface Told {
  readonly by: Person;
  readonly text?: string;
  /** In the group, with a mention of this bot. */
  readonly inGroup?: { readonly bot: string; readonly mention?: boolean; readonly id?: number };
  readonly messageId: number;
  /** Whatever else the message has. */
  readonly more?: Fields;
}

const user = (by: Person): Fields => ({ ...by, is_bot: false });

function chatOf({ by, inGroup }: Told): Fields {
  return inGroup
    ? { id: inGroup.id ?? GROUP_ID, type: "supergroup", title: "A group" }
    : { id: by.id, type: "private" };
}

function messageOf(told: Told): Fields {
  const { by, text = "", inGroup, messageId, more = {} } = told;
  const mention = inGroup && inGroup.mention !== false ? `@${inGroup.bot} ` : "";
  const entities = mention === "" ? [] : [{ type: "mention", offset: 0, length: mention.length - 1 }];
  const words = "caption" in more || (text === "" && mention === "") ? {} : { text: mention + text, entities };
  return { message_id: messageId, date: 1, from: user(by), chat: chatOf(told), ...words, ...more };
}

export const said = (told: Told): Fields => ({ message: messageOf(told) });
export const changed = (told: Told): Fields => ({ edited_message: { ...messageOf(told), edit_date: 2 } });

export const spoke = (told: Told): Fields =>
  said({
    ...told,
    text: "",
    more: { ...mentionIn(told), voice: { file_id: "voice-1", duration: 2, mime_type: "audio/ogg", file_size: 5 } },
  });

export const passedOn = (told: Told): Fields =>
  said({ ...told, more: { forward_origin: { type: "hidden_user", sender_user_name: "Somebody", date: 1 } } });

export function pressed({ by, inGroup, messageId }: Told, data: string, callbackId: string): Fields {
  const message = { message_id: messageId, date: 1, chat: chatOf({ by, messageId, ...(inGroup ? { inGroup } : {}) }) };
  return { callback_query: { id: callbackId, from: user(by), chat_instance: "1", message, data } };
}

/** A caption carries the mention of a message without text. */
function mentionIn({ inGroup }: Told): Fields {
  if (!inGroup) return {};
  const caption = `@${inGroup.bot}`;
  return { caption, caption_entities: [{ type: "mention", offset: 0, length: caption.length }] };
}
