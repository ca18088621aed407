/** HEARTBEAT.md in a folder that the agent may write: replaced as it was seen, and no link in it is followed. */
import { expect, test } from "bun:test";
import { lstat, mkdir, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { tempHome } from "../../testing/temp-home.ts";
import { readChecklist, writeChecklist } from "./checklist.ts";

test("a checklist is written where it was seen, and left alone when it has changed since", async () => {
  await using home = await tempHome();
  const folder = join(home.path, "work");
  expect(await writeChecklist(folder, { text: "- mail", before: null, copyName: "a" })).toBe(true);
  expect(await writeChecklist(folder, { text: "- other", before: null, copyName: "b" })).toBe(false);
  expect(await writeChecklist(folder, { text: "- mail\n- backup", before: "- mail", copyName: "c" })).toBe(true);
  expect([await readChecklist(folder), await readdir(folder)]).toEqual(["- mail\n- backup", ["HEARTBEAT.md"]]);
});

test("a link that the agent has put there is replaced, and what it leads to stays as it is", async () => {
  await using home = await tempHome();
  const secret = join(home.path, "authorized_keys");
  await writeFile(secret, "mine");
  const folder = join(home.path, "work");
  await mkdir(folder);
  await symlink(secret, join(folder, "HEARTBEAT.md"));
  expect(await readChecklist(folder)).toBeNull();
  expect(await writeChecklist(folder, { text: "- mail", before: null, copyName: "a" })).toBe(true);
  expect([await readFile(secret, "utf8"), (await lstat(join(folder, "HEARTBEAT.md"))).isFile()]).toEqual([
    "mine",
    true,
  ]);
});

test("a link in the place of the copy is not written through, and a folder of that name is an error without a rest", async () => {
  await using home = await tempHome();
  const secret = join(home.path, "mine");
  await writeFile(secret, "mine");
  await symlink(secret, join(home.path, ".HEARTBEAT.md.a"));
  await expect(writeChecklist(home.path, { text: "x", before: null, copyName: "a" })).rejects.toThrow();
  expect(await readFile(secret, "utf8")).toBe("mine");
  await mkdir(join(home.path, "HEARTBEAT.md"));
  await expect(writeChecklist(home.path, { text: "x", before: null, copyName: "b" })).rejects.toThrow();
  expect((await readdir(home.path)).toSorted()).toEqual(["HEARTBEAT.md", "mine"]);
});
