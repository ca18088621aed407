/** Times of takeovers, apart by what was in their way. */
import { expect, test } from "bun:test";
import { timesOfAll } from "./takeovers.ts";

const NAMES = ["node 0", "node 1", "node 2"];
const trouble = (what: string, node: string | null, until = Infinity) => ({ what, node, until });
const killed = trouble("kill", "node 0");

test("takeovers are counted apart when the database, or every other gateway, had trouble meanwhile, and late ones say what happened", () => {
  const times = timesOfAll(
    [
      { ms: 7_000, at: 10_000, meanwhile: [killed] },
      { ms: 9_000, at: 20_000, meanwhile: [killed, trouble("freeze", "node 1"), trouble("full disk", "node 2")] },
      { ms: 30_400, at: 60_000, meanwhile: [killed, trouble("kill the database", null, 51_000)] },
      { ms: 8_000, at: 70_000, meanwhile: [killed, trouble("kill the database", null, 51_000)] },
      { ms: 8_500, at: 70_000, meanwhile: [killed, trouble("full disk of the database", null)] },
    ],
    NAMES,
  );
  expect(times).toEqual({
    all: { count: 5, middleMs: 8_500, longestMs: 30_400 },
    withDatabase: { count: 2, middleMs: 9_000, longestMs: 9_000 },
    undisturbed: { count: 1, middleMs: 7_000, longestMs: 7_000 },
    afterDatabase: { count: 3, middleMs: 8_000, longestMs: 9_000 },
    late: ["30.4 s: kill (node 0); kill the database"],
  });
});
