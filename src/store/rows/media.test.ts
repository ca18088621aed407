/** Files beside the database: what is served, and what is left when a write fails. */
import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { appendFile, readdir, rm, truncate } from "node:fs/promises";
import { join } from "node:path";
import type { MediaId } from "../../contracts/ids.ts";
import { systemClock } from "../../kit/clock.ts";
import { OPERATOR } from "../../testing/contracts/store/store-world.ts";
import { recordingLog } from "../../testing/recording-log.ts";
import { createSeqIds } from "../../testing/seq-ids.ts";
import { blankDisk } from "../../testing/disk.ts";
import { tempHome } from "../../testing/temp-home.ts";
import { assemble } from "../assemble.ts";
import { type Control, createSql } from "../sqlite-sql.ts";

const ID = "med_1" as MediaId;
const file = { mediaId: ID, owner: OPERATOR, name: "a.txt", mimeType: "text/plain", data: Buffer.from("four"), at: 1 };

async function fixture() {
  const home = await tempHome();
  const db = Database.deserialize(blankDisk());
  const plain = createSql(db);
  const disk = { full: false };
  const sql = {
    ...plain,
    get inTransaction() {
      return db.inTransaction;
    },
    control(text: Control) {
      if (text === "commit" && disk.full) throw Object.assign(new Error("no room"), { code: "SQLITE_FULL" });
      plain.control(text);
    },
  };
  const log = recordingLog();
  const { media } = assemble({ clock: systemClock, ids: createSeqIds(), log }, sql, home.path);
  const files = async () =>
    (await readdir(join(home.path, "media"), { recursive: true, withFileTypes: true }))
      .filter((one) => one.isFile())
      .map((one) => join(one.parentPath, one.name));
  return { media, disk, log, files, [Symbol.asyncDispose]: () => home[Symbol.asyncDispose]() };
}

test("a media file that was cut, grown or removed on the disk is not served, and the log says so", async () => {
  for (const damage of [(path: string) => truncate(path, 3), (path: string) => appendFile(path, "!"), rm]) {
    await using fx = await fixture();
    await fx.media.put(file);
    expect((await fx.media.read(ID))?.toString()).toBe("four");
    const [path = ""] = await fx.files();
    await damage(path);
    expect(await fx.media.read(ID)).toBeNull();
    expect(fx.log.lines).toMatchObject([{ level: "error", words: "media file is missing or damaged" }]);
  }
});

test("a media file whose row cannot be written is removed again", async () => {
  await using fx = await fixture();
  fx.disk.full = true;
  await expect(fx.media.put(file)).rejects.toMatchObject({ code: "store_failed" });
  expect([await fx.files(), await fx.media.find(ID)]).toEqual([[], null]);
  fx.disk.full = false;
  expect(await fx.media.put(file)).toMatchObject({ mediaId: ID, bytes: 4 });
});
