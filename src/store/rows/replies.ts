/** The way into the outbox: reply parts as rows, and the count of messages of their session. Runs inside of a write. */
import type { Selectable } from "kysely";
import type { ChatAddress } from "../../contracts/chat.ts";
import type { ReplyPart } from "../../contracts/delivery.ts";
import { GatewayError } from "../../contracts/errors.ts";
import type { InstanceId, SessionKey, TurnId } from "../../contracts/ids.ts";
import { NEW_REPLY, type NewReply, type OutboxTable } from "./outbox-table.ts";
import type { Params } from "../sql.ts";
import type { Steps } from "../steps.ts";
import { toAddressColumns, toMessageColumns } from "./codec.ts";
import type { RowDeps } from "./row-deps.ts";
import { greater } from "./terms.ts";

interface ReplyRows {
  /** The row as it is stored. */
  add(row: NewReply): Steps<Selectable<OutboxTable>>;
  isStored(id: string): Steps<boolean>;
  /** The session has this many messages more. */
  count(key: SessionKey, messages: number, at: number): Steps<void>;
}

type ReplyDeps = Pick<RowDeps, "sql" | "instanceId" | "messageIndex">;

export function createReplyRows({ sql, messageIndex, instanceId: me }: ReplyDeps): ReplyRows {
  const add = sql.prepare((db, p: Params<NewReply & { readonly me: InstanceId }>) =>
    db
      .insertInto("outbox")
      .values({ ...p.row(...NEW_REPLY), state: "pending", node: p("me") })
      .returningAll(),
  );
  const byId = sql.prepare((db, p: Params<{ id: string }>) =>
    db.selectFrom("outbox").select("id").where("id", "=", p("id")),
  );
  const count = sql.prepare((db, p: Params<{ key: SessionKey; messages: number; at: number }>) =>
    db
      .updateTable("sessions")
      .set((eb) => ({
        messages: eb("messages", "+", p("messages")),
        last_activity_at: greater("last_activity_at", p("at")),
      }))
      .where("key", "=", p("key")),
  );
  return {
    *add(row) {
      const stored = yield* add.first({ ...row, me });
      if (!stored) throw new GatewayError("internal", "a reply part was not stored");
      messageIndex.followSoon();
      return stored;
    },
    *isStored(id) {
      return (yield* byId.first({ id })) !== null;
    },
    *count(key, messages, at) {
      yield* count.run({ key, messages, at });
    },
  };
}

interface TurnReply {
  readonly turnId: TurnId;
  readonly sessionKey: SessionKey;
  readonly reply: readonly ReplyPart[];
  readonly to: ChatAddress;
  readonly at: number;
}

/** The parts of a turn's reply, in order. */
export function replyRows(
  { turnId, sessionKey, reply, to, at }: TurnReply,
  mask: (text: string) => string,
): NewReply[] {
  const address = toAddressColumns(to);
  return reply
    .toSorted((a, b) => a.part - b.part)
    .map(({ part, message }) => ({
      id: `${turnId}:${part}`,
      turn_id: turnId,
      session_key: sessionKey,
      part,
      created_at: at,
      ...address,
      ...toMessageColumns(message, mask),
    }));
}
