/** Which waiting sessions move, one row for each case. */
import { expect, test } from "bun:test";
import type { InstanceId, SessionKey } from "../contracts/ids.ts";
import { chooseMoves } from "./choose-moves.ts";

interface Row {
  /** Messages that wait in each session that could move. */
  readonly movable: readonly number[];
  /** What waits beside them: in sessions with a running turn, for example. */
  readonly more?: number;
  readonly others: Readonly<Record<string, number>>;
  readonly unwilling?: readonly string[];
  readonly draining?: boolean;
  readonly before?: boolean;
  /** Number of the session, and where it goes. */
  readonly moves: readonly string[];
}

test.each<[string, Row]>([
  ["nothing waits here", { movable: [], others: { b: 0 }, moves: [] }],
  ["this gateway is alone", { movable: [5, 5], others: {}, moves: [] }],
  ["a little more waits here", { movable: [1, 1, 1], others: { b: 0 }, moves: [] }],
  ["much more waits here", { movable: [1, 1, 1, 1], others: { b: 0 }, moves: ["0 b"] }],
  [
    "all sessions came here, and two others idle",
    { movable: Array(12).fill(1), others: { b: 0, c: 0 }, moves: ["0 b", "1 c", "2 b", "3 c", "4 b", "5 c"] },
  ],
  ["the others have as much", { movable: Array(9).fill(1), others: { b: 9, c: 6 }, moves: [] }],
  [
    "one of the others has less than the other",
    { movable: Array(8).fill(1), others: { b: 7, c: 0 }, moves: ["0 c", "1 c", "2 c"] },
  ],
  ["the sessions that wait have a running turn", { movable: [], more: 50, others: { b: 0 }, moves: [] }],
  ["only one session can move, and it has nearly everything", { movable: [9], more: 1, others: { b: 0 }, moves: [] }],
  ["a session is too large, and the next one is not", { movable: [9, 2], more: 1, others: { b: 0 }, moves: ["1 b"] }],
  [
    "the other gateway does not take sessions",
    { movable: Array(9).fill(1), others: { b: 0 }, unwilling: ["b"], moves: [] },
  ],
  [
    "the loads are uneven for the first time",
    { movable: Array(9).fill(1), others: { b: 0 }, before: false, moves: [] },
  ],
  ["this gateway drains", { movable: [9, 1], others: { b: 20 }, draining: true, before: false, moves: ["0 b", "1 b"] }],
  [
    "this gateway drains, and nobody takes its sessions",
    { movable: [9], others: { b: 0 }, unwilling: ["b"], draining: true, moves: [] },
  ],
  [
    "very much waits here",
    { movable: Array(100).fill(1), others: { b: 0 }, moves: Array.from({ length: 8 }, (_, n) => `${n} b`) },
  ],
])(
  "when %s, %p is what moves",
  (_when, { movable, more = 0, others, unwilling = [], draining = false, before = true, moves }) => {
    const loads = Object.entries(others).map(
      ([node, waiting]) => [node as InstanceId, { waiting, willing: !unwilling.includes(node) }] as const,
    );
    const chosen = chooseMoves({
      waiting: more + movable.reduce((sum, size) => sum + size, 0),
      movable: movable.map((waiting, number) => ({ sessionKey: String(number) as SessionKey, waiting })),
      others: new Map(loads),
      draining,
      before,
    });
    expect(chosen.moves.map(({ sessionKey, to }) => `${sessionKey} ${to}`)).toEqual([...moves]);
  },
);

test("loads that are uneven once move nothing, and are remembered for the next look", () => {
  const movable = Array.from({ length: 9 }, (_, n) => ({ sessionKey: String(n) as SessionKey, waiting: 1 }));
  const loads = {
    waiting: 9,
    movable,
    others: new Map([["b" as InstanceId, { waiting: 0, willing: true }]]),
    draining: false,
  };
  expect(chooseMoves({ ...loads, before: false })).toEqual({ moves: [], uneven: true });
  expect(chooseMoves({ ...loads, before: true }).moves.length).toBeGreaterThan(0);
});

test("sessions that moved are not moved back by the same rule", () => {
  for (let waiting = 4; waiting < 60; waiting++) {
    const movable = Array.from({ length: waiting }, (_, n) => ({ sessionKey: String(n) as SessionKey, waiting: 1 }));
    const at = (here: number, there: number) =>
      chooseMoves({
        waiting: here,
        movable: movable.slice(0, here),
        others: new Map([["b" as InstanceId, { waiting: there, willing: true }]]),
        draining: false,
        before: true,
      }).moves.length;
    const gone = at(waiting, 0);
    expect([gone > 0, at(gone, waiting - gone)]).toEqual([true, 0]);
  }
});
