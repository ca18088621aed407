/** Sessions that people pin and archive, and an index of what was said in them. Never edited once released. */
import type { Migration } from "./migration.ts";

/** The index is also made anew where it is damaged; its triggers are those of a later migration then. */
export const MESSAGE_INDEX = `create virtual table message_index using fts5(
  text, content = '', contentless_delete = 1, tokenize = 'unicode61 remove_diacritics 2'
);`;

const MESSAGE_TRIGGERS = `create trigger inbox_indexed after insert on inbox when new.text <> '' begin
  insert into message_index (rowid, text) values (new.seq * 2, new.text);
end;
create trigger inbox_indexed_again after update of text on inbox begin
  delete from message_index where rowid = old.seq * 2;
  insert into message_index (rowid, text) select new.seq * 2, new.text where new.text <> '';
end;
create trigger inbox_not_indexed after delete on inbox begin
  delete from message_index where rowid = old.seq * 2;
end;

create trigger outbox_indexed after insert on outbox when new.text <> '' and new.deleted_at is null begin
  insert into message_index (rowid, text) values (new.seq * 2 + 1, new.text);
end;
create trigger outbox_indexed_again after update of text, deleted_at on outbox begin
  delete from message_index where rowid = old.seq * 2 + 1;
  insert into message_index (rowid, text) select new.seq * 2 + 1, new.text where new.text <> '' and new.deleted_at is null;
end;
create trigger outbox_not_indexed after delete on outbox begin
  delete from message_index where rowid = old.seq * 2 + 1;
end;`;

/** The index has no text of its own. Its numbers are twice those of messages, and one more for replies. */
export const sessionCare: Migration = {
  name: "session-care",
  sql: `
alter table sessions add column pinned_at integer;
alter table sessions add column archived_at integer;
create index sessions_pinned on sessions (last_activity_at, key) where pinned_at is not null;
create index approvals_by_session on approvals (session_key);
create index system_events_by_session on system_events (session_key);
create index reactions_by_session on reactions (session_key);

${MESSAGE_INDEX}

insert into message_index (rowid, text) select seq * 2, text from inbox where text <> '';
insert into message_index (rowid, text) select seq * 2 + 1, text from outbox where text <> '' and deleted_at is null;

${MESSAGE_TRIGGERS}
`,
};
