/** A turn that is shown while it is answered: its pace, each failure of its platform, its reply, and the end. */
import { describe, expect, test } from "bun:test";
import type { InboxId, TurnId } from "../../contracts/ids.ts";
import {
  AGAIN_MS,
  FIRST_MS,
  GAP_MS,
  previewBench,
  type PreviewBenchOptions,
  settle,
  to,
  turnId,
  TYPING_MS,
} from "../../testing/channels/preview-bench.ts";
import { keptPerRound } from "../../testing/memory-growth.ts";
import type { PreviewFailure } from "./preview-platform.ts";

type World = ReturnType<typeof previewBench>;

/** A turn whose first words are shown. */
async function shown(options: PreviewBenchOptions = {}): Promise<World> {
  const at = previewBench(options);
  await at.start();
  at.say("a");
  await settle(at.clock, FIRST_MS);
  return at;
}

/** A turn whose first words are being sent: the platform has not answered yet. */
async function beingSent(options: PreviewBenchOptions = {}): Promise<World> {
  const at = previewBench(options);
  at.state.holding = "send";
  await at.start();
  at.say("a");
  await settle(at.clock, FIRST_MS);
  return at;
}

describe("a turn that is shown", () => {
  test("types until there is something to read, and is edited at the pace of its platform from then on", async () => {
    const at = previewBench();
    await at.start();
    await settle(at.clock, TYPING_MS);
    expect(at.calls).toEqual(["type", "type"]);
    at.say("a");
    await settle(at.clock, FIRST_MS + 4 * GAP_MS - TYPING_MS); // it looks every second from the first moment on
    expect(at.written()).toEqual(["send a"]);
    at.say("b");
    await settle(at.clock, GAP_MS - 1);
    expect(at.written()).toEqual(["send a"]);
    await settle(at.clock, 1);
    expect(at.written()).toEqual(["send a", "edit 1/m1 ab"]);
    await settle(at.clock, 10 * GAP_MS);
    expect(at.calls.slice(2)).toEqual(["send a", "edit 1/m1 ab"]); // nothing new to read, and no typing below it
    expect(at.writes).toHaveLength(2); // before it was sent, and when its message was known
    await at.stop();
    expect([at.clock.pending(), at.listening()]).toEqual([0, 0]);
  });

  test("hears six thousand characters of an answer, and no more", async () => {
    const at = previewBench();
    await at.start();
    at.say("x".repeat(5_999));
    at.say("y");
    at.say("z".repeat(5_000));
    await settle(at.clock, FIRST_MS);
    expect(at.written()).toEqual([`send ${"x".repeat(5_999)}y`]);
    await at.stop();
  });

  test("goes on typing when that is refused now and then", async () => {
    const at = previewBench();
    at.state.failing["type"] = { kind: "refused" };
    await at.start();
    await settle(at.clock, TYPING_MS);
    expect(at.calls).toEqual(["type", "type"]);
    await at.stop();
  });

  test("is edited a while after it was sent, also when more was said while it was sent", async () => {
    const at = await beingSent();
    at.say("b");
    at.letGo();
    await settle(at.clock, GAP_MS - 1);
    expect(at.written()).toEqual(["send a"]);
    await settle(at.clock, 1);
    expect(at.written()).toEqual(["send a", "edit 1/m1 ab"]);
    await at.stop();
  });

  test("is noted before it is sent, and its message when that is known", async () => {
    const at = await beingSent();
    expect(at.noted()).toMatchObject({ to, where: "1", message: null, taken: false });
    at.letGo();
    await settle(at.clock);
    expect(at.noted()).toMatchObject({ message: "m1", taken: false });
    await at.stop();
  });

  test("types only, where nothing is to be shown", async () => {
    const at = await shown({ mode: "off" });
    await settle(at.clock, 10 * GAP_MS);
    expect([at.written(), at.kept.size]).toEqual([[], 0]);
    await at.stop();
  });

  test("waits for the pause that its platform wants", async () => {
    const at = previewBench();
    at.state.cooldownMs = 5_000;
    await at.start();
    at.say("a");
    await settle(at.clock, 4_999);
    expect(at.calls).toEqual([]);
    at.state.cooldownMs = 0;
    await settle(at.clock, 1);
    expect(at.written()).toEqual(["send a"]);
    await at.stop();
  });

  test("waits for what is owed to its chat, and looks again soon", async () => {
    const at = previewBench();
    at.state.owed = true;
    await at.start();
    at.say("a");
    await settle(at.clock, FIRST_MS);
    expect(at.written()).toEqual([]);
    at.state.owed = false;
    await settle(at.clock, 300);
    expect(at.written()).toEqual(["send a"]);
    at.state.owed = true; // what is shown already is not in the way of anything
    at.say("b");
    await settle(at.clock, GAP_MS);
    expect(at.written()).toEqual(["send a", "edit 1/m1 ab"]);
    await at.stop();
  });

  test("has a message of its own where its chat is called something else now", async () => {
    const at = await shown();
    at.state.where = "-100";
    at.say("b");
    await settle(at.clock, GAP_MS);
    expect([at.written(), at.noted()]).toMatchObject([["send a", "send ab"], { where: "-100", message: "m2" }]);
    await at.stop();
  });

  test("goes on in the message of the process before, and shows nothing beside one that may be there", async () => {
    const note = { to, where: "1", message: "m9", begunAt: 0, taken: false };
    const known = await shown({ note });
    expect(known.written()).toEqual(["edit 1/m9 a"]);
    await known.stop();
    const doubtful = await shown({ note: { ...note, message: null } });
    await settle(doubtful.clock, 10 * GAP_MS);
    expect(doubtful.written()).toEqual([]);
    await doubtful.stop();
  });
});

/** Calls, and the message in the note: null: not known; undefined: nothing is noted. */
interface Shown {
  readonly calls: string[];
  readonly message: string | null | undefined;
}

describe("a preview that could not be shown", () => {
  const later = { kind: "later", pauseMs: 5_000 } as const;
  test.each<[string, PreviewFailure, number, Shown]>([
    ["is sent again after the pause", later, 5_000, { calls: ["send a", "send a"], message: "m1" }],
    ["is not sent again within the pause", later, 4_999, { calls: ["send a"], message: undefined }],
    ["is sent again when it is not there", { kind: "gone" }, GAP_MS, { calls: ["send a", "send a"], message: "m1" }],
    ["is not sent again when it was refused", { kind: "refused" }, 60_000, { calls: ["send a"], message: undefined }],
    ["is not sent again when it may be there", { kind: "lost" }, 60_000, { calls: ["send a"], message: null }],
  ])("at first %s", async (_rule, failure, ms, expected) => {
    const at = previewBench();
    at.state.failing["send"] = failure;
    await at.start();
    at.say("a");
    await settle(at.clock, FIRST_MS);
    await settle(at.clock, ms);
    expect({ calls: at.written(), message: at.noted()?.message }).toEqual(expected);
    await at.stop();
  });

  test("at first, and may be there, is sent again where the platform recognises it", async () => {
    const at = previewBench({ recognises: true });
    at.state.failing["send"] = { kind: "lost" };
    await at.start();
    at.say("a");
    await settle(at.clock, FIRST_MS + GAP_MS);
    expect([at.written(), at.noted()?.message]).toEqual([["send a", "send a"], "m1"]);
    await at.stop();
  });

  test("at first, and may be there, stays noted when the repeat of it is refused for now, and waits for what is owed", async () => {
    const at = previewBench({ recognises: true });
    at.state.failing["send"] = { kind: "lost" };
    await at.start();
    at.say("a");
    await settle(at.clock, FIRST_MS);
    at.state.failing["send"] = { kind: "later", pauseMs: 0 };
    await settle(at.clock, GAP_MS);
    expect([at.written(), at.noted()?.message]).toEqual([["send a", "send a"], null]);
    at.state.owed = true;
    await settle(at.clock, 5 * GAP_MS);
    expect(at.written()).toEqual(["send a", "send a"]);
    await at.stop();
  });

  test("at first is sent again although the disk does not forget it", async () => {
    const at = previewBench();
    Object.assign(at.state, { forgets: false, failing: { send: later } });
    await at.start();
    at.say("a");
    await settle(at.clock, FIRST_MS);
    await settle(at.clock, 5_000);
    expect(at.written()).toEqual(["send a", "send a"]);
    await at.stop();
  });

  test("anew, after an edit that nobody knows of and a message that is gone, is sent again", async () => {
    const at = await shown();
    at.state.failing["edit"] = { kind: "lost" };
    at.say("b");
    await settle(at.clock, GAP_MS);
    Object.assign(at.state.failing, { edit: { kind: "gone" }, send: { kind: "later", pauseMs: 0 } });
    for (let turn = 0; turn < 3; turn++) await settle(at.clock, GAP_MS);
    expect([at.written().slice(3), at.noted()?.message]).toEqual([["send ab", "send ab"], "m2"]);
    await at.stop();
  });

  const EDIT = "edit 1/m1 ab";
  test.each<[string, PreviewFailure, number, Shown]>([
    ["is tried again after the pause", later, 5_000, { calls: [EDIT, EDIT], message: "m1" }],
    ["is not tried again within the pause", later, 4_999, { calls: [EDIT], message: "m1" }],
    ["is sent anew when its message is gone", { kind: "gone" }, GAP_MS, { calls: [EDIT, "send ab"], message: "m2" }],
    ["is left as it is when it was refused", { kind: "refused" }, 60_000, { calls: [EDIT], message: "m1" }],
    ["is tried again when nobody knows", { kind: "lost" }, GAP_MS, { calls: [EDIT, EDIT], message: "m1" }],
    ["is left as it is when it says that already", { kind: "unchanged" }, 60_000, { calls: [EDIT], message: "m1" }],
  ])("with more words %s", async (_rule, failure, ms, expected) => {
    const at = await shown();
    at.state.failing["edit"] = failure;
    at.say("b");
    await settle(at.clock, GAP_MS);
    await settle(at.clock, ms);
    expect({ calls: at.written().slice(1), message: at.noted()?.message }).toEqual(expected);
    await at.stop();
  });
});

describe("a turn that is shown by a gateway that was not heard of for too long", () => {
  test("is not written to: another gateway may have its reply in that message", async () => {
    const at = await shown();
    at.state.held = false;
    at.say("b");
    await settle(at.clock, 10 * GAP_MS);
    expect(at.written()).toEqual(["send a"]);
    at.state.held = true;
    await settle(at.clock, GAP_MS);
    expect(at.written()).toEqual(["send a", "edit 1/m1 ab"]);
    await at.stop();
  });

  test("is not sent when the process froze over the note about it, and nothing is in doubt", async () => {
    const at = previewBench();
    at.state.freezesOver = "put";
    await at.start();
    at.say("a");
    await settle(at.clock, 10 * GAP_MS);
    expect([at.written(), at.kept.size]).toEqual([[], 0]);
    await at.stop();
  });
});

describe("the reply of a turn that is shown", () => {
  test("takes over the message, knows what stands in it, and nothing is shown of the turn any more", async () => {
    const at = await shown();
    expect(await at.take()).toEqual({ message: "m1", inDoubt: false, shown: "key of a" });
    expect([at.noted()?.taken, at.clock.pending()]).toEqual([true, 0]);
    at.say("b");
    await settle(at.clock, 60_000);
    expect(at.written()).toEqual(["send a"]);
    await at.previews.forget(turnId);
    expect(at.kept.size).toBe(0);
    await at.stop();
  });

  test.each([false, true])(
    "waits for a message that is being sent, unless a repeat finds it (%p)",
    async (recognises) => {
      const at = await beingSent({ recognises });
      let taken: unknown = null;
      const taking = at.take().then((given) => (taken = given));
      await settle(at.clock);
      if (!recognises) {
        expect(taken).toBeNull();
        at.letGo();
      }
      await taking;
      const known = recognises ? { message: null, shown: null } : { message: "m1", shown: "key of a" };
      expect(taken as object).toEqual({ ...known, inDoubt: false });
      expect(at.noted()?.taken).toBe(true);
      await at.stop();
    },
  );

  test("takes over a message that could not be written down, because it is known here", async () => {
    const at = await shown();
    const [key = ""] = at.state.kept.keys();
    at.state.kept.set(key, JSON.stringify({ ...at.noted(), message: null })); // as the disk has it
    expect(await at.previews.take(turnId, to)).toMatchObject({ message: "m1", inDoubt: false });
    await at.stop();
  });

  test("that is refused for good leaves a preview, which goes after a while", async () => {
    const at = await shown();
    at.end();
    await at.take();
    await at.previews.release(turnId);
    expect(at.noted()?.taken).toBe(false);
    await settle(at.clock, AGAIN_MS);
    expect([at.written(), at.kept.size]).toEqual([["send a", "remove 1/m1"], 0]);
    await at.stop();
  });

  test("waits for a removal of it that is under way, and has a message of its own then", async () => {
    const at = await shown();
    at.end();
    at.state.holding = "remove";
    await settle(at.clock, AGAIN_MS);
    let taken: unknown = null;
    const taking = at.take().then((given) => (taken = given));
    await settle(at.clock);
    expect(taken).toBeNull();
    at.letGo();
    await taking;
    expect(taken as object).toEqual({ message: null, inDoubt: false, shown: null });
    await at.stop();
  });

  test("has a message of its own where its chat is called something else now", async () => {
    const at = await shown();
    at.state.where = "-100";
    expect(await at.take()).toEqual({ message: null, inDoubt: false, shown: null });
    await at.stop();
  });

  test("that is refused for good, of a turn that was never shown, leaves nothing to do", async () => {
    const at = previewBench();
    await at.previews.release(turnId);
    expect([at.kept.size, at.clock.pending()]).toEqual([0, 0]);
    await at.stop();
  });

  test("that never comes leaves a preview, which goes a while after the turn, and not before", async () => {
    const at = await shown();
    at.end();
    await settle(at.clock, AGAIN_MS - 1);
    expect(at.written()).toEqual(["send a"]);
    await settle(at.clock, 1);
    expect([at.written(), at.kept.size, at.clock.pending()]).toEqual([["send a", "remove 1/m1"], 0, 0]);
    await at.stop();
  });
});

describe("something else that is said during a turn that is shown", () => {
  test.each([
    ["and more is shown below it", false, ["remove 1/m1", "send b"]],
    ["and no more is shown where a second message cannot be sent", true, ["remove 1/m1"]],
  ] as const)("removes what is shown, %s", async (_what, recognises, calls) => {
    const at = await shown({ recognises });
    await at.drop();
    expect([at.written(), at.kept.size]).toEqual([["send a", "remove 1/m1"], 0]);
    at.say("b");
    await settle(at.clock, FIRST_MS + GAP_MS);
    expect(at.written().slice(1)).toEqual([...calls]);
    expect(at.calls.filter((one) => one === "type").length).toBeGreaterThan(1);
    await at.stop();
  });

  test("comes before anything is shown, and hinders nothing", async () => {
    const at = previewBench({ recognises: true });
    await at.start();
    await at.drop();
    at.say("a");
    await settle(at.clock, FIRST_MS);
    expect(at.written()).toEqual(["send a"]);
    await at.stop();
  });

  test("after its end begins nothing anew, nor does it for a turn that nobody shows", async () => {
    const at = await shown();
    at.end();
    await settle(at.clock);
    await at.drop();
    await at.previews.drop("turn_2" as TurnId);
    at.say("b");
    await settle(at.clock, 10 * AGAIN_MS);
    expect([at.written(), at.clock.pending()]).toEqual([["send a", "remove 1/m1"], 0]);
    await at.stop();
  });

  test("waits for a message that is being sent, and removes it", async () => {
    const at = await beingSent();
    const dropping = at.drop();
    await settle(at.clock);
    expect(at.written()).toEqual(["send a"]);
    at.letGo();
    await dropping;
    expect(at.written()).toEqual(["send a", "remove 1/m1"]);
    await at.stop();
  });

  test("begins nothing anew for a turn that ends while what is shown of it is removed", async () => {
    const at = await shown();
    at.state.holding = "remove";
    const dropping = at.drop();
    await settle(at.clock);
    at.end();
    at.letGo();
    await dropping;
    const typed = at.calls.length;
    await settle(at.clock, 10 * AGAIN_MS);
    expect([at.calls.length, at.clock.pending()]).toEqual([typed, 0]);
    await at.stop();
  });

  test("gives up a call whose message a repeat would find", async () => {
    const at = await beingSent({ recognises: true });
    await at.drop();
    expect(at.written()).toEqual(["send a"]);
    await at.stop();
    expect(at.clock.pending()).toBe(0);
  });
});

describe("the end of a channel that shows a turn", () => {
  const left = { to, where: "1", message: "m9", begunAt: 0, taken: false };
  test.each<[string, string, () => Promise<World>]>([
    ["a typing", "type", async () => previewBench()],
    ["a removal", "remove", () => shown()],
    ["a removal of what the process before has shown", "remove", async () => previewBench({ note: left })],
  ])("waits for %s that it has begun and that does not hear of the end", async (what, kind, begin) => {
    const at = await begin();
    Object.assign(at.state, { holding: kind, deaf: true });
    if (kind === "type") await at.start();
    if (what === "a removal") at.end();
    await settle(at.clock, AGAIN_MS);
    let isOver = false;
    const stopping = at.stop().then(() => (isOver = true));
    await settle(at.clock);
    expect(isOver).toBe(false);
    at.letGo();
    await stopping;
  });

  test("gives up a typing that is not answered", async () => {
    const at = previewBench();
    at.state.holding = "type";
    await at.start();
    await at.stop();
    expect([at.calls, at.clock.pending()]).toEqual([["type"], 0]);
  });

  test.each(["edit", "remove"])("gives up its %s, and leaves no timer", async (kind) => {
    const at = await shown({ recognises: true });
    at.state.holding = kind;
    at.say("b");
    if (kind === "remove") at.end();
    await settle(at.clock, 2 * AGAIN_MS);
    await at.stop();
    expect([at.clock.pending(), at.kept.size]).toEqual([0, 1]);
  });

  test("waits for a message that is being sent where nothing else would tell which it is, and notes it", async () => {
    const at = await beingSent();
    let isOver = false;
    const stopping = at.stop().then(() => (isOver = true));
    await settle(at.clock);
    expect(isOver).toBe(false);
    at.letGo();
    await stopping;
    expect(at.noted()?.message).toBe("m1");
  });

  test("shows no turn that begins afterwards", async () => {
    const at = previewBench();
    await at.stop();
    await at.start();
    at.say("a");
    await settle(at.clock, 10 * GAP_MS);
    expect(at.calls).toEqual([]);
  });
});

test("nothing is kept in memory of turns that were shown, whether their reply came or not", async () => {
  const at = previewBench();
  const round = async (number: number): Promise<void> => {
    for (const isReplied of [true, false]) {
      const turn = `turn_${number}_${isReplied}` as TurnId;
      const inbox = `in_${number}_${isReplied}` as InboxId;
      at.previews.expect(inbox, { to, replyTo: null });
      at.begin(turn, inbox);
      await settle(at.clock, FIRST_MS);
      if (isReplied) await at.previews.take(turn, to);
      at.finish(turn, inbox);
      if (isReplied) await at.previews.forget(turn);
      await settle(at.clock, 2 * AGAIN_MS);
    }
  };
  const kept = await keptPerRound(round);
  await at.stop();
  expect(kept).toEqual({});
});
