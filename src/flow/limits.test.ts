/** What the flow remembers in memory: to its limit, the newest of it, and nothing that has ended. */
import { describe, expect, test } from "bun:test";
import type { Caller } from "../contracts/agent.ts";
import type { Channel } from "../contracts/channel.ts";
import type { AgentId, InboxId, Principal, SessionKey, TurnId } from "../contracts/ids.ts";
import type { Batch } from "../contracts/queue.ts";
import { silentLog } from "../kit/log.ts";
import { createEvents } from "../observe/index.ts";
import { createFakeClock } from "../testing/fake-clock.ts";
import { keptPerRound } from "../testing/memory-growth.ts";
import { inbound } from "../testing/messages.ts";
import { recordingLog } from "../testing/recording-log.ts";
import { createSeqIds } from "../testing/seq-ids.ts";
import { waitForEnd } from "../testing/wait-for.ts";
import { createGroupTalk } from "./intake/group-talk.ts";
import { createReactionWakes, JOIN_MS, WAKE_EVERY_MS } from "./intake/reaction-wakes.ts";
import { createTurnContext } from "./prompt/turn-context.ts";
import { MAX_NOTE_CHARS, MAX_NOTES_PER_TURN } from "./questions/notes.ts";
import { createQuestions } from "./questions/questions.ts";

const NEVER = new AbortController().signal;
const ANN = { principal: "telegram:user:1" as Principal, name: "Ann" };
const HERE = { channel: "telegram", account: "default", chat: "1" };
const callerOf = (turnId: string, session = "1"): Caller => ({
  sessionKey: `agent:default:telegram:dm:${session}` as SessionKey,
  turnId: turnId as TurnId,
  agentId: "default" as AgentId,
  principal: ANN.principal,
  role: "member",
  origin: HERE,
});

interface Memory {
  /** How many are remembered. */
  readonly size: number;
  /** Something happens with this one, so that it is the newest. */
  touch(name: string): void | Promise<void>;
  /** Whether it is still remembered. */
  knows(name: string): boolean | Promise<boolean>;
}

function notes(): Memory {
  const shown: string[] = [];
  const poster = { post: async ({ turnId }: { turnId: string }) => (shown.push(turnId), { kind: "posted", id: "p" }) };
  const deps = { clock: createFakeClock(), log: silentLog, events: createEvents({ log: silentLog }) };
  const questions = createQuestions(
    { ...deps, ids: createSeqIds(), poster: poster as never, channels: { get: () => undefined } },
    () => ({ waitMs: 1 }),
  );
  const tell = (name: string) => questions.tell({ text: "note", level: "info" }, callerOf(name));
  return {
    size: 1_000,
    async touch(name) {
      for (let note = 0; note < MAX_NOTES_PER_TURN; note++) await tell(name);
    },
    async knows(name) {
      const before = shown.length;
      await tell(name);
      return shown.length === before;
    },
  };
}

function conversations(): Memory {
  const context = createTurnContext({ clock: createFakeClock(), ids: createSeqIds() }, { zone: "UTC" });
  let settledBytes = 0;
  const batch = (name: string): Batch =>
    ({
      sessionKey: "s",
      role: "owner",
      entries: [{ id: "in_1" as InboxId, message: inbound("hello") }],
      sessionFile: { name, settledBytes: ++settledBytes },
    }) as unknown as Batch;
  return {
    size: 2_000,
    touch: (name) => void context.tell(batch(name), ["something new"]),
    knows: (name) => !(context.tell(batch(name)) ?? "").includes("time:"),
  };
}

function groups(): Memory {
  const talk = createGroupTalk({ clock: createFakeClock() }, () => ({ messages: 3, minutes: 10, chars: 1_000 }));
  const place = (name: string) => ({ ...HERE, chat: name });
  let count = 0;
  return {
    size: 1_000,
    touch(name) {
      const said = { eventId: `e${++count}`, text: "talk", at: createFakeClock().now() };
      talk.note({ address: place(name), scope: "group", mentioned: false, kind: "message", sender: ANN, said });
    },
    knows: (name) => talk.tell({ address: place(name) }, "t" as TurnId).length > 0,
  };
}

describe.each<[string, () => Memory]>([
  ["turns that showed notes", notes],
  ["conversations that were told the facts", conversations],
  ["groups that talked", groups],
])("of %s", (_what, create) => {
  test("as many are remembered as the limit says, and the oldest is forgotten with one more", async () => {
    const { size, touch, knows } = create();
    for (let one = 0; one < size; one++) await touch(`${one}`);
    expect(await knows("1")).toBe(true);
    for (let more = 0; more < 2; more++) await touch(`more ${more}`);
    expect(await knows("0")).toBe(false);
  });

  test("those in use stay, however many others come", async () => {
    const { size, touch, knows } = create();
    await touch("used");
    for (let one = 1; one < size; one++) await touch(`${one}`);
    await touch("used");
    for (let one = 1; one < size; one++) await touch(`later ${one}`);
    expect(await knows("used")).toBe(true);
  });
});

test("a group that has gone silent leaves nothing behind, and its last words are kept for all of their minutes", async () => {
  const clock = createFakeClock();
  const talk = createGroupTalk({ clock }, () => ({ messages: 3, minutes: 10, chars: 1_000 }));
  const round = async (number: number): Promise<void> => {
    const address = { ...HERE, chat: `group ${number}` };
    const said = { eventId: "e", text: "talk", at: clock.now() };
    talk.note({ address, scope: "group", mentioned: false, kind: "message", sender: ANN, said });
    await clock.advance(10 * 60_000);
    expect(talk.tell({ address }, "t" as TurnId)).toHaveLength(1);
    await clock.advance(1);
    expect(talk.tell({ address }, "t" as TurnId)).toEqual([]);
  };
  expect(await keptPerRound(round)).toEqual({});
});

test("a session whose questions are over leaves nothing behind, however they ended", async () => {
  const clock = createFakeClock();
  let shown = 0;
  const show = async () => (shown++, { messageId: "m", close: async () => undefined });
  const board = { maxButtons: 9, maxLabelChars: 60, show };
  const questions = createQuestions(
    {
      clock,
      log: silentLog,
      events: createEvents({ log: silentLog }),
      ids: { ...createSeqIds() },
      poster: { post: async () => ({ kind: "posted", id: "p" }) } as never,
      channels: { get: () => ({ questions: board }) as unknown as Channel },
    },
    () => ({ waitMs: 1_000 }),
  );
  const round = async (number: number): Promise<void> => {
    const stop = new AbortController();
    const asked = [0, 1, 2].map((at) =>
      questions.ask(
        { kind: "input", title: "Your name?" },
        callerOf(`t${at}`, `${number}`),
        at === 1 ? stop.signal : NEVER,
      ),
    );
    stop.abort();
    await clock.advance(1_000);
    await clock.advance(1_000);
    expect(await waitForEnd("the end of the questions", Promise.all(asked))).toEqual(Array(3).fill({ kind: "none" }));
    expect(shown).toBe(2 * (number + 1)); // the other was stopped while it waited in line
  };
  expect([await keptPerRound(round), clock.pending()]).toEqual([{}, 0]);
});

test.each([
  [0, ""],
  [1, "…"],
])("a note of the longest size and %d characters more ends with %p", async (more, end) => {
  const posts: string[] = [];
  const poster = { post: async ({ message }: { message: { text: string } }) => void posts.push(message.text) };
  const deps = { clock: createFakeClock(), log: silentLog, events: createEvents({ log: silentLog }) };
  const questions = createQuestions(
    { ...deps, ids: createSeqIds(), poster: poster as never, channels: { get: () => undefined } },
    () => ({ waitMs: 1 }),
  );
  await questions.tell({ text: "x".repeat(MAX_NOTE_CHARS + more), level: "info" }, callerOf("t"));
  expect(posts).toEqual([`${"x".repeat(MAX_NOTE_CHARS)}${end}`]);
});

describe("reactions that begin turns", () => {
  function world(put: () => Promise<unknown> = async () => ({ kind: "queued" }), clock = createFakeClock()) {
    const log = recordingLog();
    const texts: string[] = [];
    const wakes = createReactionWakes({
      clock,
      log,
      receiver: {
        put: async ({ message }: { message: { text: string } }) => (texts.push(message.text), put()),
      } as never,
      sessionChats: { at: async () => ({ to: HERE, scope: "dm", agentId: "default" as AgentId }) as never },
      mayWake: () => true,
      stopping: NEVER,
    });
    const react = (session: string) =>
      wakes.note({
        reaction: { address: HERE, scope: "dm", sender: ANN, messageId: "1", how: "set", emoji: ["👍"] },
        role: "member",
        message: { id: "p1", sessionKey: session as SessionKey, added: ["👍"] },
      } as never);
    return { clock, log, texts, react };
  }

  test("name five of a burst and count the others", async () => {
    const at = world();
    for (let one = 0; one < 7; one++) at.react("a");
    await at.clock.advance(JOIN_MS);
    expect(at.texts.map((text) => text.split("Ann reacted").length - 1)).toEqual([5]);
    expect(at.texts[0]).toEndWith("2 more reactions came.)");
  });

  test("begin one a minute in a session, and the next exactly after that minute", async () => {
    const at = world();
    at.react("a");
    await at.clock.advance(WAKE_EVERY_MS - 1);
    at.react("a");
    await at.clock.advance(1);
    at.react("a");
    await at.clock.advance(JOIN_MS);
    expect(at.texts).toHaveLength(2);
  });

  test("begin none in further sessions while ten thousand are remembered, and do again when those are forgotten", async () => {
    const clock = createFakeClock();
    let begun = 0;
    const sleep = () => new Promise<void>(() => void begun++); // the fake clock is slow with so many timers
    const at = world(undefined, { ...clock, sleep });
    for (let session = 0; session <= 10_000; session++) at.react(`s${session}`);
    expect(begun).toBe(10_000);
    await clock.advance(WAKE_EVERY_MS);
    at.react("another");
    expect(begun).toBe(10_001);
  });

  test("that cannot be stored are told in the log, and hurt nobody", async () => {
    const at = world(() => Promise.reject(new Error("the disk is full")));
    at.react("a");
    await at.clock.advance(JOIN_MS);
    expect(at.log.lines.map(({ words }) => words)).toEqual(["a reaction could not begin a turn"]);
  });
});
