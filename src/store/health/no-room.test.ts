/** A used-up quota counts as a full disk, and a failing disk does not. */
import { expect, test } from "bun:test";
import { readdir } from "node:fs/promises";
import { tempHome } from "../../testing/temp-home.ts";
import { asFullDisk, noRoomIn } from "./no-room.ts";

const fails = (code: string) => (): never => {
  throw Object.assign(new Error(code), { code });
};
const codeOf = (work: () => unknown): unknown => {
  try {
    return work();
  } catch (error) {
    return (error as { code?: unknown }).code;
  }
};

test.each([
  ["SQLITE_IOERR_WRITE", true, "SQLITE_FULL"],
  ["SQLITE_IOERR_WRITE", false, "SQLITE_IOERR_WRITE"],
  ["SQLITE_IOERR_FSYNC", true, "SQLITE_IOERR_FSYNC"],
  ["SQLITE_CONSTRAINT", true, "SQLITE_CONSTRAINT"],
] as const)("%s while there is no room (%p) is told as %s", (code, noRoom, told) => {
  expect(codeOf(() => asFullDisk(fails(code), () => noRoom))).toBe(told);
});

test("a write beside the database finds out whether there is room, and leaves no file", async () => {
  await using home = await tempHome();
  const answers = ["EDQUOT", "ENOSPC", "EIO"].map((code) => noRoomIn(home.path, fails(code)));
  expect([...answers, noRoomIn(home.path)]).toEqual([true, true, false, false]);
  expect(await readdir(home.path)).toEqual([]);
  expect(noRoomIn(`${home.path}/gone`)).toBe(false);
});
