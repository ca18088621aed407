/**
 * Whose rows somebody may read who connects to the database as a person, and not as the gateway. The policies themselves are made at each start
 * (row-security/), because they name roles, and roles are no part of a database. Never edited once released.
 */
export const rowSecurityTables = `
create table person_logins (
  login text collate "C" not null,
  principal text collate "C" not null,
  primary key (login, principal)
);

do $make$
begin
  execute format($f$
    create function gateway_persons() returns text[] language plpgsql stable security definer set search_path = pg_catalog as $body$
    declare
      claims text := nullif(current_setting('request.jwt.claims', true), '');
      person text := nullif(current_setting('pi_gateway.person', true), '');
    begin
      -- whoever brings a token is who the token says
      if claims is not null then
        return coalesce((select array_agg(principal) from %I.person_logins where login = claims::json ->> 'sub'), '{}');
      end if;
      return case when person is null then '{}' else array[person] end;
    end $body$
  $f$, current_schema());
end $make$;

-- A gateway ends a connection of its own that it has lost; its role alone may not.
create function end_own_connection(connection integer) returns void language sql security definer set search_path = pg_catalog as $$
  select pg_terminate_backend(pid) from pg_stat_activity where pid = connection and usename = session_user
$$;
`;
