/** The judge of the queue engines is shown one wrong history after the other. */
import { expect, test } from "bun:test";
import { judge, type RunLine } from "./judge.ts";

const KEY = "one";
const whole = (number: number, from: number, to: number, worker = 1): readonly RunLine[] => [
  { kind: "began", key: KEY, number, worker, at: from },
  { kind: "ended", key: KEY, number, worker, at: to },
  { kind: "counted", key: KEY, number, worker, at: to },
];
const sent = new Map([[KEY, 2]]);
const good = {
  overlaps: 0,
  outOfOrder: 0,
  lost: 0,
  doubled: 0,
  interrupted: 0,
  rerun: 0,
  overtaken: 0,
  takeoverMs: null,
};

test("queue engines: jobs of a key that ran one after the other are in order", () => {
  expect(judge([...whole(0, 1, 5), ...whole(1, 6, 9)], sent, null)).toEqual(good);
});

test("queue engines: two jobs of a key at the same time are an overlap", () => {
  expect(judge([...whole(0, 1, 5), ...whole(1, 4, 9, 2)], sent, null)).toEqual({ ...good, overlaps: 1 });
});

test("queue engines: a later job of a key that began first is out of order", () => {
  expect(judge([...whole(1, 1, 5), ...whole(0, 6, 9)], sent, null)).toEqual({ ...good, outOfOrder: 1 });
});

test("queue engines: a job that never counted is lost, and one that counted twice is doubled", () => {
  expect(judge([...whole(0, 1, 2), ...whole(0, 3, 4)], sent, null)).toEqual({ ...good, lost: 1, doubled: 1 });
});

test("queue engines: an interrupted job that runs again before the next one was taken over, and the time is known", () => {
  const cut: RunLine = { kind: "began", key: KEY, number: 0, worker: 7, at: 1 };
  const lines = [cut, ...whole(0, 9, 10), ...whole(1, 11, 12)];
  const found = judge(lines, sent, { worker: 7, at: 3 });
  expect(found).toEqual({ ...good, interrupted: 1, rerun: 1, takeoverMs: 6 });
});

test("queue engines: an interrupted job that a later one of its key passes was overtaken", () => {
  const cut: RunLine = { kind: "began", key: KEY, number: 0, worker: 7, at: 1 };
  const lines = [cut, ...whole(1, 5, 6), ...whole(0, 9, 10)];
  const found = judge(lines, sent, { worker: 7, at: 3 });
  expect(found).toEqual({ ...good, interrupted: 1, rerun: 1, overtaken: 1, takeoverMs: 6 });
});

test("queue engines: a job that ended just before its worker was killed, and that nobody runs again, is not lost", () => {
  const lines = [...whole(0, 1, 2, 7).slice(0, 2), ...whole(1, 5, 6)];
  expect(judge(lines, sent, { worker: 7, at: 3 })).toEqual(good);
  expect(judge(lines, sent, null)).toEqual({ ...good, lost: 1 });
});
