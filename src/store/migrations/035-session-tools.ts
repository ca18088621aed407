/** Tools that are switched on for a session; those it has called before are. Never edited once released. */
import type { Migration } from "./migration.ts";

export const sessionTools: Migration = {
  name: "session-tools",
  sql: `
create table session_tools (
  session_key text not null,
  tool text not null,
  position integer not null,
  at integer not null, -- when it was found or called last
  primary key (session_key, tool)
) strict, without rowid;

create index session_tools_at on session_tools (at);

insert into session_tools (session_key, tool, position, at)
  select session_key, tool, row_number() over (partition by session_key order by min(seq)), max(at)
  from tool_calls
  where turn_id <> '' and status in ('success', 'error')
  group by session_key, tool;
`,
};
