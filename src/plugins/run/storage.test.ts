/** A plugin's memory when the disk does not do as it should: nothing that was kept is lost. */
import { expect, test } from "bun:test";
import { mkdir, readFile, rename, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { tempHome } from "../../testing/temp-home.ts";
import { createStorage } from "./storage.ts";

test("plugin memory: a file that cannot be read for the moment is not taken for an empty one", async () => {
  await using home = await tempHome();
  const file = join(home.path, "one.json");
  await createStorage(file).set("kept", 1);
  await rename(file, `${file}.away`);
  await symlink(file, file); // a link to itself: it is there, and cannot be read
  const storage = createStorage(file);
  await expect(storage.get("kept")).rejects.toMatchObject({ code: "store_failed" });
  await expect(storage.set("other", 2)).rejects.toMatchObject({ code: "store_failed" });
  await rename(`${file}.away`, file);
  expect([await storage.get("kept"), await storage.keys()]).toEqual([1, ["kept"]]);
});

test.each(["[1", "7", "null"])(
  "plugin memory: a file that holds %s is an error, and is left as it is",
  async (text) => {
    await using home = await tempHome();
    const file = join(home.path, "one.json");
    await writeFile(file, text);
    await expect(createStorage(file).set("a", 1)).rejects.toMatchObject({ code: "store_failed" });
    expect(await readFile(file, "utf8")).toBe(text);
  },
);

test.each([
  ["a key of 128 characters", true, "k".repeat(128), 1],
  ["a key of 129 characters", false, "k".repeat(129), 1],
  ["a key without a name", false, "", 1],
  ["a value of 64 KiB", true, "k", "v".repeat(64 * 1024 - 2)],
  ["a value of a character more", false, "k", "v".repeat(64 * 1024 - 1)],
])("plugin memory: %s is kept: %p", async (_what, kept, key, value) => {
  await using home = await tempHome();
  const storage = createStorage(join(home.path, "one.json"));
  const setting = storage.set(key, value);
  if (kept) await setting;
  else await expect(setting).rejects.toMatchObject({ code: "too_large" });
  expect(await storage.keys()).toEqual(kept ? [key] : []);
});

test("plugin memory: it holds a mebibyte in all, and not a character more", async () => {
  await using home = await tempHome();
  const file = join(home.path, "one.json");
  const storage = createStorage(file);
  for (let key = 10; key < 26; key++) await storage.set(`${key}`, "v".repeat(60_000));
  const there = (await readFile(file, "utf8")).length;
  const rest = 1024 * 1024 - there - ',"last":""'.length;
  for (const [name, chars] of [
    ["more", 40_000],
    ["last", 0],
  ] as const)
    await storage.set(name, "v".repeat(chars));
  const left = rest - ',"more":""'.length - 40_000;
  await expect(storage.set("last", "v".repeat(left + 1))).rejects.toMatchObject({ code: "too_large" });
  await storage.set("last", "v".repeat(left));
  expect((await readFile(file, "utf8")).length).toBe(1024 * 1024);
});

test("plugin memory: it holds so many keys, and one more is refused", async () => {
  await using home = await tempHome();
  const file = join(home.path, "data/one.json");
  await mkdir(join(home.path, "data"));
  const all = Object.fromEntries(Array.from({ length: 999 }, (_, n) => [`k${n}`, n]));
  await writeFile(file, JSON.stringify(all));
  const storage = createStorage(file);
  await storage.set("k999", 1);
  await expect(storage.set("k1000", 1)).rejects.toMatchObject({ code: "too_large" });
  await storage.set("k0", "changed"); // one that is there may change
  expect([(await storage.keys()).length, await storage.get("k0")]).toEqual([1_000, "changed"]);
});
