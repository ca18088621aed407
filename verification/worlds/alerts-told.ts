/**
 * What the owner of a simulated gateway should have been told about jobs, and was. The first is written by the database itself, in the
 * transaction that counts a failure, so it cannot disagree with the count; the second is read from the conversation.
 */
import type { Database } from "bun:sqlite";
import type { JobAlert } from "../../src/contracts/automation/job.ts";
import type { AgentId, Principal, SessionKey, TurnId } from "../../src/contracts/ids.ts";
import type { SessionChatStore } from "../../src/contracts/store/session-chats.ts";
import type { Clock } from "../../src/kit/clock.ts";

/** From now on the database notes which alerts the counts of failures ask for. */
export function alertsWanted(db: Database): void {
  db.exec(`
create table wanted_alerts (job_id text not null, kind text not null);
create trigger wanted_failing after update of failures on jobs when old.failures = 1 and new.failures = 2
  begin insert into wanted_alerts values (new.id, 'failing'); end;
create trigger wanted_disabled after update of failures on jobs when old.failures = 9 and new.failures = 10
  begin insert into wanted_alerts values (new.id, 'disabled'); end;
create trigger wanted_recovered after update of failures on jobs when old.failures >= 2 and new.failures = 0
  begin insert into wanted_alerts values (new.id, 'recovered'); end;`);
}

/** Says it in a conversation, as the gateway does. */
export function createOwner(
  clock: Clock,
  sessionChatStore: Pick<SessionChatStore, "say">,
): (alert: JobAlert) => Promise<void> {
  return async ({ id, jobId, kind }) => {
    const text = `${jobId} ${kind}`;
    await sessionChatStore.say({
      turnId: `alert-${id}` as TurnId,
      sessionKey: "agent:default:api:dm:operator" as SessionKey,
      agentId: "default" as AgentId,
      principal: "operator" as Principal,
      to: { channel: "api", account: "default", chat: "operator" },
      reply: [{ part: 0, message: { kind: "notice", text } }],
      at: clock.now(),
    });
  };
}

interface Count {
  readonly about: string;
  readonly n: number;
}

export function wrongAlerts(db: Database): { readonly alerts: number; readonly wrong: readonly string[] } {
  const counts = (from: string) => db.query<Count, []>(`select ${from}`).all();
  const wanted = counts("job_id || ' ' || kind as about, count(*) as n from wanted_alerts group by 1");
  const told = new Map(counts("text as about, count(*) as n from outbox group by 1").map(({ about, n }) => [about, n]));
  const wrong = wanted.flatMap(({ about, n }) => {
    const said = told.get(about) ?? 0;
    told.delete(about);
    return said === n ? [] : [`${about}: told ${said} times instead of ${n}`];
  });
  for (const [about, n] of told) wrong.push(`${about}: told ${n} times instead of 0`);
  const left = db.query<{ n: number }, []>("select count(*) as n from job_alerts").get()?.n ?? 0;
  if (left > 0) wrong.push(`${left} alerts are left`);
  return { alerts: wanted.reduce((sum, { n }) => sum + n, 0), wrong };
}
