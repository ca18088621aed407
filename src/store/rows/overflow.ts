/** Overflow, messages that came when their session was full: of each chat the newest are shown in the next turn, the others are only counted. */
import { sql as raw } from "kysely";
import type { ChatAddress } from "../../contracts/chat.ts";
import type { InboxId, TurnId } from "../../contracts/ids.ts";
import type { NewInboxRow } from "../../contracts/store/inbox.ts";
import type { InboxTable } from "../schema.ts";
import type { Params, Sql } from "../sql.ts";
import type { Steps } from "../steps.ts";
import { toAddressColumns } from "./codec.ts";

interface Overflow {
  /** Which one is only counted from now on; null when all can be shown. */
  hideOldest(row: Pick<NewInboxRow, "sessionKey" | "agentId" | "message">, maxShown: number): Steps<InboxId | null>;
  countHidden(): Steps<HiddenCounts>;
  /** Everything of this chat that is free, up to and including `through`. */
  claim(turn: OverflowClaim): Steps<void>;
}

export interface HiddenCounts {
  /** How many belong before the shown one; each is told once. */
  take(shown: ChatColumns): number;
}

interface OverflowClaim {
  readonly turnId: TurnId;
  readonly sessionKey: InboxTable["session_key"];
  readonly agentId: InboxTable["agent_id"];
  readonly through: InboxId;
  readonly chat: ChatAddress;
}

type Chat = Pick<InboxTable, "session_key" | "agent_id" | "channel" | "account" | "chat" | "thread">;
type ChatColumns = Chat & { readonly turn_id: TurnId | null };

export function createOverflow(sql: Sql): Overflow {
  const queries = createQueries(sql);
  const chatOf = (of: Pick<OverflowClaim, "sessionKey" | "agentId" | "chat">): Chat => ({
    session_key: of.sessionKey,
    agent_id: of.agentId,
    ...toAddressColumns(of.chat),
  });
  return {
    *hideOldest({ sessionKey, agentId, message }, maxShown) {
      const chat = chatOf({ sessionKey, agentId, chat: message.address });
      const shown = yield* queries.shown.all({ ...chat, limit: maxShown + 1 });
      const [oldest] = shown;
      if (!oldest || shown.length <= maxShown) return null;
      yield* queries.hide.run({ id: oldest.id });
      return oldest.id;
    },
    *countHidden() {
      const counts = new Map((yield* queries.hidden.all({})).map((row) => [nameOf(row), row.count]));
      return {
        take(shown) {
          const count = counts.get(nameOf(shown)) ?? 0;
          counts.delete(nameOf(shown));
          return count;
        },
      };
    },
    *claim(turn) {
      yield* queries.claim.run({ ...chatOf(turn), turnId: turn.turnId, through: turn.through });
    },
  };
}

function nameOf(row: ChatColumns): string {
  return JSON.stringify([row.session_key, row.agent_id, row.channel, row.account, row.chat, row.thread, row.turn_id]);
}

/** `overflow > 0 and done = 0` is written out in each of them: only so does SQLite see that the small index fits. */
function createQueries(sql: Sql) {
  return {
    shown: sql.prepare((db, p: Params<Chat & { limit: number }>) =>
      db
        .selectFrom("inbox")
        .select("id")
        .where("overflow", ">", raw.lit(0))
        .where("done", "=", raw.lit(0))
        .where("session_key", "=", p("session_key"))
        .where("overflow", "=", raw.lit(1))
        .where("turn_id", "is", null)
        .where((eb) => eb.and(p.row("agent_id", "channel", "account", "chat")))
        .where("thread", "is not distinct from", p("thread"))
        .orderBy("seq")
        .limit(p("limit")),
    ),
    hide: sql.prepare((db, p: Params<Pick<InboxTable, "id">>) =>
      db.updateTable("inbox").set({ overflow: 2 }).where("id", "=", p("id")),
    ),
    hidden: sql.prepare((db) =>
      db
        .selectFrom("inbox")
        .select(["session_key", "agent_id", "channel", "account", "chat", "thread", "turn_id"])
        .select((eb) => eb.fn.countAll<number>().as("count"))
        .where("overflow", ">", raw.lit(0))
        .where("done", "=", raw.lit(0))
        .where("overflow", "=", raw.lit(2))
        .groupBy(["session_key", "agent_id", "channel", "account", "chat", "thread", "turn_id"]),
    ),
    claim: sql.prepare((db, p: Params<Chat & { turnId: TurnId; through: InboxId }>) =>
      db
        .updateTable("inbox")
        .set({ turn_id: p("turnId") })
        .where("overflow", ">", raw.lit(0))
        .where("done", "=", raw.lit(0))
        .where("session_key", "=", p("session_key"))
        .where("turn_id", "is", null)
        .where((eb) => eb.and(p.row("agent_id", "channel", "account", "chat")))
        .where("thread", "is not distinct from", p("thread"))
        .where("seq", "<=", (eb) =>
          eb.selectFrom("inbox as last").select("last.seq").where("last.id", "=", p("through")),
        ),
    ),
  };
}
