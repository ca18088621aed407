/** The decision whether and where the pool prepares for a message that may come, as a table. */
import { expect, test } from "bun:test";
import type { Principal } from "../contracts/ids.ts";
import { choosePrepared, type PrepareChoice, type PrepareSituation, type PrepareWanted } from "./choose-prepared.ts";
import type { ProfileSignature } from "./profile.ts";
import type { WorkerState } from "./worker-state.ts";

const me = "web:user:me" as Principal;
const you = "web:user:you" as Principal;
const PLAIN: ProfileSignature = { hard: "wanted", soft: [] };
const OTHER: ProfileSignature = { hard: "other", soft: [] };

interface Row {
  readonly state: WorkerState;
  readonly profile?: ProfileSignature;
  readonly isOpening?: boolean;
}

/** Used at this time; 100 and later is a conversation that goes on. */
const used = (principal: Principal, sessionFile: string, since = 0): Row => ({
  state: { at: "idle", since, served: { principal, role: "owner" }, sessionFile },
});
const preparedFor = (principal: Principal, sessionFile: string, since = 150): Row => ({
  state: { at: "idle", since, served: { principal, role: "owner" }, sessionFile, preparedAt: since },
});
const fresh: Row = { state: { at: "idle", since: 150, served: null, sessionFile: null } };
const starting: Row = { state: { at: "starting", since: 0 } };
const busy = (sessionFile: string): Row => ({
  state: { at: "busy", since: 0, served: { principal: you, role: "owner" }, sessionFile },
});
const asGuest: Row = { state: { at: "idle", since: 0, served: { principal: me, role: "guest" }, sessionFile: "a" } };
const byJob: Row = {
  state: { at: "idle", since: 150, served: { principal: me, role: "owner", unattended: true }, sessionFile: "b" },
};

const nothing = (because: Extract<PrepareChoice, { kind: "nothing" }>["because"]): PrepareChoice => ({
  kind: "nothing",
  because,
});
const open = (worker: number, because: "same_principal" | "fresh" | "shared"): PrepareChoice => ({
  kind: "open",
  worker,
  because,
});
const start: PrepareChoice = { kind: "start", because: "room_left" };

const choose = (
  rows: readonly Row[],
  changes: Partial<PrepareSituation> = {},
  asked: Partial<PrepareWanted> = {},
): PrepareChoice =>
  choosePrepared(
    { principal: me, role: "owner", sessionFile: "a", canOpen: true, profile: PLAIN, ...asked },
    {
      workers: rows.map((row, id) => ({ profile: PLAIN, ...row, id })),
      max: 6,
      shared: false,
      unclaimedStarts: 0,
      mayStart: true,
      warmSince: 100,
      waiting: 0,
      keepsSpare: true,
      isMemoryScarce: () => false,
      ...changes,
    },
  );

const shared = { shared: true } as const;

test.each<[string, readonly Row[], Partial<PrepareSituation>, PrepareChoice]>([
  ["the session is open: nothing", [used(me, "a", 150)], {}, nothing("session_is_open")],
  [
    "the session is being opened: nothing",
    [{ ...preparedFor(me, "a"), isOpening: true }],
    {},
    nothing("session_is_open"),
  ],
  ["a turn runs in the session: nothing", [busy("a"), fresh, fresh], {}, nothing("session_in_use")],
  ["a turn waits for a process: nothing", [fresh, fresh], { waiting: 1 }, nothing("somebody_waits")],
  ["two fresh ones: one of them", [fresh, fresh], {}, open(0, "fresh")],
  ["the last fresh one stays for whoever comes next, so one is started", [fresh], {}, start],
  ["where no spares are kept, the only fresh one", [fresh], { keepsSpare: false }, open(0, "fresh")],
  ["my own of a conversation that has gone quiet", [used(me, "b", 99), fresh], {}, open(0, "same_principal")],
  ["not my own of a conversation that goes on", [used(me, "b", 150), fresh, fresh], {}, open(1, "fresh")],
  ["my own of a job, however new", [byJob, fresh], {}, open(0, "same_principal")],
  [
    "my own that was prepared in vain goes first",
    [used(me, "b", 9), preparedFor(me, "c")],
    {},
    open(1, "same_principal"),
  ],
  ["not one that is still reading", [{ ...preparedFor(me, "c"), isOpening: true }, fresh, fresh], {}, open(1, "fresh")],
  ["never one of another person", [used(you, "b"), preparedFor(you, "a")], {}, start],
  ["never one that has served me in another role", [asGuest], {}, start],
  [
    "never one of another agent",
    [
      { ...fresh, profile: OTHER },
      { ...used(me, "a"), profile: OTHER },
    ],
    {},
    start,
  ],
  [
    "four of mine are enough",
    [used(me, "b", 150), used(me, "c", 150), used(me, "d", 150), used(me, "e", 150), fresh, fresh],
    { max: 9 },
    nothing("enough_open"),
  ],
  ["nothing runs yet", [], {}, start],
  ["one is starting anyway", [starting], { unclaimedStarts: 1 }, nothing("one_is_starting")],
  ["starts are held back", [busy("b")], { mayStart: false }, nothing("starts_held_back")],
  ["the last place is for turns", [busy("b"), busy("c")], { max: 3 }, nothing("pool_full")],
  ["full: nobody gives way", [used(you, "b"), used(you, "c")], { max: 2 }, nothing("pool_full")],
  ["full: my own that has gone quiet", [used(you, "b"), used(me, "c")], { max: 2 }, open(1, "same_principal")],
  ["the dead take no place", [busy("b"), { state: { at: "dead" } }], { max: 3 }, start],
  ["memory is scarce", [busy("b")], { isMemoryScarce: () => true }, nothing("memory_scarce")],
  ["shared: the session is open for another", [used(you, "a", 150)], shared, nothing("session_is_open")],
  ["shared: one of another that has gone quiet", [used(you, "b", 99), used(you, "c", 150)], shared, open(0, "shared")],
  ["shared: none of a conversation that goes on", [used(you, "b", 150), used(you, "c", 150)], shared, start],
  ["shared: a fresh one before one of another", [used(you, "b", 99), fresh], shared, open(1, "fresh")],
  ["shared: the last idle one stays", [used(you, "b", 99)], shared, start],
  ["shared: my own stays too, when it is the last", [used(me, "b", 99)], shared, start],
])("prepare a session: %s", (_name, rows, changes, expected) => {
  expect(choose(rows, changes)).toEqual(expected);
});

test.each<[string, readonly Row[], Partial<PrepareSituation>, PrepareChoice]>([
  ["a spare is ready", [fresh], {}, nothing("process_is_ready")],
  ["my own has gone quiet", [used(me, "b", 9)], {}, nothing("process_is_ready")],
  ["my own is in a conversation that goes on", [used(me, "b", 150)], {}, start],
  ["nothing runs yet", [], {}, start],
  ["one is starting", [starting], { unclaimedStarts: 1 }, nothing("one_is_starting")],
  ["a turn waits", [], { waiting: 1 }, nothing("somebody_waits")],
])("prepare a process for a session that is not there yet: %s", (_name, rows, changes, expected) => {
  expect(choose(rows, changes, { sessionFile: null, canOpen: false })).toEqual(expected);
});

test.each<[string, readonly Row[], PrepareChoice]>([
  ["the turn that had it is about to give its process back", [busy("a")], nothing("session_in_use")],
  ["its process was given back meanwhile", [used(me, "a", 150)], nothing("session_is_open")],
  ["a spare is ready", [fresh], nothing("process_is_ready")],
  ["nothing runs yet", [], start],
])("prepare for a session whose file cannot be read now: %s", (_name, rows, expected) => {
  expect(choose(rows, {}, { canOpen: false })).toEqual(expected);
});

test("the machine is asked for its memory only before a start", () => {
  let asked = 0;
  const isMemoryScarce = () => asked++ > 0;
  choose([fresh, fresh], { isMemoryScarce });
  choose([busy("b")], { isMemoryScarce, max: 2 });
  expect(asked).toBe(0);
  choose([], { isMemoryScarce });
  expect(asked).toBe(1);
});
