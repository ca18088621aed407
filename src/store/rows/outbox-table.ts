/** The table of reply parts as a type. The table itself is made in migrations/. */
import type { Generated } from "kysely";
import type { OutboundMessage } from "../../contracts/chat.ts";
import type { OutboxState, TroubledState } from "../../contracts/delivery.ts";
import type { InstanceId, SessionKey, TurnId } from "../../contracts/ids.ts";

export interface OutboxTable {
  seq: Generated<number>;
  id: string;
  turn_id: TurnId;
  session_key: SessionKey;
  part: number;
  channel: string;
  account: string;
  chat: string;
  thread: string | null;
  kind: OutboundMessage["kind"];
  state: OutboxState;
  attempts: Generated<number>;
  lost: Generated<number>;
  /** How many of its messages were delivered when its last doubt was counted. */
  delivered: Generated<number>;
  /** An earlier message of it may be shown twice, or be missing. */
  doubt: Generated<0 | 1>;
  first_tried_at: number | null;
  next_try_at: number | null;
  /** The gateway that sends it. */
  node: InstanceId | null;
  /** The gateway that claimed it last, also after it gave the claim back; null: none did. */
  claimed_by: InstanceId | null;
  /** Null: given back. */
  claimed_until: number | null;
  provider_id: string | null;
  /** Why it was not sent yet, or not at all; null when it was sent and there is no doubt. */
  because: string | null;
  created_at: number;
  /** Null until nothing more will happen to it. */
  ended_at: number | null;
  text: string;
  attachments: string; // JSON
  /** A message of the same chat that this one answers. */
  reply_to: string | null;
  format: NonNullable<OutboundMessage["format"]> | null;
  edited_at: number | null;
  deleted_at: number | null;
  own_reactions: string | null; // JSON; the assistant's
  pinned_at: number | null;
  /** When a person had it sent again; its `seq` is of that moment. */
  retried_at: number | null;
  /** How it had ended before that; once `ambiguous`, it stays that. */
  retried_from: TroubledState | null;
}

/** What is known about a reply when it is stored. */
export type NewReply = Pick<OutboxTable, (typeof NEW_REPLY)[number]>;

export const NEW_REPLY = [
  ...["id", "turn_id", "session_key", "part", "channel", "account", "chat", "thread"],
  ...["text", "kind", "created_at", "attachments", "reply_to", "format"],
] as const satisfies readonly (keyof OutboxTable)[];
