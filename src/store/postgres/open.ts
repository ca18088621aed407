/** Opens the store on Postgres: connects, brings the tables up to date, and begins. Token and keys stay in the state directory. */
import { statSync } from "node:fs";
import { hostname } from "node:os";
import { GatewayError, isGatewayError } from "../../contracts/errors.ts";
import type { Store } from "../../contracts/store.ts";
import { background } from "../../kit/background.ts";
import type { Secret } from "../../kit/secret.ts";
import { createDoors, type Engine, nodeOf, type StoreDeps } from "../assemble.ts";
import { askPostgres } from "../ask-rows.ts";
import { createHeadFile } from "../audit/head-file.ts";
import { createChainKey } from "../audit/links.ts";
import { openBucket, type Bucket } from "../files/bucket.ts";
import type { S3Settings } from "../files/s3-bucket.ts";
import { createStoredFiles } from "../files/stored-files.ts";
import { storeFailed } from "../group-commit.ts";
import type { NodeIdentity } from "../rows/nodes.ts";
import { refuseHalfMoved } from "../move/postgres-side.ts";
import { openAuditKey } from "../secret-files.ts";
import { type Connection, connect } from "./connection.ts";
import { type MigrateOptions, migratePostgres, stillWorksOn } from "./migrate.ts";
import { openLetters } from "./letters/letters.ts";
import { refuseTransactionMode } from "./pooler.ts";
import { createReads } from "./reads.ts";
import { keepConnected } from "./reconnecting.ts";
import { postgresSizes } from "./sizes.ts";
import { startRenewal } from "./renewal.ts";
import { secureRows } from "./row-security/secure-rows.ts";
import { createPostgresSql } from "./sql.ts";
import { createWriteBatches } from "./write-batches.ts";

interface PostgresOptions {
  /** The state directory, which the caller has prepared. */
  readonly home: string;
  readonly url: Secret;
  readonly files?: S3Settings | undefined;
  readonly shared?: Secret | undefined;
  readonly version?: string | undefined;
  readonly beside?: { readonly stateDirectory: string } | undefined;
}

const KEY_ID_CHARS = 16;
/** Rows of gateways that are long gone are taken away. One that still runs has written something in the meantime. */
const BATCH_ROWS_KEPT_MS = 400 * 86_400_000;

/** Throws `store_newer`, `store_half_moved`, `store_failed`. Nothing that it throws or logs contains the url. */
export async function openPostgresStore(deps: StoreDeps, options: PostgresOptions): Promise<Store> {
  const { home, url, shared } = options;
  const startedAt = deps.clock.elapsed();
  const asUser = (onWake?: () => void) => connect({ clock: deps.clock, url: url.reveal(), onWake });
  const first = await asUser().catch((error: unknown) => {
    throw unreachable(error);
  });
  try {
    await refuseTransactionMode(first, () => asUser());
    await refuseHalfMoved(first);
    const tables = { at: deps.clock.now(), version: options.version };
    const { applied, waiting } = await migratePostgres(first, tables);
    if (applied.length > 0) deps.log.info("database brought up to date", { migrations: applied });
    if (waiting.length > 0)
      deps.log.info("tables keep what an older gateway uses, until a start without it", { migrations: waiting });
    const { begin: asGateway } = await secureRows(first, deps.log);
    await first.control(asGateway);
    const connectNow = async (onWake?: () => void) => begun(await asUser(onWake), asGateway);
    const bucket = await openBucket(deps, options.files);
    const store = await begin(deps, {
      home,
      shared,
      first,
      connectNow,
      bucket,
      nodeIn: (key) => identify(options, key),
    });
    await stayIfItWorks(store, asUser, tables);
    const { epoch, instanceId } = store;
    deps.log.info("store opened", { epoch, instanceId, ms: Math.round(deps.clock.elapsed() - startedAt) });
    return store;
  } catch (error) {
    await first.close();
    throw storeFailed(error);
  }
}

/** Throws `store_newer`, and has closed the store then. */
async function stayIfItWorks(store: Store, asUser: () => Promise<Connection>, tables: MigrateOptions): Promise<void> {
  const connection = await asUser();
  try {
    await stillWorksOn(connection, tables);
  } catch (error) {
    await store[Symbol.asyncDispose]();
    throw error;
  } finally {
    await connection.close();
  }
}

/** A connection that does not begin as the others do is not used. */
async function begun(connection: Connection, beginning: string): Promise<Connection> {
  try {
    await connection.control(beginning);
    return connection;
  } catch (error) {
    await connection.close();
    throw error;
  }
}

interface Beginning {
  readonly home: string;
  readonly shared: Secret | undefined;
  readonly first: Connection;
  connectNow(onWake?: () => void): Promise<Connection>;
  /** Null: files are in the database. */
  readonly bucket: Bucket | null;
  /** Takes the key of the state directory. */
  nodeIn(key: Uint8Array): NodeIdentity;
}

async function begin(deps: StoreDeps, { home, shared, first, connectNow, bucket, nodeIn }: Beginning): Promise<Store> {
  const key = openAuditKey({ ...deps, shared }, home);
  const headFile = createHeadFile({ ...deps, key: createChainKey(key) }, home);
  const sql = createPostgresSql();
  const doors = createDoors(deps, sql, { key, headFile });
  const at = deps.clock.now();
  await first.ask({ text: "delete from batches where at < $1", values: [at - BATCH_ROWS_KEPT_MS], name: null });
  const text =
    "insert into batches (writer, batch, at) values ($1, 0, $2) on conflict (writer) do update set batch = 0, at = excluded.at";
  await first.ask({ text, values: [doors.instanceId, at], name: null });
  const upSince = deps.clock.elapsed() - (await upMs(first));
  const writer = keepConnected({ ...deps, connect: () => connectNow() }, first);
  const commits = createWriteBatches({ ...deps, writer, instanceId: doors.instanceId });
  const reads = createReads({ clock: deps.clock, connect: () => connectNow() });
  const begunAt = deps.clock.elapsed();
  const begun = await commits
    .write(() => doors.begin(nodeIn(key)))
    .catch(async (error: unknown) => {
      await commits.close();
      // best effort: a supervisor that starts a refused gateway again and again should leave no row each time
      const forget = { text: "delete from batches where writer = $1", values: [doors.instanceId], name: null };
      await first.ask(forget).catch(() => undefined);
      await writer.close();
      throw error;
    });
  const renewing = { ...deps, connect: () => connectNow(), instanceId: doors.instanceId, supersede: commits.supersede };
  const renewal = startRenewal(renewing, { at: begunAt, upSince });
  const files = createStoredFiles({ ...deps, sql, read: reads.read, write: commits.write }, bucket);
  background(deps.log, "files that were never finished stay", () => files.removeUnfinished().catch(unlessClosed));
  const letters = openLetters({ ...deps, connect: connectNow, instanceId: doors.instanceId });
  const engine: Engine = {
    commits,
    read: reads.read,
    files,
    search: (run) => reads.read(() => run(sql)),
    messageIndex: { followSoon: () => undefined, catchUp: () => Promise.resolve() }, // Postgres indexes what it stores
    sizes: () => reads.read(() => postgresSizes(sql)),
    notices: () => [],
    advice: "The gateway tries again, with growing pauses.",
    isAway: () => writer.fault() !== null,
    isHeld: renewal.isHeld,
    whenOthersEnd: renewal.whenOthersEnd,
    letters,
    async close(last) {
      const renewed = renewal.close(); // first: the last write says that this gateway is gone, and that is no takeover
      const end = commits.write(last).catch(() => null); // the next start finds that this one did not end in order
      await commits.close();
      await Promise.all([renewed, letters.close(), reads.close(), writer.close()]);
      return end;
    },
  };
  return doors.open(engine, begun, home);
}

/** How long the server has answered. */
async function upMs(connection: Connection): Promise<number> {
  const text = "select extract(epoch from clock_timestamp() - pg_postmaster_start_time())::float8 * 1000 as up";
  const [row] = await askPostgres(connection)<{ readonly up: number }>(text);
  return row?.up ?? 0;
}

/**
 * A state directory is known by its key, its machine and its place on the disk there: a copy of it is another one. Where one of them changes, as
 * with a new container, a gateway that died without a word is waited for as any other is.
 */
function identify({ home, version, beside }: PostgresOptions, key: Uint8Array): NodeIdentity {
  const keyId = new Bun.CryptoHasher("sha256", key).update("which key").digest("hex").slice(0, KEY_ID_CHARS);
  if (beside) return { ...nodeOf(version), stateDirectory: beside.stateDirectory, keyId };
  const { dev, ino } = statSync(home);
  const stateDirectory = new Bun.CryptoHasher("sha256", key).update([hostname(), dev, ino].join("\n")).digest("hex");
  return { ...nodeOf(version), stateDirectory, keyId };
}

/** A store that is closed at once has done nothing wrong: the next start looks again. */
function unlessClosed(error: unknown): void {
  if (!isGatewayError(error) || error.code !== "stopping") throw error;
}

function unreachable(cause: unknown): GatewayError {
  const because = cause instanceof Error ? cause.message : String(cause);
  return new GatewayError("store_failed", "Postgres cannot be reached", {
    cause,
    say: `Postgres cannot be reached (${because}). Check store.url, and that the server runs and accepts this user.`,
  });
}
