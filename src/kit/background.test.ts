import { expect, test } from "bun:test";
import { recordingLog } from "../testing/recording-log.ts";
import { unhandledIn } from "../testing/unhandled.ts";
import { background } from "./background.ts";

test.each([
  [
    "throws",
    () => {
      throw new Error("no disk");
    },
  ],
  [
    "fails later",
    async () => {
      await Promise.resolve();
      throw new Error("no disk");
    },
  ],
] as const)("work in the background that %s is told in the log and is nobody else's affair", async (_how, work) => {
  const log = recordingLog();
  expect(await unhandledIn(async () => background(log, "note not kept", work))).toEqual([]);
  expect(log.lines).toMatchObject([
    { level: "error", words: "note not kept", fields: { error: new Error("no disk") } },
  ]);
});

test("work in the background begins at once", () => {
  let begun = false;
  background(recordingLog(), "not begun", () => (begun = true));
  expect(begun).toBe(true);
});
