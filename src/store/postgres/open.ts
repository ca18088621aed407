/** Opens the store on Postgres: connects, brings the tables up to date, and begins. Token, keys, session files and media stay in the state directory. */
import { GatewayError } from "../../contracts/errors.ts";
import type { Store } from "../../contracts/store.ts";
import type { Secret } from "../../kit/secret.ts";
import { createDoors, type Engine, type StoreDeps } from "../assemble.ts";
import { createHeadFile } from "../audit/head-file.ts";
import { createChainKey } from "../audit/links.ts";
import { storeFailed } from "../group-commit.ts";
import { openAuditKey } from "../secret-files.ts";
import { type Connection, connect } from "./connection.ts";
import { migratePostgres } from "./migrate.ts";
import { createReads } from "./reads.ts";
import { keepConnected } from "./reconnecting.ts";
import { postgresSizes } from "./sizes.ts";
import { createPostgresSql } from "./sql.ts";
import { createWriteBatches } from "./write-batches.ts";

interface PostgresOptions {
  /** The state directory, which the caller has prepared. */
  readonly home: string;
  readonly url: Secret;
}

/** Rows of gateways that are long gone are taken away. One that still runs has written something in the meantime. */
const BATCH_ROWS_KEPT_MS = 400 * 86_400_000;

/** Throws `store_newer`, `store_failed`. Nothing that it throws or logs contains the url. */
export async function openPostgresStore(deps: StoreDeps, { home, url }: PostgresOptions): Promise<Store> {
  const startedAt = deps.clock.elapsed();
  const connectNow = () => connect({ clock: deps.clock, url: url.reveal() });
  const first = await connectNow().catch((error: unknown) => {
    throw unreachable(error);
  });
  try {
    const applied = await migratePostgres(first, deps.clock.now());
    if (applied.length > 0) deps.log.info("database brought up to date", { migrations: applied });
    const store = await begin(deps, { home, first, connectNow });
    const { epoch, instanceId } = store;
    deps.log.info("store opened", { epoch, instanceId, ms: Math.round(deps.clock.elapsed() - startedAt) });
    return store;
  } catch (error) {
    await first.close();
    throw storeFailed(error);
  }
}

interface Beginning {
  readonly home: string;
  readonly first: Connection;
  connectNow(): Promise<Connection>;
}

async function begin(deps: StoreDeps, { home, first, connectNow }: Beginning): Promise<Store> {
  const key = openAuditKey(deps, home);
  const headFile = createHeadFile({ ...deps, key: createChainKey(key) }, home);
  const sql = createPostgresSql();
  const doors = createDoors(deps, sql, { key, headFile });
  const at = deps.clock.now();
  await first.ask({ text: "delete from batches where at < $1", values: [at - BATCH_ROWS_KEPT_MS], name: null });
  const text =
    "insert into batches (writer, batch, at) values ($1, 0, $2) on conflict (writer) do update set batch = 0, at = excluded.at";
  await first.ask({ text, values: [doors.instanceId, at], name: null });
  const writer = keepConnected({ ...deps, connect: connectNow }, first);
  const commits = createWriteBatches({ ...deps, writer, instanceId: doors.instanceId });
  const reads = createReads({ clock: deps.clock, connect: connectNow });
  const engine: Engine = {
    commits,
    read: reads.read,
    sizes: () => reads.read(() => postgresSizes(sql)),
    notices: () => [],
    advice: "The gateway tries again, with growing pauses.",
    isAway: () => writer.fault() !== null,
    async close(last) {
      const end = commits.write(last).catch(() => null); // the next start finds that this one did not end in order
      await commits.close();
      await Promise.all([reads.close(), writer.close()]);
      return end;
    },
  };
  try {
    return doors.open(engine, await commits.write(doors.begin), home);
  } catch (error) {
    await commits.close();
    await writer.close();
    throw error;
  }
}

function unreachable(cause: unknown): GatewayError {
  const because = cause instanceof Error ? cause.message : String(cause);
  return new GatewayError("store_failed", "Postgres cannot be reached", {
    cause,
    say: `Postgres cannot be reached (${because}). Check store.url, and that the server runs and accepts this user.`,
  });
}
