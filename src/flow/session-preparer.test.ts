/** Hints that somebody may write soon: who is followed, with what, and how often. */
import { expect, test } from "bun:test";
import type { PrepareRequest } from "../contracts/agent.ts";
import { GatewayError } from "../contracts/errors.ts";
import type { AgentId, Principal, Role, SessionKey } from "../contracts/ids.ts";
import type { RouteFacts } from "../contracts/routing.ts";
import type { UpcomingTurn } from "../contracts/store/turns.ts";
import { deferred } from "../kit/deferred.ts";
import { createFakeClock } from "../testing/fake-clock.ts";
import { recordingLog } from "../testing/recording-log.ts";
import { createSeqIds } from "../testing/seq-ids.ts";
import { HINT_EVERY_MS } from "./may-prepare.ts";
import { createSessionPreparer } from "./session-preparer.ts";

const NEVER = new AbortController().signal;
const STORED: UpcomingTurn = {
  sessionFile: { name: "session-a.jsonl", settledBytes: 700 },
  settings: { model: "fake/two", thinking: null },
};

function world() {
  const clock = createFakeClock();
  const stopping = new AbortController();
  const asked: PrepareRequest[] = [];
  const state = {
    role: "owner" as Role | null,
    isHome: true,
    busy: new Set<string>(),
    stored: STORED as UpcomingTurn | null,
    over: Promise.resolve(),
    fails: false,
  };
  const preparer = createSessionPreparer(
    {
      clock,
      ids: createSeqIds(),
      log: recordingLog(),
      router: {
        decide: ({ address }) =>
          state.role === null
            ? { kind: "refuse", because: "unknown_sender", tell: "nothing", say: "No." }
            : {
                kind: "accept",
                sessionKey: `agent:helper:webchat:dm:${address.chat}` as SessionKey,
                agentId: "helper" as AgentId,
                role: state.role,
                priority: 10,
                because: [],
              },
      },
      queue: { isBusy: (key) => state.busy.has(key) },
      isHome: () => state.isHome,
      turns: { upcoming: async () => state.stored },
      pool: {
        async prepare(request) {
          if (state.fails) throw new GatewayError("agent_unknown", "there is no agent helper");
          asked.push(request);
          return { prepares: "session", because: "fresh", over: state.over };
        },
      },
    },
    stopping.signal,
  );
  const hint = (chat = "1", more: Partial<RouteFacts> = {}) =>
    preparer.prepare(
      {
        address: { channel: "webchat", account: "default", chat },
        scope: "dm",
        sender: { principal: "operator" as Principal, name: "" },
        mentioned: true,
        ...more,
      },
      NEVER,
    );
  return { state, asked, hint, clock, stopping };
}

const nothing = (because: string) => ({ prepares: "nothing", because }) as const;

test("a hint asks the pool for the process and the session that a message would get", async () => {
  const { asked, hint } = world();
  expect(await hint("1", { scope: "group", place: "guild" })).toEqual({ prepares: "session", because: "fresh" });
  expect(asked).toEqual([
    {
      caller: {
        sessionKey: "agent:helper:webchat:dm:1" as SessionKey,
        turnId: expect.any(String),
        agentId: "helper" as AgentId,
        role: "owner",
        principal: "operator" as Principal,
        origin: { channel: "webchat", account: "default", chat: "1" },
        scope: "group",
        place: "guild",
      },
      session: { sessionFile: "session-a.jsonl", settledBytes: 700 },
      model: "fake/two",
    },
  ]);
});

test.each<[string, UpcomingTurn | null]>([
  ["is not stored yet", null],
  ["has not seen the end of a turn", { ...STORED, sessionFile: { name: "session-a.jsonl", settledBytes: 0 } }],
])("a session that %s needs a process alone", async (_name, stored) => {
  const { state, asked, hint } = world();
  state.stored = stored;
  await hint();
  expect(asked).toMatchObject([{ session: null }]);
});

test.each<[string, (one: ReturnType<typeof world>) => unknown, string]>([
  ["a person without access", ({ state }) => (state.role = null), "unknown_sender"],
  ["a guest", ({ state }) => (state.role = "guest"), "guest"],
  ["a session that lives elsewhere", ({ state }) => (state.isHome = false), "home_elsewhere"],
  ["a session with a turn", ({ state }) => state.busy.add("agent:helper:webchat:dm:1"), "turn_under_way"],
  ["a gateway that stops", ({ stopping }) => stopping.abort(), "stopping"],
])("a hint prepares nothing for %s", async (_name, change, because) => {
  const one = world();
  change(one);
  expect(await one.hint()).toEqual(nothing(because));
  expect(one.asked).toEqual([]);
});

test("hints about one session are followed once in a while, and those about others meanwhile", async () => {
  const { asked, hint, clock } = world();
  await hint("1");
  expect(await hint("1")).toEqual(nothing("asked_a_moment_ago"));
  await hint("2");
  await clock.advance(HINT_EVERY_MS);
  await hint("1");
  expect(asked.map(({ caller }) => caller.origin.chat)).toEqual(["1", "2", "1"]);
});

test("two hints are followed at a time, and the next one when one of them is over", async () => {
  const { state, hint } = world();
  const held = deferred<void>();
  state.over = held.promise;
  await hint("1");
  await hint("2");
  expect(await hint("3")).toEqual(nothing("enough_under_way"));
  held.resolve();
  await held.promise;
  expect(await hint("3")).toMatchObject({ prepares: "session" });
});

test("a thousand sessions are remembered; of more, the oldest is forgotten, so that nobody's flood of names stops the hints of others", async () => {
  const { hint } = world();
  for (let at = 0; at < 1_000; at++) await hint(`${at}`);
  expect(await hint("one more")).toMatchObject({ prepares: "session" });
  expect(await hint("999")).toEqual(nothing("asked_a_moment_ago"));
  expect(await hint("0")).toMatchObject({ prepares: "session" });
});

test("a hint that fails says why, and keeps no place", async () => {
  const { state, hint } = world();
  state.fails = true;
  for (const chat of ["1", "2", "3"]) expect(await hint(chat)).toEqual(nothing("agent_unknown"));
});
