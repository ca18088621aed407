import { expect, test } from "bun:test";
import { recordingLog } from "./testing/recording-log.ts";
import { createStrayFailures } from "./stray-failures.ts";

test("a promise that fails unhandled is told in the log and counted in the status, and the gateway goes on", async () => {
  const log = recordingLog();
  const stray = createStrayFailures({ log });
  const error = new Error("disk full");
  expect([stray.notices(), stray.take(error, "rejection"), stray.take(error, "rejection")]).toEqual([[], true, true]);
  expect(log.lines).toMatchObject([
    { level: "error", fields: { count: 1 } },
    { level: "error", fields: { count: 2 } },
  ]);
  expect(log.lines[0]?.fields["error"]).toBe(error);
  expect(stray.notices()).toEqual([expect.stringContaining("failed 2 times since its start")]);
  expect(await Promise.race([stray.failed, "goes on"])).toBe("goes on");
});

test("an error that nobody caught is told in the log and stops the gateway; another one during the stop ends the process", async () => {
  const log = recordingLog();
  const stray = createStrayFailures({ log });
  const error = new Error("half done");
  expect(stray.take(error, "exception")).toBe(true);
  expect((await stray.failed).cause).toBe(error);
  expect(log.lines).toMatchObject([{ level: "error", words: "an error was caught by nobody; the gateway stops" }]);
  expect(stray.take(error, "exception")).toBe(false);
});
