/**
 * Claims of our own: a row for each key with owner, fencing number and expiry by the database's clock, taken with `for update skip locked`. A job that failed has
 * ended, and the next one of its key runs.
 */
import { Client, Pool } from "pg";
import type { Claimed, EngineOptions, JobEngine } from "./job-engine.ts";

const TABLES = `
create table own_keys (key text primary key, waiting bigint not null, owner text, fence bigint not null default 0, until timestamptz);
create index own_keys_waiting on own_keys (key) where waiting > 0;
create table own_jobs (id bigint generated always as identity primary key, key text not null, number bigint not null, state text not null default 'waiting');
create index own_jobs_waiting on own_jobs (key, id) where state = 'waiting';`;
/** As the gateway's own lease of a node. */
const LEASE = "interval '6 seconds'";
const HEARTBEAT_MS = 2_000;
/** Two statements of one message are one transaction. */
const SEND = `with job as (insert into own_jobs (key, number) values ($1, $2))
  insert into own_keys (key, waiting) values ($1, 1) on conflict (key) do update set waiting = own_keys.waiting + 1`;
const CLAIM = `with free as (
    select key from own_keys where waiting > 0 and (owner is null or until < clock_timestamp()) limit $1 for update skip locked
  ), taken as (
    update own_keys set owner = $2, fence = fence + 1, until = clock_timestamp() + ${LEASE} from free where own_keys.key = free.key returning own_keys.key, own_keys.fence
  )
  select taken.key, taken.fence, job.id, job.number from taken, lateral (
    select id, number from own_jobs where own_jobs.key = taken.key and state = 'waiting' order by id limit 1) as job`;
const END = `with held as (
    update own_keys set owner = null, until = null, waiting = waiting - 1 where key = $1 and fence = $2 and owner = $3 returning key
  )
  update own_jobs set state = $5 where id = $4 and exists (select 1 from held)`;
const BEAT = `update own_keys set until = clock_timestamp() + ${LEASE} where owner = $1 and until >= clock_timestamp()`;

export async function makeOwnTables(url: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  await client.query(TABLES);
  await client.end();
}

export async function openOwnClaims({ url, wake, isWorker }: EngineOptions): Promise<JobEngine> {
  const me = `process ${process.pid}`;
  const pool = new Pool({ connectionString: url, max: 5 });
  pool.on("connect", (client) => client.on("error", () => undefined)); // the database goes with its measurement
  const listener = new Client({ connectionString: url });
  listener.on("error", () => undefined);
  await listener.connect();
  if (isWorker) {
    listener.on("notification", wake);
    await listener.query("listen own_jobs");
  }
  const claimed = (row: { key: string; fence: string; id: string; number: string }): Claimed => {
    const end = async (state: string): Promise<boolean> =>
      (await pool.query({ name: "end", text: END, values: [row.key, row.fence, me, row.id, state] })).rowCount === 1;
    return {
      key: row.key,
      number: Number(row.number),
      complete: () => end("done"),
      fail: async () => void (await end("failed")),
    };
  };
  return {
    heartbeatMs: HEARTBEAT_MS,
    async send(key, number) {
      await pool.query({ name: "send", text: SEND, values: [key, number] });
      await pool.query("notify own_jobs"); // by itself: inside of a transaction it would take the server's global lock at commit
    },
    async claim(most) {
      return (await pool.query({ name: "claim", text: CLAIM, values: [most, me] })).rows.map(claimed);
    },
    async beat() {
      await pool.query(BEAT, [me]);
    },
    async [Symbol.asyncDispose]() {
      await listener.end();
      await pool.end();
    },
  };
}
