/** The decision which process serves a request, as a table. */
import { expect, test } from "bun:test";
import type { Principal } from "../contracts/ids.ts";
import { type Choice, findBestMatch, type Situation, type Wanted } from "./choose.ts";
import type { ProfileSignature } from "./profile.ts";
import type { WorkerState } from "./worker-state.ts";

const me = "web:user:me" as Principal;
const you = "web:user:you" as Principal;
const idle = (principal: Principal | null, sessionFile: string | null = null, since = 0): WorkerState => ({
  at: "idle",
  since,
  served: principal === null ? null : { principal, role: "owner" },
  sessionFile,
});
const busy = (sessionFile: string, principal = you): WorkerState => ({
  at: "busy",
  since: 0,
  served: { principal, role: "owner" },
  sessionFile,
});
const starting: WorkerState = { at: "starting", since: 0 };
/** It has served me when I was something else. */
const asGuest = (sessionFile: string): WorkerState => ({
  at: "idle",
  since: 0,
  served: { principal: me, role: "guest" },
  sessionFile,
});

type Marked = WorkerState & { readonly profile?: ProfileSignature; readonly isOpening?: boolean };
const PLAIN: ProfileSignature = { hard: "wanted", soft: [] };
/** A process of another agent; those without a mark are of the wanted one. */
const other = (state: WorkerState): Marked => ({ ...state, profile: { hard: "other", soft: [] } });
const having = (state: WorkerState, ...soft: string[]): Marked => ({ ...state, profile: { hard: "wanted", soft } });

const cases: readonly [string, readonly Marked[], Partial<Situation>, Choice][] = [
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

const choose = (states: readonly Marked[], changes: Partial<Situation>, asked: Partial<Wanted> = {}) => {
  const workers = states.map(({ profile = PLAIN, isOpening = false, ...state }, id) => ({
    id,
    state,
    profile,
    isOpening,
  }));
  const situation = {
    workers,
    max: 2,
    shared: false,
    unclaimedStarts: 0,
    mayStart: true,
    warmSince: Infinity,
    ...changes,
  };
  return findBestMatch({ principal: me, role: "owner", sessionFile: "a", profile: PLAIN, ...asked }, situation);
};

test.each(cases)("%s", (_name, states, changes, expected) => {
  expect(choose(states, changes)).toEqual(expected);
});

const use = (worker: number, because: Extract<Choice, { kind: "use" }>["because"]): Choice => ({
  kind: "use",
  worker,
  because,
});
const spawn: Choice = { kind: "spawn", because: "room_left" };
const skilled: ProfileSignature = { hard: "wanted", soft: ["skill:/s"] };

test.each<[string, readonly Marked[], Partial<Situation>, Partial<Wanted>, Choice]>([
  ["the role differs, though the session is open", [asGuest("a")], {}, {}, spawn],
  ["the role differs, and people share", [asGuest("a")], { shared: true }, {}, spawn],
  ["the role is the same", [asGuest("a")], {}, { role: "guest" }, use(0, "session_is_open")],
  ["a fresh one has no role yet", [idle(null)], {}, { role: "guest" }, use(0, "fresh")],
  [
    "full, and only one of another role rests",
    [busy("b"), asGuest("c")],
    {},
    {},
    {
      kind: "replace",
      worker: 1,
      because: "idle_of_another",
    },
  ],
  ["another working folder is another agent", [other(idle(me, "a"))], {}, {}, spawn],
  [
    "it has more than was asked for",
    [having(idle(me, "b"), "skill:/s", "x")],
    {},
    { profile: skilled },
    use(0, "same_principal"),
  ],
  ["it has less than was asked for", [idle(me, "a")], {}, { profile: skilled }, spawn],
  ["it has something else", [having(idle(me, "a"), "skill:/t")], {}, { profile: skilled }, spawn],
  ["a fresh one has more", [having(idle(null), "skill:/s")], {}, {}, use(0, "fresh")],
  [
    "exactly what was asked for goes before more, though it was used later",
    [having(idle(me, "b", 0), "skill:/s"), idle(me, "c", 9)],
    {},
    {},
    use(1, "same_principal"),
  ],
  [
    "the open session goes before an exact one",
    [having(idle(me, "a", 0), "skill:/s"), idle(me, "c", 9)],
    {},
    {},
    use(0, "session_is_open"),
  ],
  ["shared: one of another with more", [having(idle(you, "b"), "skill:/s")], { shared: true }, {}, use(0, "shared")],
])("%s", (_name, ...[states, changes, asked, expected]) => {
  expect(choose(states, changes, asked)).toEqual(expected);
});

const job = { unattended: true } as const;
const byJob = (sessionFile: string, since = 0): WorkerState => ({
  at: "idle",
  since,
  served: { principal: me, role: "owner", unattended: true },
  sessionFile,
});
const warm = { warmSince: 100, max: 3 } as const;

test.each<[string, readonly Marked[], Partial<Situation>, Partial<Wanted>, Choice]>([
  ["one of a job before one of a person", [idle(me, "b", 1), byJob("c", 200)], warm, job, use(1, "same_principal")],
  ["one that a person used long ago", [idle(me, "b", 99)], warm, job, use(0, "same_principal")],
  ["a fresh one before one that a person uses", [idle(me, "b", 150), idle(null)], warm, job, use(1, "fresh")],
  ["a new one before one that a person uses", [idle(me, "b", 150)], warm, job, spawn],
  ["full: the person's all the same", [idle(me, "b", 150)], { ...warm, max: 1 }, job, use(0, "same_principal")],
  ["starts held back", [idle(me, "b", 150)], { ...warm, mayStart: false }, job, use(0, "same_principal")],
  [
    "one is starting for it",
    [idle(me, "b", 150), starting],
    { ...warm, unclaimedStarts: 1 },
    job,
    { kind: "wait", because: "one_is_starting" },
  ],
  ["shared: not the one of another who uses it", [idle(you, "b", 150)], { ...warm, shared: true }, job, spawn],
  ["its own session is open there", [idle(me, "a", 150)], warm, job, use(0, "session_is_open")],
  [
    "a person takes the longest unused when nobody is fresh",
    [byJob("c", 200), idle(me, "b", 150)],
    warm,
    {},
    use(1, "same_principal"),
  ],
])("work that nobody waits for: %s", (...[, states, changes, asked, expected]) => {
  expect(choose(states, changes, asked)).toEqual(expected);
});

const conversations = (count: number, since: number) =>
  Array.from({ length: count }, (_, at) => idle(me, `other-${at}`, since));

test.each<[string, readonly Marked[], Partial<Situation>, Choice]>([
  ["the fresh one, while there is room for the next", [idle(me, "b", 150), idle(null)], warm, use(1, "fresh")],
  ["the one whose conversation has ended", [idle(me, "b", 99), idle(null)], warm, use(0, "same_principal")],
  ["my own in a full pool", [idle(me, "b", 150), idle(null)], { ...warm, max: 2 }, use(0, "same_principal")],
  ["my own rather than a start", [idle(me, "b", 150)], warm, use(0, "same_principal")],
  [
    "the fresh one for the fourth conversation at a time",
    [...conversations(3, 150), idle(null)],
    { ...warm, max: 9 },
    use(3, "fresh"),
  ],
  [
    "one of my own for the fifth",
    [...conversations(4, 150), idle(null)],
    { ...warm, max: 9 },
    use(0, "same_principal"),
  ],
  [
    "where people share: the fresh one too",
    [idle(me, "b", 150), idle(null)],
    { ...warm, shared: true },
    use(1, "fresh"),
  ],
])("another conversation while one of mine is warm: %s", (_name, states, changes, expected) => {
  expect(choose(states, changes)).toEqual(expected);
});

/** It reads a session for a message that may come. */
const opening = (principal: Principal, sessionFile: string): Marked => ({
  ...prepared(principal, sessionFile),
  isOpening: true,
});
const prepared = (principal: Principal, sessionFile: string): WorkerState => ({
  at: "idle",
  since: 1,
  served: { principal, role: "owner" },
  sessionFile,
  preparedAt: 150,
});

test.each<[string, readonly Marked[], Partial<Situation>, Partial<Wanted>, Choice]>([
  ["the session is being opened there", [opening(me, "a"), idle(null)], warm, {}, use(0, "session_is_open")],
  ["a process that is free goes before it", [opening(me, "b"), idle(me, "c", 9)], warm, {}, use(1, "same_principal")],
  ["a fresh one goes before it", [opening(me, "b"), idle(null)], { ...warm, max: 2 }, {}, use(1, "fresh")],
  ["it goes before a start", [opening(me, "b")], warm, {}, use(0, "free_in_a_moment")],
  ["it is never another person's", [opening(you, "a")], warm, {}, spawn],
  [
    "full: one of another gives way while it reads",
    [opening(you, "b")],
    { ...warm, max: 1 },
    {},
    { kind: "replace", worker: 0, because: "idle_of_another" },
  ],
  ["shared: it goes before a start", [opening(you, "b")], { ...warm, shared: true }, {}, use(0, "free_in_a_moment")],
  ["a job starts another one", [opening(me, "b")], warm, job, spawn],
  ["one that was prepared is as warm as one that was used", [prepared(me, "b"), idle(null)], warm, {}, use(1, "fresh")],
  [
    "full: the one that was prepared in vain goes before one that was used",
    [idle(you, "c", 0), prepared(you, "b")],
    { ...warm, max: 2 },
    {},
    { kind: "replace", worker: 1, because: "idle_of_another" },
  ],
])("a process with a session for a message that may come: %s", (...[, states, changes, asked, expected]) => {
  expect(choose(states, changes, asked)).toEqual(expected);
});
