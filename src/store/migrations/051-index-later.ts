/** Messages come into the full-text index a little after they were stored. Never edited once released. */
import type { Migration } from "./migration.ts";

/**
 * Up to `indexed_inbox` and `indexed_outbox` messages and replies have been put into the index. What is changed after it was stored is put in with
 * the change. The number of the newest message is given to the next one when it was deleted: the marks step back with it.
 */
export const INDEX_TRIGGERS = `create trigger inbox_indexed_again after update of text on inbox begin
  delete from message_index where rowid = old.seq * 2;
  insert into message_index (rowid, text) select new.seq * 2, new.text where new.text <> '';
end;
create trigger inbox_not_indexed after delete on inbox begin
  delete from message_index where rowid = old.seq * 2;
  update meta set value = (select coalesce(max(seq), 0) from inbox)
    where key = 'indexed_inbox' and value > (select coalesce(max(seq), 0) from inbox);
end;

create trigger outbox_indexed_again after update of text, deleted_at on outbox begin
  delete from message_index where rowid = old.seq * 2 + 1;
  insert into message_index (rowid, text) select new.seq * 2 + 1, new.text where new.text <> '' and new.deleted_at is null;
end;
create trigger outbox_not_indexed after delete on outbox begin
  delete from message_index where rowid = old.seq * 2 + 1;
  update meta set value = (select coalesce(max(seq), 0) from outbox)
    where key = 'indexed_outbox' and value > (select coalesce(max(seq), 0) from outbox);
end;`;

/** Everything that is stored counts as indexed. */
export const MARK_INDEXED = `insert or replace into meta (key, value)
  select 'indexed_inbox', coalesce(max(seq), 0) from inbox union all select 'indexed_outbox', coalesce(max(seq), 0) from outbox;`;

export const indexLater: Migration = {
  name: "index-later",
  sql: `
drop trigger inbox_indexed;
drop trigger inbox_indexed_again;
drop trigger inbox_not_indexed;
drop trigger outbox_indexed;
drop trigger outbox_indexed_again;
drop trigger outbox_not_indexed;

${MARK_INDEXED}

${INDEX_TRIGGERS}
`,
};
