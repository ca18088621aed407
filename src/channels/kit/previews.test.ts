/** What previews have in common on every platform: which turn is shown where, and what is taken away when no reply follows. */
import { describe, expect, test } from "bun:test";
import type { InboxId, SessionKey, TurnId } from "../../contracts/ids.ts";
import { createEvents } from "../../observe/index.ts";
import { createFakeClock } from "../../testing/fake-clock.ts";
import { keptPerRound } from "../../testing/memory-growth.ts";
import { recordingLog } from "../../testing/recording-log.ts";
import { waitForEnd } from "../../testing/wait-for.ts";
import { startLeftPreviews } from "./left-previews.ts";
import type { PreviewPlatform } from "./preview-platform.ts";
import { startPreviews } from "./previews.ts";
import { emptyView, hearTurns, type TurnView } from "./turn-views.ts";

const sessionKey = "agent:default:parlour:dm:1" as SessionKey;
const turnId = "turn_1" as TurnId;
const inbox = (n: number) => `in_${n}` as InboxId;

describe("the views of running turns", () => {
  function world() {
    const events = createEvents({ log: recordingLog() });
    const shown: string[] = [];
    const views = new Map<TurnId, TurnView>();
    const heard = hearTurns<string>(events, {
      maxChars: 10,
      begun: () => undefined,
      show(id, spot) {
        shown.push(spot);
        views.set(id, emptyView());
      },
      viewOf: (id) => views.get(id),
      over: (id) => void views.delete(id),
    });
    const start = (...inboxIds: InboxId[]): void =>
      events.emit("turn.started", { sessionKey, turnId, inboxIds, attempt: 1, waitedMs: 0 });
    const say = (text: string): void => events.emit("turn.delta", { sessionKey, turnId, text });
    const wait = (text: string): void => events.emit("turn.waiting", { sessionKey, turnId, text } as never);
    const end = (...inboxIds: InboxId[]): void => events.emit("turn.ended", { sessionKey, turnId, inboxIds } as never);
    return { heard, shown, views, start, say, wait, end, view: () => views.get(turnId) };
  }

  test("a turn is shown where its newest message came from", () => {
    const at = world();
    at.heard.expect(inbox(1), "here");
    at.heard.expect(inbox(2), "there");
    at.start(inbox(1), inbox(2), inbox(3));
    expect(at.shown).toEqual(["there"]);
  });

  test("a turn that began before its place was known is shown as soon as it is, and not after its end", () => {
    const at = world();
    at.start(inbox(1));
    at.heard.expect(inbox(1), "here");
    expect(at.shown).toEqual(["here"]);
    const late = world();
    late.start(inbox(1));
    late.end(inbox(1));
    late.heard.expect(inbox(1), "here");
    expect(late.shown).toEqual([]);
  });

  test("what a turn said is void when it begins again", () => {
    const at = world();
    at.heard.expect(inbox(1), "here");
    at.start(inbox(1));
    at.say("half");
    at.start(inbox(1));
    at.say("whole");
    expect([at.shown, at.view()?.text]).toEqual([["here"], "whole"]);
  });

  test("a turn waits until it says something, and more than is looked at is not kept", () => {
    const at = world();
    at.heard.expect(inbox(1), "here");
    at.start(inbox(1));
    at.wait("the provider");
    expect(at.view()?.waiting).toBe("the provider");
    for (let n = 0; n < 5; n++) at.say("0123456");
    expect(at.view()).toMatchObject({ waiting: "", text: "01234560123456" });
  });

  test("nothing is heard any more after the end", () => {
    const at = world();
    at.heard.expect(inbox(1), "here");
    at.heard[Symbol.dispose]();
    at.start(inbox(1));
    expect(at.shown).toEqual([]);
  });
});

describe("a preview that no reply has taken over", () => {
  const START_MS = 20_000;
  const AGAIN_MS = 60_000;
  const DEDUPE_MS = 100_000;

  const to = { channel: "parlour", account: "main", chat: "1" };
  const shown = (taken = false) => JSON.stringify({ to, where: "1", message: "7", begunAt: 0, taken });

  async function world(note: string | null = shown(), find: (() => Promise<string | null>) | null = null) {
    const clock = createFakeClock();
    const kept = new Map(note === null ? [] : [[`preview:${turnId}`, note]]);
    const state = {
      owed: false,
      owedElsewhere: false,
      held: true,
      failing: null as Error | null,
      removed: 0,
      removal: null as ((signal: AbortSignal) => Promise<void>) | null,
      forgets: true,
    };
    const stop = new AbortController();
    const log = recordingLog();
    const facts = {
      get: async (key: string) => kept.get(key) ?? null,
      put: async (key: string, value: string) => void kept.set(key, value),
      async forget(key: string) {
        if (!state.forgets) throw new Error("disk full");
        kept.delete(key);
      },
      list: async () => [...kept].map(([key, value]) => ({ key, value })),
    };
    const left = startLeftPreviews(
      {
        clock,
        log,
        facts,
        replies: { owes: () => state.owed, isOwed: async () => state.owedElsewhere, isHeld: () => state.held },
      },
      {
        removal: { startMs: START_MS, againMs: AGAIN_MS, maxTries: 3 },
        repeat: find && { dedupeMs: DEDUPE_MS, find },
        async remove(_message, signal) {
          await state.removal?.(signal);
          if (state.failing) throw state.failing;
          state.removed++;
        },
        failureOf: (error) => {
          const words = error instanceof Error ? error.message : "";
          return words === "refused" || words === "gone" ? { kind: words } : { kind: "later", pauseMs: 0 };
        },
      },
      stop.signal,
    );
    await clock.advance(0);
    return { clock, kept, state, left, stop, log, facts };
  }

  test.each([
    ["goes after a start", {}, 1, 0],
    ["stays while something is owed to its chat", { owed: true }, 0, 1],
    ["stays while another gateway has its turn, or its reply", { owedElsewhere: true }, 0, 1],
    ["stays while another gateway may have taken over", { held: false }, 0, 1],
    ["stays noted while the platform cannot be reached", { failing: new Error("offline") }, 0, 1],
    ["is forgotten when the platform refuses for good", { failing: new Error("refused") }, 0, 0],
    ["is forgotten when somebody else has deleted it", { failing: new Error("gone") }, 0, 0],
  ])("%s", async (_rule, how, removed, notes) => {
    const at = await world();
    Object.assign(at.state, how);
    await at.clock.advance(START_MS - 1);
    expect([at.state.removed, at.kept.size]).toEqual([0, 1]);
    await at.clock.advance(1);
    expect([at.state.removed, at.kept.size]).toEqual([removed, notes]);
  });

  test.each([
    ["may be shown, nobody knows where", JSON.stringify({ to, where: "1", message: null, begunAt: 0, taken: false })],
    ["may hold the whole reply", shown(true)],
  ])(
    "and that %s stays noted while another gateway has its reply: that would send a second one",
    async (_what, note) => {
      const at = await world(note);
      at.state.owedElsewhere = true;
      await at.clock.advance(START_MS);
      expect(at.kept.size).toBe(1);
      at.state.owedElsewhere = false;
      await at.clock.advance(AGAIN_MS);
      expect([at.state.removed, at.kept.size]).toEqual([0, 0]);
    },
  );

  test("is the reply, and stays, when that was written into it while it was looked at", async () => {
    const at = await world();
    const delivered = (): boolean => {
      at.kept.clear(); // the reply was owed a moment ago
      return false;
    };
    Object.defineProperty(at.state, "owed", { get: delivered });
    await at.clock.advance(START_MS);
    expect([at.state.removed, at.kept.size, at.log.lines]).toEqual([0, 0, []]);
  });

  test("is not looked for after a turn that showed nothing: no timer is left", async () => {
    const at = await world(null);
    at.left.begun(turnId);
    await at.left.over(turnId, null);
    expect(at.clock.pending()).toBe(0);
  });

  test("is only forgotten when another version noted it in a way that cannot be read", async () => {
    const at = await world("7@11");
    await at.clock.advance(START_MS);
    expect([at.state.removed, at.kept.size]).toEqual([0, 0]);
  });

  test("goes after a start with all others: none waits for one that is owed something", async () => {
    const at = await world(null);
    for (const turn of ["turn_8", "turn_9"]) at.kept.set(`preview:${turn}`, shown());
    const removed: string[] = [];
    const left = startLeftPreviews(
      {
        clock: at.clock,
        log: at.log,
        facts: at.facts,
        replies: { owes: () => false, isOwed: async () => false, isHeld: () => true },
      },
      {
        removal: { startMs: START_MS, againMs: AGAIN_MS, maxTries: 3 },
        repeat: null,
        remove: async ({ message }) => void removed.push(message),
        failureOf: () => ({ kind: "gone" }),
      },
      at.stop.signal,
    );
    await at.clock.advance(START_MS);
    expect([removed, at.kept.size]).toEqual([["7", "7"], 0]);
    await left.settled();
  });

  test("is tried again, and given up after some tries", async () => {
    const at = await world();
    at.state.owed = true;
    await at.clock.advance(START_MS + AGAIN_MS);
    at.state.owed = false;
    await at.clock.advance(AGAIN_MS);
    expect(at.state.removed).toBe(1);
    const never = await world();
    never.state.owed = true;
    await never.clock.advance(START_MS + 2 * AGAIN_MS);
    never.state.owed = false;
    await never.clock.advance(10 * AGAIN_MS);
    expect(never.state.removed).toBe(0);
  });

  test("leaves nothing in memory, whether it is removed, given up or claimed by a reply", async () => {
    const at = await world(null);
    const round = async (number: number): Promise<void> => {
      for (const end of ["removed", "given up", "claimed"]) {
        const id = `turn_${number}_${end}` as TurnId;
        const key = `preview:${id}`;
        at.kept.set(key, shown());
        at.state.owed = end === "given up";
        at.left.begun(id);
        void at.left.over(id, Promise.resolve());
        await at.clock.advance(AGAIN_MS - 1);
        if (end === "claimed") await at.left.claim(id);
        await at.clock.advance(3 * AGAIN_MS);
        expect(at.kept.has(key)).toBe(end !== "removed");
        at.kept.delete(key);
      }
    };
    expect(await keptPerRound(round)).toEqual({});
  });

  describe("and whose number was never heard", () => {
    const unknown = (begunAt = 0) => JSON.stringify({ to, where: "1", message: null, begunAt, taken: false });

    test("is searched for once where the platform can find it, and removed in the end", async () => {
      let finds = 0;
      const clock = createFakeClock();
      const at = await world(unknown(clock.now()), async () => (finds++, "7"));
      at.state.failing = new Error("offline");
      await at.clock.advance(START_MS);
      expect([finds, JSON.parse([...at.kept.values()][0] ?? "").message]).toEqual([1, "7"]);
      at.state.failing = null;
      await at.clock.advance(AGAIN_MS);
      expect([finds, at.state.removed, at.kept.size]).toEqual([1, 1, 0]);
    });

    test.each([
      ["cannot be searched for", 0, null],
      ["was sent too long ago to be searched for", 0, async () => "7"],
    ])("is left, and forgotten, when it %s", async (_rule, begunAt, find) => {
      const at = await world(unknown(begunAt), find);
      await at.clock.advance(START_MS);
      expect([at.state.removed, at.kept.size]).toEqual([0, 0]);
    });
  });

  test("that cannot be forgotten keeps no reply waiting that claims it", async () => {
    const at = await world();
    at.state.forgets = false;
    const removing = Promise.withResolvers<void>();
    at.state.removal = () => removing.promise;
    await at.clock.advance(START_MS);
    const claim = at.left.claim(turnId);
    removing.resolve();
    await waitForEnd("the claim", claim);
    expect(at.state.removed).toBe(1);
  });

  test("is only forgotten when its reply may stand in it", async () => {
    const at = await world(shown(true));
    await at.clock.advance(START_MS);
    expect([at.state.removed, at.kept.size]).toEqual([0, 0]);
  });

  test("stays while its turn is tried again, and goes a while after the end", async () => {
    const at = await world();
    at.left.begun(turnId);
    await at.clock.advance(10 * START_MS);
    expect(at.state.removed).toBe(0);
    void at.left.over(turnId, null);
    await at.clock.advance(AGAIN_MS - 1);
    expect(at.state.removed).toBe(0);
    await at.clock.advance(1);
    expect(at.state.removed).toBe(1);
  });

  test("is left alone from the moment a reply claims it, and waits again when that reply is refused", async () => {
    const at = await world();
    await at.left.claim(turnId);
    await at.clock.advance(10 * AGAIN_MS);
    expect(at.state.removed).toBe(0);
    at.left.release(turnId);
    await at.clock.advance(AGAIN_MS - 1);
    expect(at.state.removed).toBe(0);
    await at.clock.advance(1);
    expect(at.state.removed).toBe(1);
  });

  test("of a turn that ended here goes when the turn is quiet, and at once when it stands in the way", async () => {
    const at = await world(null);
    at.kept.set(`preview:${turnId}`, shown());
    const quiet = Promise.withResolvers<void>();
    void at.left.over(turnId, quiet.promise);
    await at.clock.advance(2 * AGAIN_MS);
    expect(at.state.removed).toBe(0);
    quiet.resolve();
    await at.clock.advance(AGAIN_MS);
    expect(at.state.removed).toBe(1);
    at.kept.set(`preview:${turnId}`, shown());
    at.state.owed = true;
    await at.left.remove(turnId);
    expect(at.state.removed).toBe(2);
  });

  test("that is being removed keeps a reply waiting that claims it, so that the reply is not written into what is gone", async () => {
    const at = await world();
    const removing = Promise.withResolvers<void>();
    at.state.removal = () => removing.promise;
    await at.clock.advance(START_MS);
    let claimed = false;
    const claim = at.left.claim(turnId).then(() => (claimed = true));
    await at.clock.advance(1_000);
    expect(claimed).toBe(false);
    removing.resolve();
    await claim;
    expect([at.state.removed, at.kept.size]).toEqual([1, 0]);
  });

  test("whose removal is broken off by the end of the channel keeps its note, whatever the platform said", async () => {
    const at = await world();
    at.state.failing = new Error("refused");
    at.state.removal = (signal) =>
      new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
    await at.clock.advance(START_MS);
    at.stop.abort(new Error("closing"));
    await waitForEnd("the end of the removal", at.left.settled());
    expect([at.state.removed, at.kept.size]).toEqual([0, 1]);
  });

  test("is left to the next process when the channel closes", async () => {
    const at = await world();
    at.stop.abort(new Error("closing"));
    await at.left.settled();
    await at.clock.advance(START_MS);
    expect([at.state.removed, at.kept.size]).toEqual([0, 1]);
  });
});

describe("a reply whose turn was shown by the process before", () => {
  const to = { channel: "parlour", account: "main", chat: "1" };
  const note = { to, where: "1", message: "7", begunAt: 0, taken: false };

  async function takenWhere(now: string, given: object | null) {
    const key = `preview:${turnId}`;
    const kept = new Map(given === null ? [] : [[key, JSON.stringify(given)]]);
    const facts = {
      get: async (name: string) => kept.get(name) ?? null,
      put: async (name: string, value: string) => void kept.set(name, value),
      forget: async (name: string) => void kept.delete(name),
      list: async () => [...kept].map(([name, value]) => ({ key: name, value })),
    };
    const log = recordingLog();
    const deps = {
      clock: createFakeClock(),
      log,
      facts,
      events: createEvents({ log }),
      replies: { owes: () => false, isOwed: async () => false, isHeld: () => true },
    };
    const removal = { startMs: 20_000, againMs: 60_000, maxTries: 3 };
    const platform = { removal, repeat: null, where: () => now } as unknown as PreviewPlatform<string>;
    await using previews = startPreviews(deps, platform, "partial");
    const taken = await previews.take(turnId, to);
    const left = kept.get(key);
    return { ...taken, noted: left === undefined ? null : (JSON.parse(left) as { taken: boolean }).taken };
  }

  test.each([
    ["is written into the message of its preview", "1", note, { message: "7", inDoubt: false, noted: true }],
    [
      "has a message of its own where its chat is called something else now, because messages have other numbers there",
      "-100",
      note,
      { message: null, inDoubt: false, noted: true },
    ],
    [
      "may stand beside a preview whose number was never heard",
      "1",
      { ...note, message: null },
      { message: null, inDoubt: true, noted: true },
    ],
    ["has a message of its own when nothing was shown", "1", null, { message: null, inDoubt: false, noted: null }],
  ])("%s", async (_rule, now, given, expected) => {
    expect(await takenWhere(now, given)).toEqual({ ...expected, shown: null });
  });
});
