/** Messages that tools send besides the reply of their turn. Stored in the outbox before the reply, so that one order holds for both. */
import type { OutboxRow } from "../../contracts/delivery.ts";
import type { SessionKey, TurnId } from "../../contracts/ids.ts";
import type { NewPost, Posted, PostStore } from "../../contracts/store/posts.ts";
import type { OutboxTable } from "./outbox-table.ts";
import type { Params, Sql } from "../sql.ts";
import type { Steps } from "../steps.ts";
import { toAddressColumns, toMessageColumns } from "./codec.ts";
import { createReplyRows } from "./replies.ts";
import type { RowDeps } from "./row-deps.ts";

/** Parts of posts count up to -1, so that the parts of the reply, from 0 on, follow them. */
const MAX_POSTS_PER_TURN = 50;
const KEY_CHARS = 24;

export function createPosts(
  {
    sql,
    write,
    mask,
    messageIndex,
    instanceId,
  }: Pick<RowDeps, "sql" | "write" | "mask" | "messageIndex" | "instanceId">,
  part: (id: string) => Steps<OutboxRow | null>,
): PostStore {
  const { turn, count, rewritten } = statements(sql);
  const replies = createReplyRows({ sql, messageIndex, instanceId });

  function* post({ turnId, sessionKey, onceKey, to, message, at }: NewPost): Steps<Posted> {
    if ((yield* turn.first({ id: turnId }))?.session_key !== sessionKey) return { kind: "no_turn" };
    const id = `${turnId}:x${new Bun.CryptoHasher("sha256").update(onceKey).digest("hex").slice(0, KEY_CHARS)}`;
    if (yield* replies.isStored(id)) return { kind: "posted", id };
    const posts = (yield* count.first({ turnId }))?.posts ?? 0;
    if (posts >= MAX_POSTS_PER_TURN) return { kind: "full", max: MAX_POSTS_PER_TURN };
    const row = { id, turn_id: turnId, session_key: sessionKey, part: posts - MAX_POSTS_PER_TURN, created_at: at };
    yield* replies.add({ ...row, ...toAddressColumns(to), ...toMessageColumns(message, mask) });
    yield* replies.count(sessionKey, 1, at);
    return { kind: "posted", id };
  }

  return {
    post: (wanted) => write(() => post(wanted)),
    rewrite: (sessionKey, id, text, at) =>
      write(function* () {
        const change = { text: mask(text ?? ""), edited_at: at, deleted_at: text === null ? at : null };
        return (yield* rewritten.run({ id, sessionKey, ...change })) > 0 ? yield* part(id) : null;
      }),
  };
}

function statements(sql: Sql) {
  type Rewriting = Pick<OutboxTable, "text" | "edited_at" | "deleted_at">;
  return {
    turn: sql.prepare((db, p: Params<{ id: TurnId }>) =>
      db.selectFrom("turns").select("session_key").where("id", "=", p("id")),
    ),
    count: sql.prepare((db, p: Params<{ turnId: TurnId }>) =>
      db
        .selectFrom("outbox")
        .select((eb) => eb.fn.countAll<number>().as("posts"))
        .where("turn_id", "=", p("turnId"))
        .where("part", "<", 0),
    ),
    rewritten: sql.prepare((db, p: Params<{ id: string; sessionKey: SessionKey } & Rewriting>) =>
      db
        .updateTable("outbox")
        .set(p.row("text", "edited_at", "deleted_at"))
        .where("id", "=", p("id"))
        .where("session_key", "=", p("sessionKey"))
        .where("deleted_at", "is", null),
    ),
  };
}
