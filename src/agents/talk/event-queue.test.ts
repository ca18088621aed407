/** Events on their way from a callback to a reader. */
import { expect, test } from "bun:test";
import { createEventQueue } from "./event-queue.ts";

test("a reader that waits is let go when the queue closes without another event", async () => {
  const queue = createEventQueue();
  const read = Array.fromAsync(queue.events());
  await new Promise((resolve) => setImmediate(resolve)); // it waits by now
  queue.close();
  expect(await read).toEqual([]);
});

test("text that waits is joined, in order, and other events stay apart", async () => {
  const queue = createEventQueue();
  for (const delta of ["a", "b"]) queue.push({ type: "text", delta });
  queue.push({ type: "retrying", because: "busy" });
  queue.push({ type: "text", delta: "c" });
  queue.close();
  expect(await Array.fromAsync(queue.events())).toEqual([
    { type: "text", delta: "ab" },
    { type: "retrying", because: "busy" },
    { type: "text", delta: "c" },
  ]);
});
