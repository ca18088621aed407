/** The decision which process serves a request, as a table. */
import { expect, test } from "bun:test";
import type { Principal } from "../contracts/ids.ts";
import { type Choice, type Situation, chooseWorker } from "./choose.ts";
import type { WorkerState } from "./worker-state.ts";

const me = "web:user:me" as Principal;
const you = "web:user:you" as Principal;
const idle = (principal: Principal | null, sessionFile: string | null = null, since = 0): WorkerState => ({
  at: "idle",
  since,
  principal,
  sessionFile,
});
const busy = (sessionFile: string, principal = you): WorkerState => ({ at: "busy", since: 0, principal, sessionFile });
const starting: WorkerState = { at: "starting", since: 0 };

/** A process of another agent; those without this mark are of the wanted one. */
const other = (state: WorkerState): WorkerState & { readonly profile: string } => ({ ...state, profile: "other" });

const cases: readonly [string, readonly WorkerState[], Partial<Situation>, Choice][] = [
  ["nothing runs yet", [], {}, { kind: "spawn", because: "room_left" }],
  [
    "the session is open",
    [idle(me, "b", 0), idle(me, "a", 9)],
    {},
    { kind: "use", worker: 1, because: "session_is_open" },
  ],
  [
    "another session of mine is open",
    [idle(null), idle(me, "b")],
    {},
    { kind: "use", worker: 1, because: "same_principal" },
  ],
  [
    "several of mine rest: the longest unused",
    [idle(me, "b", 5), idle(me, "c", 2)],
    {},
    { kind: "use", worker: 1, because: "same_principal" },
  ],
  ["a fresh one waits", [busy("b"), idle(null)], {}, { kind: "use", worker: 1, because: "fresh" }],
  ["the same file was opened for someone else", [idle(you, "a")], {}, { kind: "spawn", because: "room_left" }],
  ["the session is in use", [busy("a", me), idle(null)], {}, { kind: "wait", because: "session_in_use" }],
  ["one is starting", [starting], { unclaimedStarts: 1 }, { kind: "wait", because: "one_is_starting" }],
  ["the one starting is promised to another", [starting], {}, { kind: "spawn", because: "room_left" }],
  ["starts are held back", [busy("b")], { mayStart: false }, { kind: "wait", because: "starts_held_back" }],
  [
    "full, one of another rests",
    [busy("b"), idle(you, "c")],
    {},
    { kind: "replace", worker: 1, because: "idle_of_another" },
  ],
  [
    "the session is open in a process of another agent",
    [other(idle(me, "a"))],
    {},
    { kind: "spawn", because: "room_left" },
  ],
  ["only a fresh one of another agent waits", [other(idle(null))], {}, { kind: "spawn", because: "room_left" }],
  [
    "mine of this agent before mine of another",
    [other(idle(me, "b", 0)), idle(me, "c", 9)],
    {},
    { kind: "use", worker: 1, because: "same_principal" },
  ],
  [
    "full, my own of another agent rests",
    [busy("b"), other(idle(me, "c"))],
    {},
    { kind: "replace", worker: 1, because: "idle_of_another" },
  ],
  [
    "the longest unused of all is replaced",
    [idle(you, "b", 7), other(idle(null, null, 3))],
    {},
    { kind: "replace", worker: 1, because: "idle_of_another" },
  ],
  [
    "the session is in use by a process of another agent",
    [other(busy("a", me)), idle(null)],
    {},
    { kind: "wait", because: "session_in_use" },
  ],
  [
    "shared: the session is open for someone else",
    [idle(null), idle(you, "a")],
    { shared: true },
    { kind: "use", worker: 1, because: "session_is_open" },
  ],
  [
    "shared: mine before one of another",
    [idle(you, "b", 0), idle(me, "c", 9)],
    { shared: true },
    { kind: "use", worker: 1, because: "same_principal" },
  ],
  [
    "shared: a fresh one before one of another",
    [idle(you, "b"), idle(null, null, 9)],
    { shared: true },
    { kind: "use", worker: 1, because: "fresh" },
  ],
  [
    "shared: one of another before a new one",
    [idle(you, "b")],
    { shared: true },
    { kind: "use", worker: 0, because: "shared" },
  ],
  [
    "shared: never one of another agent",
    [other(idle(you, "a"))],
    { shared: true },
    { kind: "spawn", because: "room_left" },
  ],
  ["full and busy", [busy("b"), busy("c")], {}, { kind: "wait", because: "all_busy" }],
  ["the dead do not count", [busy("b"), { at: "dead" }], {}, { kind: "spawn", because: "room_left" }],
];

test.each(cases)("%s", (_name, states, changes, expected) => {
  const workers = states.map((state, id) => ({ id, state, profile: "profile" in state ? "other" : "wanted" }));
  const situation = { workers, max: 2, shared: false, unclaimedStarts: 0, mayStart: true, ...changes };
  expect(chooseWorker({ principal: me, sessionFile: "a", profile: "wanted" }, situation)).toEqual(expected);
});
