import { expect, test } from "bun:test";
import { createFakeClock } from "../../testing/fake-clock.ts";
import { recordingLog } from "../../testing/recording-log.ts";
import { unhandledIn } from "../../testing/unhandled.ts";
import { eventStream } from "./event-stream.ts";

test("a stream of events whose source fails ends, is told in the log, and leaves no timer", async () => {
  const clock = createFakeClock();
  const log = recordingLog();
  let text = "";
  const unhandled = await unhandledIn(async () => {
    const response = eventStream({ clock, log }, new AbortController().signal, async (sink) => {
      sink.send("accepted", { id: "m1" });
      throw new Error("disk full");
    });
    text = await response.text();
  });
  expect([unhandled, text, clock.pending()]).toEqual([[], 'event: accepted\ndata: {"id":"m1"}\n\n', 0]);
  expect(log.lines).toMatchObject([{ level: "error", words: "stream of events broke off" }]);
});
