/** Reactions of people to our messages: one row for each person and message. */
import type { OutboxRow } from "../../../contracts/delivery.ts";
import type { SessionKey, TurnId } from "../../../contracts/ids.ts";
import type { ReactionChange, ReactionStore } from "../../../contracts/store/messages.ts";
import type { Params, Sql } from "../../sql.ts";
import type { Steps } from "../../steps.ts";
import type { RowDeps } from "../row-deps.ts";
import type { ReactionTable } from "./message-tables.ts";

/** More at once are told with a later turn. */
const MAX_TOLD = 20;
/** Of one person to one message. */
const MAX_EMOJI = 10;
const BETWEEN = " ";

export function createReactions(
  { sql, read, write }: Pick<RowDeps, "sql" | "read" | "write">,
  part: (id: string) => Steps<OutboxRow | null>,
): ReactionStore {
  const { known, put, remove, fresh, claim, told } = createQueries(sql);

  /** What is new. */
  function* change(row: OutboxRow, { by, how, emoji }: ReactionChange, at: number): Steps<readonly string[]> {
    const about = { message_id: row.id, principal: by.principal };
    const had = (yield* known.first(about))?.emoji ?? "";
    const before = had === "" ? [] : had.split(BETWEEN);
    const after = changed(before, how, emoji);
    const now = after.join(BETWEEN);
    if (now === had) return []; // told before, and not to be told again
    if (now === "") yield* remove.run(about);
    else yield* put.run({ ...about, name: by.name, session_key: row.sessionKey, emoji: now, at });
    return after.filter((one) => !before.includes(one));
  }

  return {
    react: (id, wanted, at) =>
      write(function* () {
        const row = yield* part(id);
        if (!row || row.deleted) return null;
        const added = yield* change(row, wanted, at);
        const reacted = yield* part(id);
        return reacted && { ...reacted, added };
      }),
    async tell(key, turnId) {
      // Nearly every turn finds nothing new, and a look costs a tenth of a write.
      if (await read(() => fresh.first({ key })))
        await write(function* () {
          const reactions = yield* fresh.all({ key });
          for (const { message_id, principal } of reactions) yield* claim.run({ message_id, principal, turnId });
        }, "with the next"); // lost in a power cut, so is the turn that heard of them
      return read(function* () {
        return (yield* told.all({ turnId })).map(({ emoji, principal, name, message_id: messageId, text }) => ({
          emoji,
          by: { principal, name },
          messageId,
          text,
        }));
      });
    },
  };
}

function changed(had: readonly string[], how: ReactionChange["how"], emoji: readonly string[]): readonly string[] {
  const wanted = emoji.map((one) => one.replaceAll(/\s+/g, "_")).filter((one) => one !== "");
  if (how === "remove") return had.filter((one) => !wanted.includes(one));
  return [...new Set(how === "set" ? wanted : [...had, ...wanted])].slice(0, MAX_EMOJI);
}

function createQueries(sql: Sql) {
  type Key = Pick<ReactionTable, "message_id" | "principal">;
  return {
    known: sql.prepare((db, p: Params<Key>) =>
      db
        .selectFrom("reactions")
        .select("emoji")
        .where("message_id", "=", p("message_id"))
        .where("principal", "=", p("principal")),
    ),
    put: sql.prepare((db, p: Params<Omit<ReactionTable, "turn_id">>) =>
      db
        .insertInto("reactions")
        .values({ ...p.row("message_id", "principal", "name", "session_key", "emoji", "at"), turn_id: null })
        .onConflict((conflict) =>
          conflict.columns(["message_id", "principal"]).doUpdateSet((eb) => ({
            name: eb.ref("excluded.name"),
            emoji: eb.ref("excluded.emoji"),
            at: eb.ref("excluded.at"),
            turn_id: null,
          })),
        ),
    ),
    remove: sql.prepare((db, p: Params<Key>) =>
      db.deleteFrom("reactions").where("message_id", "=", p("message_id")).where("principal", "=", p("principal")),
    ),
    fresh: sql.prepare((db, p: Params<{ key: SessionKey }>) =>
      db
        .selectFrom("reactions")
        .select(["message_id", "principal"])
        .where("session_key", "=", p("key"))
        .where("turn_id", "is", null)
        .orderBy("at")
        .limit(MAX_TOLD),
    ),
    claim: sql.prepare((db, p: Params<Key & { turnId: TurnId }>) =>
      db
        .updateTable("reactions")
        .set({ turn_id: p("turnId") })
        .where("message_id", "=", p("message_id"))
        .where("principal", "=", p("principal")),
    ),
    told: sql.prepare((db, p: Params<{ turnId: TurnId }>) =>
      db
        .selectFrom("reactions")
        .innerJoin("outbox", "outbox.id", "reactions.message_id")
        .select(["reactions.emoji", "reactions.principal", "reactions.name", "reactions.message_id", "outbox.text"])
        .where("reactions.turn_id", "=", p("turnId"))
        .orderBy("reactions.at"),
    ),
  };
}
