/** The few things a channel has to know after a restart. */
import type { ChannelState } from "../../../contracts/channels/platform.ts";
import type { ChannelFactTable } from "../../schema.ts";
import type { Params } from "../../sql.ts";
import type { RowDeps } from "../row-deps.ts";
import { newValues } from "../terms.ts";

type Name = Omit<ChannelFactTable, "value">;
type Range = Omit<Name, "key"> & { readonly from: string; readonly to: string };

const MAX_LISTED = 1_000;
/** Greater than every character that a key may go on with. */
const LAST = "\u{10ffff}";

export function createChannelState({ sql, read, write }: RowDeps): ChannelState {
  const find = sql.prepare((db, p: Params<Name>) =>
    db
      .selectFrom("channel_facts")
      .select("value")
      .where((eb) => eb.and(p.row("channel", "account", "key"))),
  );
  const among = sql.prepare((db, p: Params<Range>) =>
    db
      .selectFrom("channel_facts")
      .select(["key", "value"])
      .where("channel", "=", p("channel"))
      .where("account", "=", p("account"))
      .where("key", ">=", p("from"))
      .where("key", "<", p("to"))
      .orderBy("key")
      .limit(MAX_LISTED),
  );
  const put = sql.prepare((db, p: Params<ChannelFactTable>) =>
    db
      .insertInto("channel_facts")
      .values(p.row("channel", "account", "key", "value"))
      .onConflict((conflict) => conflict.columns(["channel", "account", "key"]).doUpdateSet(newValues("value"))),
  );
  const drop = sql.prepare((db, p: Params<Name>) =>
    db.deleteFrom("channel_facts").where((eb) => eb.and(p.row("channel", "account", "key"))),
  );
  return {
    get: (channel, account, key) =>
      read(function* () {
        return (yield* find.first({ channel, account, key }))?.value ?? null;
      }),
    put: (channel, account, key, value) =>
      write(function* () {
        yield* put.run({ channel, account, key, value });
      }),
    forget: (channel, account, key) =>
      write(function* () {
        yield* drop.run({ channel, account, key });
      }),
    list: (channel, account, from) => read(() => among.all({ channel, account, from, to: from + LAST })),
  };
}
