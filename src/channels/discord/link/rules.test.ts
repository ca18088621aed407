/** What follows each end of a connection to Discord: whether its session goes on, after which pause, and what an operator is told. */
import { expect, test } from "bun:test";
import { afterLink, FRESH, type LinkEnd, type LinkState } from "./rules.ts";

const KNOWN: LinkState = { session: true, failedResumes: 0, failures: 0 };
const closed = (code: number, wasUp: boolean, resuming = false): LinkEnd => ({ kind: "closed", code, wasUp, resuming });
const silent = (wasUp: boolean, resuming = false): LinkEnd => ({ kind: "silent", wasUp, resuming });
const DAY_MS = 86_400_000;

test.each([
  [4004, "channels.discord.token"],
  [4010, "invalid shard"],
  [4011, "too many servers"],
  [4012, "Update pi-gateway"],
  [4013, "invalid intents"],
  [4014, "Message Content Intent"],
])("a connection that Discord closes with %d begins anew after five minutes, and says why", (code, words) => {
  const next = afterLink({ session: true, failedResumes: 2, failures: 4 }, closed(code, true), 0.5);
  expect(next).toEqual({
    session: false,
    failedResumes: 0,
    failures: 5,
    pauseMs: 300_000,
    trouble: expect.stringContaining(words),
  });
});

test.each([
  [1000, false],
  [1001, false],
  [4003, false],
  [4005, false],
  [4007, false],
  [4009, false],
  [1006, true],
  [4000, true],
  [4001, true],
  [4002, true],
  [4008, true],
])("a connection that is closed with %d keeps its session: %p", (code, keeps) => {
  expect(afterLink(FRESH, closed(code, true), 0)).toEqual({
    session: keeps,
    failedResumes: 0,
    failures: 0,
    pauseMs: 1_000,
    trouble: null,
  });
});

test("a session is there after a connection that was of use, and stays after one that was not", () => {
  const sessions = [FRESH, KNOWN].flatMap((state) =>
    [true, false].map((wasUp) => afterLink(state, silent(wasUp), 0).session),
  );
  expect(sessions).toEqual([true, false, true, true]);
});

test("a session is given up with the third failed resume in a row; one that works, or a new session, begins the count anew", () => {
  let state = KNOWN;
  const seen: unknown[] = [];
  for (const end of [silent(false, true), closed(4000, false, true), silent(true, true), silent(false, false)]) {
    state = afterLink(state, end, 0);
    seen.push([state.session, state.failedResumes]);
  }
  for (let times = 0; times < 3; times++) {
    state = afterLink(state, closed(4000, false, true), 0);
    seen.push([state.session, state.failedResumes]);
  }
  expect(seen).toEqual([
    [true, 1],
    [true, 2],
    [true, 0],
    [true, 0],
    [true, 1],
    [true, 2],
    [false, 0],
  ]);
});

test.each([
  [0, [1, 2, 4, 8, 16, 32, 60, 60]],
  [1, [0.7, 1.4, 2.8, 5.6, 11.2, 22.4, 42, 42]],
])("pauses after failures double up to a minute, shorter by up to a third of chance %d", (chance, seconds) => {
  const pauses = seconds.map((_, failures) => {
    const end = failures === 0 ? silent(true) : silent(false);
    return afterLink({ ...KNOWN, failures: failures - 1 }, end, chance).pauseMs / 1_000;
  });
  expect(pauses).toEqual(seconds);
  expect(afterLink({ ...KNOWN, failures: 10_000 }, silent(false), 0).pauseMs).toBe(60_000);
});

test.each([
  [undefined, 2_000],
  [1_999, 2_000],
  [2_001, 2_001],
  [DAY_MS, DAY_MS],
  [DAY_MS + 1, DAY_MS],
])("a connection that did not come about, and must not for %p ms, is tried after %d ms", (waitMs, pauseMs) => {
  const state = { session: true, failedResumes: 2, failures: 0 };
  const end: LinkEnd = { kind: "failed", detail: "", ...(waitMs === undefined ? {} : { waitMs }) };
  expect(afterLink(state, end, 0)).toEqual({ ...state, failures: 1, pauseMs, trouble: null });
});
