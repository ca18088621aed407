/** Rows of the outbox as reply parts: what decides about their delivery, what their channel sends, and both at once for a part that was just stored. */
import type { Selectable } from "kysely";
import type { OutboxRow, PendingPart, StoredPart } from "../../contracts/delivery.ts";
import type { TurnTable } from "../schema.ts";
import type { OutboxTable } from "./outbox-table.ts";
import { marksOf } from "./channels/marks.ts";
import { fromAddressColumns, fromMessageColumns } from "./codec.ts";

type Row = Selectable<OutboxTable>;
/** With how its turn ended, which is written in the same transaction as the part itself. */
export type RowOfTurn = Row & { readonly turn_state: TurnTable["state"]; readonly reaction: string | null };

/** The columns of a `PendingPart`: all that decides about its delivery, without its text. */
export const PENDING = [
  ...["seq", "id", "channel", "account", "chat", "thread", "created_at"],
  ...["state", "attempts", "lost", "delivered", "doubt", "first_tried_at", "next_try_at", "retried_at", "retried_from"],
] as const satisfies readonly (keyof OutboxTable)[];

/** Nobody can have reacted to it yet. */
export function toStored(row: Row, turnState: TurnTable["state"]): StoredPart {
  return { pending: toPending(row), row: toRow({ ...row, turn_state: turnState, reaction: null }) };
}

export function toPending(row: Pick<Row, (typeof PENDING)[number]>): PendingPart {
  return {
    seq: row.seq,
    id: row.id,
    to: fromAddressColumns(row),
    createdAt: row.created_at,
    state: row.state === "sending" ? "sending" : "pending",
    attempts: row.attempts,
    lost: row.lost,
    delivered: row.delivered,
    doubt: row.doubt === 1,
    firstTriedAt: row.first_tried_at,
    nextTryAt: row.next_try_at,
    ...retryOf(row),
  };
}

/** Empty: nobody had it sent again. */
export function retryOf({ retried_at: at, retried_from: from }: Pick<Row, "retried_at" | "retried_from">) {
  return at === null || from === null ? {} : { retried: { at, from } };
}

export function toRow(row: RowOfTurn): OutboxRow {
  return {
    id: row.id,
    turnId: row.turn_id,
    sessionKey: row.session_key,
    part: row.part,
    message: fromMessageColumns(row),
    to: fromAddressColumns(row),
    createdAt: row.created_at,
    outcome: row.turn_state === "running" ? "done" : row.turn_state,
    ...(row.edited_at === null ? {} : { editedAt: row.edited_at }),
    ...(row.deleted_at === null ? {} : { deleted: true }),
    ...(row.reaction === null ? {} : { reaction: row.reaction }),
    ...marksOf(row),
  };
}
