/** Sessions that people pin and archive, and an index of what was said in them. Never edited once released. */

/** Without accents, and no more than the index of one text may hold. */
const WORDS = `to_tsvector('simple', regexp_replace(normalize(left(text, 100000), NFD), '[\\u0300-\\u036f]', '', 'g'))`;

export const sessionCareTables = `
alter table sessions add column pinned_at bigint;
alter table sessions add column archived_at bigint;
create index sessions_pinned on sessions (last_activity_at, key) where pinned_at is not null;
create index approvals_by_session on approvals (session_key);
create index system_events_by_session on system_events (session_key);
create index reactions_by_session on reactions (session_key);

alter table inbox add column words tsvector generated always as (${WORDS}) stored;
create index inbox_by_words on inbox using gin (words);
alter table outbox add column words tsvector generated always as (${WORDS}) stored;
create index outbox_by_words on outbox using gin (words);
`;
