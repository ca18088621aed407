/** Writes to a disk that takes less than it is given. */
import { expect, test } from "bun:test";
import { writeWhole } from "./write-whole.ts";

/** Takes so many bytes at a time. */
function disk(atOnce: number) {
  const taken: number[] = [];
  const write = async (data: Uint8Array, from: number, count: number, position: number) => {
    const bytesWritten = Math.min(atOnce, count);
    data.subarray(from, from + bytesWritten).forEach((byte, at) => void (taken[position + at] = byte));
    return { bytesWritten };
  };
  return { taken, file: { write } };
}

test("a disk that takes a part at a time gets all of it, at its place", async () => {
  const { taken, file } = disk(2);
  expect(await writeWhole(file, Buffer.from("abcde"), 3)).toBe(8);
  expect(Buffer.from(taken.slice(3)).toString()).toBe("abcde");
});

test("a disk that takes nothing is an error", () => {
  expect(writeWhole(disk(0).file, Buffer.from("abc"), 0)).rejects.toThrow("took nothing");
});
