/** Times of takeovers, apart by what was in their way. */
import { expect, test } from "bun:test";
import { timesOfAll } from "./takeovers.ts";

const NAMES = ["node 0", "node 1", "node 2"];
const killed = { what: "kill", node: "node 0" };

test("takeovers are counted apart when the database, or every other gateway, had trouble meanwhile, and late ones say what happened", () => {
  const times = timesOfAll(
    [
      { ms: 7_000, meanwhile: [killed] },
      { ms: 9_000, meanwhile: [killed, { what: "freeze", node: "node 1" }, { what: "full disk", node: "node 2" }] },
      { ms: 30_400, meanwhile: [killed, { what: "kill the database", node: null }] },
    ],
    NAMES,
  );
  expect(times).toEqual({
    all: { count: 3, middleMs: 9_000, longestMs: 30_400 },
    withDatabase: { count: 2, middleMs: 9_000, longestMs: 9_000 },
    undisturbed: { count: 1, middleMs: 7_000, longestMs: 7_000 },
    late: ["30.4 s: kill (node 0); kill the database"],
  });
});
