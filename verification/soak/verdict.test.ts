/** The verdict of a soak: what is flat, what grows, and what a start may cost. */
import { expect, test } from "bun:test";
import { judge, type Sample } from "./verdict.ts";

const FLAT: Sample = {
  ms: 0,
  turns: 0,
  gatewayMb: 90,
  gatewayFiles: 40,
  agentMb: 150,
  agentFiles: 30,
  agents: 2,
  databaseKb: 900,
  logKb: 4_000,
  files: 60,
};

const samples = (change: (at: number) => Partial<Sample>): readonly Sample[] =>
  Array.from({ length: 100 }, (_, at) => ({ ...FLAT, ms: at * 1_000, turns: at * 10, ...change(at) }));
const growing = (change: (at: number) => Partial<Sample>): readonly string[] =>
  judge(samples(change)).flatMap(({ measure, isFlat }) => (isFlat ? [] : [measure]));

test("a soak in which everything swings and nothing grows is flat", () => {
  expect(growing((at) => ({ gatewayMb: 90 + (at % 7), agentMb: 150 - (at % 11), logKb: (at * 997) % 16_000 }))).toEqual(
    [],
  );
});

test("memory that grows while the gateway warms up is no leak", () => {
  expect(growing((at) => ({ gatewayMb: Math.min(90, 40 + at * 3) }))).toEqual([]);
});

test.each([
  ["memory of the gateway", (at: number) => ({ gatewayMb: 90 + at / 3 }), "gatewayMb"],
  ["memory of agents", (at: number) => ({ agentMb: 150 + at }), "agentMb"],
  ["descriptors of the gateway", (at: number) => ({ gatewayFiles: 40 + Math.floor(at / 8) }), "gatewayFiles"],
  ["files of the state directory", (at: number) => ({ files: 60 + at }), "files"],
  ["rows that a deleted session leaves", (at: number) => ({ databaseKb: 900 + at * 40 }), "databaseKb"],
])("%s that grow all the time are named", (_what, change, measure) => {
  expect(growing(change)).toEqual([measure]);
});

test("a database that keeps a kilobyte of each turn is flat", () => {
  expect(growing((at) => ({ databaseKb: 900 + at * 10 }))).toEqual([]);
});
