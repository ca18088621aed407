/** What platforms call messages: written with the message itself, read in both directions. */
import type { ChatAddress } from "../../../contracts/chat.ts";
import type { Params, Sql } from "../../sql.ts";
import type { Steps } from "../../steps.ts";
import type { PlatformMessageTable } from "./message-tables.ts";

type Chat = Pick<ChatAddress, "channel" | "account" | "chat">;

export interface PlatformIds {
  /** To be called inside of a write. */
  note(messageId: string, to: Chat, platformIds: readonly string[]): Steps<void>;
  of(messageId: string): Steps<readonly string[]>;
  /** The newest message under this id. */
  messageId(to: Chat, platformId: string): Steps<string | null>;
}

export function createPlatformIds(sql: Sql): PlatformIds {
  type Row = Omit<PlatformMessageTable, "seq">;
  const add = sql.prepare((db, p: Params<Row>) =>
    db.insertInto("platform_messages").values(p.row("message_id", "channel", "account", "chat", "platform_id")),
  );
  const of = sql.prepare((db, p: Params<Pick<Row, "message_id">>) =>
    db
      .selectFrom("platform_messages")
      .select("platform_id")
      .where("message_id", "=", p("message_id"))
      .orderBy("message_id")
      .orderBy("seq"),
  );
  const find = sql.prepare((db, p: Params<Omit<Row, "message_id">>) =>
    db
      .selectFrom("platform_messages")
      .select("message_id")
      .where((eb) => eb.and(p.row("channel", "account", "chat", "platform_id")))
      .orderBy("seq", "desc")
      .limit(1),
  );
  return {
    *note(message_id, { channel, account, chat }, platformIds) {
      for (const platform_id of platformIds) yield* add.run({ message_id, channel, account, chat, platform_id });
    },
    *of(message_id) {
      return (yield* of.all({ message_id })).map(({ platform_id }) => platform_id);
    },
    *messageId({ channel, account, chat }, platform_id) {
      return (yield* find.first({ channel, account, chat, platform_id }))?.message_id ?? null;
    },
  };
}
