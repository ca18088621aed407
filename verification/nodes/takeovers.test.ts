/** Times of takeovers: how much of each the promise counts, and what is in its way. */
import { expect, test } from "bun:test";
import { type Takeover, timesOfAll, type Trouble } from "./takeovers.ts";

const NAMES = ["node 0", "node 1", "node 2"];
const killed: Trouble = { what: "kill", node: "node 0", from: 0, until: Infinity };
const trouble = (what: string, node: string | null, from: number, until = Infinity): Trouble => ({
  what,
  node,
  from,
  until,
});
const takeover = (ms: number, ...others: Trouble[]): Takeover => ({ from: 0, at: ms, meanwhile: [killed, ...others] });
const promised = (ms: number, ...others: Trouble[]) => timesOfAll([takeover(ms, ...others)], NAMES);

test.each<[string, number, number, Trouble[]]>([
  ["counts all of it while another gateway and the database are well", 7_000, 7_000, []],
  ["counts from the return of the database on", 30_000, 9_000, [trouble("kill the database", null, 2_000, 21_000)]],
  ["counts what was before an outage where that is longer", 9_000, 6_000, [trouble("full disk", null, 6_000, 7_000)]],
  [
    "counts while one of the others is well",
    11_000,
    8_000,
    [trouble("freeze", "node 1", 0, 3_000), trouble("freeze", "node 2", 5_000)],
  ],
  [
    "does not add up times of two gateways",
    14_000,
    8_000,
    [trouble("freeze", "node 1", 8_000), trouble("freeze", "node 2", 0, 8_000)],
  ],
  [
    "counts troubles of one gateway that overlap once",
    20_000,
    4_000,
    [
      trouble("freeze", "node 1", 0, 16_000),
      trouble("commit lost", "node 1", 2_000, 3_000),
      trouble("full disk", "node 2", 0),
    ],
  ],
])("the promise %s", (_what, took, ms, others) => {
  expect(promised(took, ...others)).toMatchObject({ all: { longestMs: took }, promised: { count: 1, longestMs: ms } });
});

test("a takeover for which nobody was well, or for which the database was away all the time, is no matter of the promise", () => {
  const nobody = [trouble("freeze", "node 1", -1), trouble("full disk", "node 2", -1)];
  expect(promised(40_000, ...nobody)).toMatchObject({ all: { count: 1 }, promised: { count: 0 }, late: [] });
  expect(promised(40_000, trouble("kill the database", null, -1)).promised.count).toBe(0);
});

test("a takeover is late when the promised time is over, and says what happened meanwhile", () => {
  expect(promised(12_000).late).toEqual([]);
  expect(promised(13_400).late).toEqual(["13.4 s of 13.4 s: kill (node 0) 0.0 s to the end"]);
  expect(promised(30_000, trouble("kill the database", null, 2_000, 17_000)).late).toEqual([
    "13.0 s of 30.0 s: kill (node 0) 0.0 s to the end; kill the database 2.0 s to 17.0 s",
  ]);
});
