/** What models have cost, a row for each turn, and added up for each day. What earlier turns have cost is taken over. Never edited once released. */
import type { Migration } from "./migration.ts";

export const usage: Migration = {
  name: "usage",
  sql: `
create table usage (
  day text not null,
  id text not null,
  agent_id text not null,
  principal text not null,
  origin text not null,
  model text not null,
  input_tokens integer not null,
  cached_tokens integer not null,
  output_tokens integer not null,
  cost_usd real not null,
  primary key (day, id)
) strict, without rowid;

insert into usage (day, id, agent_id, principal, origin, model, input_tokens, cached_tokens, output_tokens, cost_usd)
select
  date(turns.ended_at / 1000, 'unixepoch', 'localtime'),
  turns.id,
  turns.agent_id,
  inbox.sender,
  case
    when inbox.origin <> 'chat' then inbox.origin
    when inbox.scope = 'group' then 'group'
    when inbox.channel = 'api' then 'api'
    else 'chat'
  end,
  coalesce(turns.model, ''),
  turns.input_tokens,
  0,
  turns.output_tokens,
  turns.cost_usd
from turns
join inbox on inbox.seq = (select min(first.seq) from inbox as first where first.turn_id = turns.id)
where turns.ended_at is not null and turns.input_tokens + turns.output_tokens > 0;

create table usage_days (
  what text not null check (what in ('day', 'agent', 'origin', 'model', 'principal')),
  day text not null,
  key text not null,
  turns integer not null,
  input_tokens integer not null,
  cached_tokens integer not null,
  output_tokens integer not null,
  cost_usd real not null,
  primary key (what, day, key)
) strict, without rowid;

insert into usage_days (what, day, key, turns, input_tokens, cached_tokens, output_tokens, cost_usd)
select what, day, key, count(*), sum(input_tokens), sum(cached_tokens), sum(output_tokens), sum(cost_usd)
from (
  select 'day' as what, day as key, * from usage
  union all select 'agent', agent_id, * from usage
  union all select 'origin', origin, * from usage
  union all select 'model', model, * from usage
  union all select 'principal', principal, * from usage
)
group by what, day, key;
`,
};
