/**
 * pg-boss 12.35.0, from a folder into which the command has installed it: the product does not depend on it. Jobs are fetched in a loop that its own notifications
 * wake, because its `work()` gave a tenth of that. A job is completed with its attempt, so that a claim which was taken over counts no more.
 */
import { join } from "node:path";
import { Client } from "pg";
import type { EngineOptions, JobEngine } from "./job-engine.ts";

const QUEUE = "measured";
/** The least that pg-boss takes. */
const HEARTBEAT_SECONDS = 10;
const HEARTBEAT_MS = 5_000;
const CHANNEL = "select 'pgboss_' || left(encode(sha224('pgboss'::bytea), 'hex'), 24) as name";

interface BossJob {
  readonly id: string;
  readonly data: { readonly key: string; readonly number: number };
  readonly retryCount: number;
}

interface Boss {
  on(event: "error" | "warning", hear: (error: unknown) => void): void;
  start(): Promise<unknown>;
  stop(options: { graceful: boolean }): Promise<void>;
  createQueue(name: string, options: object): Promise<void>;
  send(name: string, data: object, options: object): Promise<string | null>;
  fetch(name: string, options: object): Promise<readonly BossJob[]>;
  complete(name: string, job: { id: string; retryCount: number }): Promise<{ readonly affected: number }>;
  fail(name: string, job: { id: string; retryCount: number }): Promise<unknown>;
  touch(name: string, jobs: readonly { id: string; retryCount: number }[]): Promise<unknown>;
}

async function startBoss(folder: string, url: string, isWorker: boolean): Promise<Boss> {
  const { PgBoss } = (await import(join(folder, "node_modules/pg-boss/dist/index.js"))) as {
    readonly PgBoss: new (options: object) => Boss;
  };
  const looks = { supervise: isWorker, superviseIntervalSeconds: 1, monitorIntervalSeconds: 1 };
  const boss = new PgBoss({ connectionString: url, max: 5, schedule: false, ...looks });
  boss.on("error", (error) => console.error(String(error)));
  await boss.start();
  return boss;
}

/** `policy`: `key_strict_fifo`, or `standard` for the negative control. */
export async function makeBossQueue(folder: string, url: string, policy: string): Promise<void> {
  const boss = await startBoss(folder, url, false);
  const retries = { retryLimit: 3, retryDelay: 0, heartbeatSeconds: HEARTBEAT_SECONDS };
  await boss.createQueue(QUEUE, { policy, notify: true, ...retries });
  await boss.stop({ graceful: false });
}

export async function openBossJobs(folder: string, { url, wake, isWorker }: EngineOptions): Promise<JobEngine> {
  const boss = await startBoss(folder, url, isWorker);
  const listener = new Client({ connectionString: url });
  listener.on("error", () => undefined); // the database goes with its measurement
  await listener.connect();
  if (isWorker) {
    listener.on("notification", wake);
    await listener.query(`listen ${(await listener.query(CHANNEL)).rows[0].name}`);
  }
  const held = new Map<string, BossJob>();
  const attempt = ({ id, retryCount }: BossJob) => ({ id, retryCount });
  return {
    heartbeatMs: HEARTBEAT_MS,
    async send(key, number) {
      await boss.send(QUEUE, { key, number }, { singletonKey: key });
    },
    async claim(most) {
      const jobs = await boss.fetch(QUEUE, { batchSize: most, includeMetadata: true });
      for (const job of jobs) held.set(job.id, job);
      return jobs.map((job) => ({
        ...job.data,
        async complete() {
          held.delete(job.id);
          return (await boss.complete(QUEUE, attempt(job))).affected === 1;
        },
        async fail() {
          held.delete(job.id);
          await boss.fail(QUEUE, attempt(job));
        },
      }));
    },
    async beat() {
      if (held.size > 0) await boss.touch(QUEUE, [...held.values()].map(attempt));
    },
    async [Symbol.asyncDispose]() {
      await listener.end();
      await boss.stop({ graceful: false });
    },
  };
}
