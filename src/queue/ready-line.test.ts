import { expect, test } from "bun:test";
import { DONE, keyOf, never, queueWorld, words } from "../testing/worlds/queue-world.ts";
import { createReadyLine, LOOK_AHEAD, MAX_OVERTAKEN_MS, nextOfEquals } from "./ready-line.ts";

const NOW = 5_000;
/** Each by how long it has waited. */
const line = (...waitedMs: readonly number[]) => waitedMs.map((ms, item) => ({ item, since: NOW - ms }));

test.each<[string, readonly number[], readonly number[], number]>([
  ["the first, when no session is open", [300, 200, 100], [], 0],
  ["the first, when it is open itself", [300, 200, 100], [0, 2], 0],
  ["one whose session is open goes before the first", [300, 200, 100], [2], 2],
  ["of several that are open, the one that has waited longest", [300, 200, 100], [2, 1], 1],
  ["the first, once it has waited for long", [MAX_OVERTAKEN_MS, 200, 100], [2], 0],
  ["just before that, one whose session is open", [MAX_OVERTAKEN_MS - 1, 200, 100], [2], 2],
  ["nobody, in an empty line", [], [], 0],
  ["only the next few are looked at", Array.from({ length: LOOK_AHEAD + 1 }, () => 10), [LOOK_AHEAD], 0],
])("the next of equals: %s", (_name, waitedMs, open, expected) => {
  expect(nextOfEquals(line(...waitedMs), NOW, (item) => open.includes(item))).toBe(expected);
});

test("a session that is open does not go before one of a higher priority", () => {
  const ready = createReadyLine<string>();
  ready.push("important", 2, NOW);
  ready.push("open", 1, NOW - 100);
  expect(ready.shift(NOW, (item) => item === "open")).toBe("important");
  expect(ready.shift(NOW, (item) => item === "open")).toBe("open");
});

test("the queue hands out a session that is open before others, until the first of them has waited for long", async () => {
  await using w = await queueWorld();
  for (const [session, text] of [
    ["a", "a1"],
    ["b", "b1"],
    ["c", "c1"],
    ["a", "a2"],
    ["a", "a3"],
  ] as const)
    await w.say(session, text);
  const served: string[] = [];
  const answer = async (): Promise<void> => {
    const batch = await w.queue.take(never, 1, (key) => key === keyOf("a"));
    served.push(...words(batch));
    await batch.finish(DONE);
  };
  await answer();
  await answer();
  await w.clock.advance(MAX_OVERTAKEN_MS);
  for (let left = 3; left > 0; left--) await answer();
  expect(served).toEqual(["a1", "a2", "b1", "c1", "a3"]);
});
