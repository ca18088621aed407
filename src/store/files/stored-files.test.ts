/** Stored files against their promises, on real Postgres: with their contents in the database, and in a bucket. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { copyFile, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import type { MediaId } from "../../contracts/ids.ts";
import type { Store } from "../../contracts/store.ts";
import { systemClock } from "../../kit/clock.ts";
import { systemIds } from "../../kit/ids.ts";
import { silentLog } from "../../kit/log.ts";
import { secret } from "../../kit/secret.ts";
import { createChance } from "../../testing/chance.ts";
import { changeTo } from "../../testing/contracts/store/session-file-contract.ts";
import { OPERATOR } from "../../testing/contracts/store/store-world.ts";
import { type FilesWorld, storedFilesContract } from "../../testing/contracts/store/stored-files-contract.ts";
import { FAKE_BUCKET, startFakeS3 } from "../../testing/fake-s3.ts";
import { createMemoryBucket } from "../../testing/memory-bucket.ts";
import { createTestDatabase, testPostgres } from "../../testing/postgres/database.ts";
import { STORE_TABLES } from "../../testing/postgres/store-tables.ts";
import { tempHome } from "../../testing/temp-home.ts";
import { openStore } from "../open.ts";
import { type Connection, connect } from "../postgres/connection.ts";
import { createPostgresSql } from "../postgres/sql.ts";
import { type Query, runWaiting, type Steps } from "../steps.ts";
import type { Bucket } from "./bucket.ts";
import { createS3Bucket } from "./s3-bucket.ts";
import { createStoredFiles } from "./stored-files.ts";

const DAY_MS = 24 * 60 * 60_000;
/** Pauses between attempts are over at once. */
const hurriedClock = { ...systemClock, sleep: async () => undefined };

describe.skipIf((await testPostgres()) === null)("stored files", () => {
  let database: Awaited<ReturnType<typeof createTestDatabase>>;
  let connection: Connection;
  beforeAll(async () => {
    database = await createTestDatabase(STORE_TABLES);
    connection = await connect({ clock: systemClock, url: database.url });
  });
  afterAll(async () => {
    await connection.close();
    await database[Symbol.asyncDispose]();
  });

  /** Several builders of queries share the connection, so their statements have no names. */
  const ask = (query: Query) => connection.ask({ ...query, name: null });
  /** In a transaction of its own, as the engine runs it. */
  async function write<T>(run: () => Steps<T>): Promise<T> {
    await connection.control("begin");
    const value = await runWaiting(run(), ask);
    await connection.control("commit");
    return value;
  }
  const filesAt = (now: () => number, bucket: Bucket | null) =>
    createStoredFiles(
      {
        sql: createPostgresSql(),
        clock: { ...systemClock, now },
        ids: systemIds,
        log: silentLog,
        read: (run) => runWaiting(run(), ask),
        write,
      },
      bucket,
    );
  async function count(text: string, values: readonly unknown[]): Promise<number> {
    const { rows } = await connection.ask({ text, values, name: null });
    return (rows[0] as { count: number }).count;
  }
  const blank = () => connection.control("select blank()");

  describe("in the database", () => {
    storedFilesContract(async (): Promise<FilesWorld> => {
      await blank();
      return {
        files: filesAt(systemClock.now, null),
        write,
        async damage(name) {
          const text = "update file_chunks set data = set_byte(data, 2, 7) where file = $1";
          await connection.ask({ text, values: [name], name: null });
        },
        chunks: (name) => count("select count(*) as count from file_chunks where file = $1", [name]),
        [Symbol.asyncDispose]: async () => undefined,
      };
    });

    test("chunks of a file that was never finished are removed a day later", async () => {
      await blank();
      const change = changeTo("never-finished.jsonl", "x".repeat(1_000_000), null);
      await filesAt(() => 0, null).stage(change);
      const stored = () => count("select count(*) as count from file_chunks", []);
      await filesAt(() => DAY_MS, null).removeUnfinished();
      expect(await stored()).toBe(4);
      await filesAt(() => DAY_MS + 1, null).removeUnfinished();
      expect(await stored()).toBe(0);
    });

    test("media of one gateway are read on another, from its disk the second time, and are gone from both", async () => {
      await blank();
      await using one = await tempHome();
      await using other = await tempHome();
      const open = (home: string) =>
        openStore(
          { clock: systemClock, ids: systemIds, log: silentLog },
          { home, url: secret(database.url), beside: { stateDirectory: home } },
        );
      await using first = await open(one.path);
      await copyFile(join(one.path, "audit.key"), join(other.path, "audit.key")); // gateways of one database have the same keys
      await using second = await open(other.path);
      const mediaId = "med_shared" as MediaId;
      const data = Buffer.from("picture ".repeat(100_000));
      await first.media.put({ mediaId, owner: OPERATOR, name: "p.png", mimeType: "image/png", data, at: 1 });
      expect(data.equals((await second.media.read(mediaId)) ?? new Uint8Array())).toBe(true);
      await connection.control("delete from file_chunks");
      expect(data.equals((await second.media.read(mediaId)) ?? new Uint8Array())).toBe(true);
      await second.media.removeFile(mediaId);
      expect(await count("select count(*) as count from files", [])).toBe(0);
      expect(await second.media.read(mediaId)).toBeNull();
      await connection.control("delete from media");
      const copy = async () =>
        (await readdir(join(one.path, "media"), { recursive: true })).filter((name) => name.includes(mediaId));
      expect([await first.media.removeCopies(0), (await copy()).length]).toEqual([0, 1]);
      expect([await first.media.removeCopies(Number.MAX_SAFE_INTEGER), await copy()]).toEqual([1, []]);
    });
  });

  describe("in a bucket of a service that often fails", () => {
    storedFilesContract(async (): Promise<FilesWorld> => {
      await blank();
      const chance = createChance(3);
      const service = await startFakeS3(() => (chance.hits(0.15) ? chance.pick(["error", "cut", "error"]) : null));
      const keys = { accessKeyId: secret("id"), secretAccessKey: secret("key") };
      const settings = { endpoint: service.endpoint, bucket: FAKE_BUCKET, region: "auto", prefix: "", ...keys };
      return {
        files: filesAt(systemClock.now, createS3Bucket({ clock: hurriedClock }, settings)),
        write,
        async damage(name) {
          for (const [object, data] of service.contents) if (object.startsWith(name)) data[2] = 7;
        },
        chunks: async (name) => [...service.contents.keys()].filter((object) => object.startsWith(`${name}/`)).length,
        [Symbol.asyncDispose]: () => service[Symbol.asyncDispose](),
      };
    });
  });

  test("a gateway with a bucket keeps no content in the database, and reads what was stored before it had one", async () => {
    await blank();
    await using home = await tempHome();
    await using service = await startFakeS3();
    const keys = { accessKeyId: secret("id"), secretAccessKey: secret("key") };
    const files = { endpoint: service.endpoint, bucket: FAKE_BUCKET, region: "auto", prefix: "gw/", ...keys };
    const put = (store: Store, id: string) =>
      store.media.put({
        mediaId: id as MediaId,
        owner: OPERATOR,
        name: "n",
        mimeType: "t",
        data: Buffer.from(id),
        at: 1,
      });
    const deps = { clock: systemClock, ids: systemIds, log: silentLog };
    const options = { home: home.path, url: secret(database.url) };
    {
      await using before = await openStore(deps, options);
      await put(before, "med_before");
    }
    await using store = await openStore(deps, { ...options, files });
    await put(store, "med_after");
    await rm(join(home.path, "media"), { recursive: true });
    const read = async (id: string) => Buffer.from((await store.media.read(id as MediaId)) ?? "").toString();
    expect([await read("med_before"), await read("med_after")]).toEqual(["med_before", "med_after"]);
    expect([...service.contents.keys()]).toEqual([expect.stringMatching(/^gw\/media\/med_after\/chunk_/)]);
    expect(await count("select count(*) as count from file_chunks where data is not null", [])).toBe(1);
    await store.media.removeFile("med_after" as MediaId);
    expect(service.contents.size).toBe(0);
  });

  describe("in a bucket", () => {
    storedFilesContract(async (): Promise<FilesWorld> => {
      await blank();
      const bucket = createMemoryBucket();
      return {
        files: filesAt(systemClock.now, bucket),
        write,
        async damage(name) {
          for (const [object, data] of bucket.contents) if (object.startsWith(name)) data[2] = 7;
        },
        chunks: async (name) => [...bucket.contents.keys()].filter((object) => object.startsWith(`${name}/`)).length,
        [Symbol.asyncDispose]: async () => undefined,
      };
    });
  });
});
