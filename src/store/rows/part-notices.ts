/** Notices about parts that were given up: in the chat that waits for them, behind everything else, once for each turn. */
import { sql as raw } from "kysely";
import type { OutboxStore } from "../../contracts/store.ts";
import type { OutboxTable } from "./outbox-table.ts";
import type { Params, Sql } from "../sql.ts";
import { toMessageColumns } from "./codec.ts";
import { createReplyRows } from "./replies.ts";
import type { RowDeps } from "./row-deps.ts";

export function createPartNotices({
  sql,
  write,
  mask,
  messageIndex,
  instanceId,
}: Pick<RowDeps, "sql" | "write" | "mask" | "messageIndex" | "instanceId">): Pick<OutboxStore, "noteInChat"> {
  const { about, waiting, last } = statements(sql);
  const replies = createReplyRows({ sql, messageIndex, instanceId });
  return {
    noteInChat: (id, text, at) =>
      write(function* () {
        const part = yield* about.first({ id });
        if (!part) return false;
        const { turn_id: turnId, channel, account, chat } = part;
        const notice = `${turnId}:n`;
        if ((yield* replies.isStored(notice)) || (yield* waiting.first({ channel, account, chat, text }))) return true;
        // behind the reply, also in the transcript
        const number = Math.max(0, (yield* last.first({ turnId }))?.part ?? 0) + 1;
        const message = toMessageColumns({ kind: "notice", text }, mask);
        yield* replies.add({ ...part, ...message, id: notice, part: number, created_at: at });
        yield* replies.count(part.session_key, 1, at);
        return true;
      }),
  };
}

function statements(sql: Sql) {
  return {
    /** Only for a reply to a message in the same chat: there somebody waits for it. */
    about: sql.prepare((db, p: Params<{ id: string }>) =>
      db
        .selectFrom("outbox")
        .innerJoin("inbox", "inbox.turn_id", "outbox.turn_id")
        .select(["outbox.turn_id", "outbox.session_key", "outbox.part"])
        .select(["outbox.channel", "outbox.account", "outbox.chat", "outbox.thread"])
        .where("outbox.id", "=", p("id"))
        .where("outbox.kind", "=", raw.lit("reply"))
        .where("inbox.origin", "=", raw.lit("chat"))
        .whereRef("inbox.channel", "=", "outbox.channel")
        .whereRef("inbox.account", "=", "outbox.account")
        .whereRef("inbox.chat", "=", "outbox.chat")
        .limit(1),
    ),
    /** Many replies may be given up together: a chat gets the same notice once. */
    waiting: sql.prepare((db, p: Params<Pick<OutboxTable, "channel" | "account" | "chat" | "text">>) =>
      db
        .selectFrom("outbox")
        .select("id")
        .where("ended_at", "is", null)
        .where("kind", "=", raw.lit("notice"))
        .where((eb) => eb.and(p.row("channel", "account", "chat", "text")))
        .limit(1),
    ),
    last: sql.prepare((db, p: Params<{ turnId: OutboxTable["turn_id"] }>) =>
      db
        .selectFrom("outbox")
        .select((eb) => eb.fn.max<number>("part").as("part"))
        .where("turn_id", "=", p("turnId")),
    ),
  };
}
