/** Signs under our messages. They are columns of the message, because there is one of each. */
import type { OutboxRow } from "../../../contracts/delivery.ts";
import type { SessionKey, TurnId } from "../../../contracts/ids.ts";
import type { ReactionStore } from "../../../contracts/store/reactions.ts";
import type { Params } from "../../sql.ts";
import type { RowDeps } from "../row-deps.ts";

/** More at once are told with a later turn. */
const MAX_TOLD = 20;

export function createReactions(
  { sql, read, write }: Pick<RowDeps, "sql" | "read" | "write">,
  part: (id: string) => OutboxRow | null,
): ReactionStore {
  const react = sql.prepare((db, p: Params<{ id: string; emoji: string | null }>) =>
    db
      .updateTable("outbox")
      .set({ reaction: p("emoji"), reaction_turn: null })
      .where("id", "=", p("id"))
      .where("deleted_at", "is", null),
  );
  const fresh = sql.prepare((db, p: Params<{ key: SessionKey }>) =>
    db
      .selectFrom("outbox")
      .select("id")
      .where("session_key", "=", p("key"))
      .where("reaction", "is not", null)
      .where("reaction_turn", "is", null)
      .orderBy("seq")
      .limit(MAX_TOLD),
  );
  const claim = sql.prepare((db, p: Params<{ id: string; turnId: TurnId }>) =>
    db
      .updateTable("outbox")
      .set({ reaction_turn: p("turnId") })
      .where("id", "=", p("id")),
  );
  const told = sql.prepare((db, p: Params<{ turnId: TurnId }>) =>
    db
      .selectFrom("outbox")
      .select(["reaction", "text"])
      .where("reaction_turn", "=", p("turnId"))
      .where("reaction", "is not", null)
      .orderBy("seq"),
  );
  return {
    react: (id, emoji) => write(() => (react.run({ id, emoji }) > 0 ? part(id) : null)),
    async tell(key, turnId) {
      // Nearly every turn finds nothing new, and a look costs a tenth of a write.
      if (await read(() => fresh.first({ key })))
        await write(() => {
          for (const { id } of fresh.all({ key })) claim.run({ id, turnId });
        }, "with the next"); // lost in a power cut, so is the turn that heard of them
      return read(() => told.all({ turnId }).map(({ reaction, text }) => ({ emoji: reaction ?? "", text })));
    },
  };
}
