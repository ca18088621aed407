/** A part that takes several messages, against a platform that fails at each of them: what is sent again, what is noted, and what becomes of the preview. */
import { describe, expect, test } from "bun:test";
import { SendError, type SendErrorKind } from "../../contracts/channel.ts";
import type { OutboxRow } from "../../contracts/delivery.ts";
import type { TurnId } from "../../contracts/ids.ts";
import { waitForEnd } from "../../testing/wait-for.ts";
import { createPartSender } from "./part-sender.ts";

const NEVER = new AbortController().signal;
const PIECES = ["a", "b", "c"];
const turnId = "turn_1" as TurnId;

/** Whatever does not wait for it is over before. */
const slowly = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

interface Shown {
  readonly message: string | null;
  readonly inDoubt: boolean;
  readonly shown: string | null;
}

const NOTHING_SHOWN: Shown = { message: null, inDoubt: false, shown: null };

function world(part: number, taken: Shown = NOTHING_SHOWN, pieces: readonly string[] = PIECES) {
  const row = { id: `turn_1:${part}`, turnId, part, to: { channel: "x", account: "a", chat: "c" } } as OutboxRow;
  const kept = new Map<string, string>();
  /** Everything that happened, in order; work that takes time is noted when it is over. */
  const done: string[] = [];
  const sent: { readonly piece: string; readonly at: number; readonly preview: unknown; readonly noted: number }[] = [];
  const signals: AbortSignal[] = [];
  const state = {
    closed: false,
    failAt: -1,
    failAs: "retry" as SendErrorKind,
    taking: Promise.resolve(),
    /** The store refuses this step. */
    refused: "",
  };
  const warned: string[] = [];
  const note = async (what: string): Promise<void> => {
    await slowly();
    if (what === state.refused) throw new Error("connect ECONNREFUSED 127.0.0.1:5432");
    done.push(what);
  };
  const noted = (): number => {
    const stored = kept.get(`sent:${row.id}`);
    if (stored === undefined) return 0;
    const progress = JSON.parse(stored) as { sent: string[] } | string[];
    return Array.isArray(progress) ? progress.length : progress.sent.length;
  };
  const sender = createPartSender<string>(
    {
      log: { warn: (what) => void warned.push(what) },
      facts: {
        async get(key) {
          if (state.refused === "get") throw new Error("connect ECONNREFUSED 127.0.0.1:5432");
          return kept.get(key) ?? null;
        },
        async put(key, value) {
          await note("put");
          kept.set(key, value);
        },
        async forget(key) {
          await note("forget");
          kept.delete(key);
        },
        list: async () => [],
      },
      previews: {
        async take() {
          await state.taking;
          await note("take preview");
          return taken;
        },
        release: () => note("release preview"),
        drop: () => note("drop preview"),
        forget: () => note("forget preview"),
      },
    },
    {
      check() {
        if (state.closed) throw new SendError("retry", "not now");
      },
      async piecesOf(_part, hasPreview) {
        done.push(hasPreview ? "pieces after a preview" : "pieces");
        return pieces;
      },
      async send({ piece, at, preview }, signal) {
        signals.push(signal);
        sent.push({ piece, at, preview, noted: noted() });
        if (at === state.failAt) throw new Error("the platform failed");
        return at === 1 ? ["m1", "m1b"] : [`m${at}`];
      },
      toSendError: (error) => new SendError(state.failAs, String(error)),
    },
  );
  return { ...sender, row, kept, done, sent, state, signals, warned };
}

const names = (at: ReturnType<typeof world>): readonly string[] => at.sent.map(({ piece }) => piece);
const ALL_IDS = ["m0", "m1", "m1b", "m2"];

describe("a part of several messages", () => {
  test.each([
    ["before the reply", -1, ["drop preview", "pieces", "put", "put", "forget"]],
    ["with which the reply begins", 0, ["take preview", "pieces", "put", "put", "forget", "forget preview"]],
    ["later in the reply", 1, ["pieces", "put", "put", "forget"]],
  ] as const)("%s is noted after each message but the last, and leaves nothing behind", async (_which, part, steps) => {
    const at = world(part);
    const { signal } = new AbortController();
    expect(await at.send(at.row, signal)).toEqual({ providerId: "m0", providerIds: ALL_IDS });
    expect([at.done, [...at.kept]]).toEqual([[...steps], []]);
    expect(at.sent.map(({ piece, noted }) => [piece, noted])).toEqual([
      ["a", 0],
      ["b", 1],
      ["c", 2],
    ]);
    expect(at.signals.every((one) => one === signal)).toBe(true);
  });

  const temporary = ["retry", "lost", "limited"] as const;
  const failures = [0, 1, 2].flatMap((failAt) => temporary.map((kind) => [failAt, kind] as const));
  test.each(failures)("that fails at message %d with %s goes on there", async (failAt, kind) => {
    for (const part of [-1, 0, 1]) {
      const at = world(part, { ...NOTHING_SHOWN, message: "p", shown: "so far" });
      Object.assign(at.state, { failAt, failAs: kind });
      await expect(at.send(at.row, NEVER)).rejects.toMatchObject({ kind });
      expect(await at.messages.delivered(at.row, NEVER)).toBe(failAt);
      expect(at.done.filter((step) => step.startsWith("release") || step.startsWith("forget"))).toEqual([]);
      at.state.failAt = -1;
      expect(await at.send(at.row, NEVER)).toEqual({ providerId: "m0", providerIds: ALL_IDS });
      expect(names(at)).toEqual([...PIECES.slice(0, failAt + 1), ...PIECES.slice(failAt)]);
      const preview = part === 0 ? { message: "p", shown: "so far" } : null;
      for (const one of at.sent) expect(one.preview).toEqual(one.at === 0 ? preview : null);
      expect(at.done.filter((step) => step.startsWith("pieces"))).toEqual(
        part === 0 ? ["pieces after a preview", "pieces after a preview"] : ["pieces", "pieces"],
      );
      expect(at.kept.size).toBe(0);
    }
  });

  test.each([
    [-1, ["forget"]],
    [0, ["forget", "release preview"]],
    [1, ["forget"]],
  ] as const)(
    "(%d) that is refused for good is forgotten, and what was shown of it is a preview again",
    async (part, ends) => {
      const at = world(part);
      Object.assign(at.state, { failAt: 1, failAs: "permanent" });
      await expect(at.send(at.row, NEVER)).rejects.toMatchObject({ kind: "permanent" });
      expect([at.done.slice(-ends.length), at.kept.size]).toEqual([[...ends], 0]);
    },
  );

  test("leaves its preview alone while its chat takes nothing", async () => {
    const at = world(0);
    at.state.closed = true;
    await expect(at.send(at.row, NEVER)).rejects.toThrow("not now");
    expect([at.done, at.sent]).toEqual([[], []]);
  });

  test("is given up while its preview is still being ended", async () => {
    const at = world(0);
    at.state.taking = new Promise(() => undefined);
    const stop = new AbortController();
    const sending = at.send(at.row, stop.signal);
    stop.abort(new Error("outbox stopped"));
    await expect(waitForEnd("the end of the send", sending)).rejects.toThrow("outbox stopped");
    expect(at.sent).toEqual([]);
  });

  test("says that a preview of it may stand beside it, also after a failure in the middle", async () => {
    const at = world(0, { ...NOTHING_SHOWN, inDoubt: true });
    at.state.failAt = 1;
    await expect(at.send(at.row, NEVER)).rejects.toThrow();
    at.state.failAt = -1;
    expect(await at.send(at.row, NEVER)).toMatchObject({
      providerIds: ALL_IDS,
      doubt: expect.stringContaining("preview"),
    });
    const sure = world(0);
    expect("doubt" in (await sure.send(sure.row, NEVER))).toBe(false);
  });

  test.each(["forget", "forget preview"])("has arrived though the store refuses %s afterwards", async (refused) => {
    const at = world(0);
    at.state.refused = refused;
    expect(await at.send(at.row, NEVER)).toEqual({ providerId: "m0", providerIds: ALL_IDS });
    expect([names(at), at.warned]).toEqual([PIECES, ["reply was sent, and notes about it could not be removed"]]);
  });

  test("is in doubt when the store refuses to note a message that was sent", async () => {
    const at = world(0);
    at.state.refused = "put";
    await expect(at.send(at.row, NEVER)).rejects.toMatchObject({ kind: "lost" });
    expect(names(at)).toEqual(["a"]);
  });

  test.each(["forget", "release preview"])(
    "that is refused for good is tried again when the store refuses %s afterwards",
    async (refused) => {
      const at = world(0);
      Object.assign(at.state, { failAt: 0, failAs: "permanent", refused });
      await expect(at.send(at.row, NEVER)).rejects.toMatchObject({ kind: "retry" });
    },
  );

  test.each(["get", "take preview"])("is known not to be sent when the store refuses %s before", async (refused) => {
    const at = world(0);
    at.state.refused = refused;
    const failure = await at.send(at.row, NEVER).catch((error: unknown) => error);
    expect([failure instanceof SendError, failure, at.sent]).toEqual([
      true,
      expect.objectContaining({ kind: "retry", message: "connect ECONNREFUSED 127.0.0.1:5432" }),
      [],
    ]);
  });

  test("goes on where an earlier version noted a plain list", async () => {
    const at = world(0);
    at.kept.set(`sent:${at.row.id}`, '["m0"]');
    expect(await at.send(at.row, NEVER)).toEqual({ providerId: "m0", providerIds: ALL_IDS });
    expect(names(at)).toEqual(["b", "c"]);
  });
});

test("a part that takes no message has no id", async () => {
  const at = world(1, NOTHING_SHOWN, []);
  expect(await at.send(at.row, NEVER)).toEqual({});
  expect(await at.messages.delivered(at.row, NEVER)).toBe(0);
});

describe("a message in doubt", () => {
  test.each([0, 1])("at %d is left out, and the next ones are sent", async (doubtful) => {
    const at = world(0, { ...NOTHING_SHOWN, message: "p" });
    Object.assign(at.state, { failAt: doubtful, failAs: "lost" });
    await expect(at.send(at.row, NEVER)).rejects.toMatchObject({ kind: "lost" });
    expect(await at.messages.skip(at.row, NEVER)).toBe(true);
    expect(await at.messages.delivered(at.row, NEVER)).toBe(doubtful + 1);
    expect(at.done.filter((step) => step === "pieces")).toEqual([]);
    const before = at.sent.length;
    const { providerIds } = await at.send(at.row, NEVER);
    expect(names(at).slice(before)).toEqual(PIECES.slice(doubtful + 1));
    expect(providerIds).toEqual(doubtful === 0 ? ["m1", "m1b", "m2"] : ["m0", "m2"]);
  });

  test("is noted with the preview that the part goes into, and with what is known of it", async () => {
    const at = world(0, { message: "p", inDoubt: true, shown: "a" });
    expect(await at.messages.skip(at.row, NEVER)).toBe(true);
    const noted: unknown = JSON.parse(at.kept.get(`sent:${at.row.id}`) ?? "");
    expect(noted).toEqual({ sent: [""], preview: "p", inDoubt: true, shown: "a" });
  });

  test("that is the last one leaves nothing to send, and its progress as it was", async () => {
    const at = world(1, NOTHING_SHOWN, ["a", "b"]);
    Object.assign(at.state, { failAt: 1, failAs: "lost" });
    await expect(at.send(at.row, NEVER)).rejects.toMatchObject({ kind: "lost" });
    expect(await at.messages.skip(at.row, NEVER)).toBe(false);
    expect(await at.messages.delivered(at.row, NEVER)).toBe(1);
  });

  test("is left while its preview is being ended, when the outbox stops", async () => {
    const at = world(0);
    at.state.taking = new Promise(() => undefined);
    const stop = new AbortController();
    const skipping = at.messages.skip(at.row, stop.signal);
    stop.abort(new Error("outbox stopped"));
    await expect(waitForEnd("the end of the skip", skipping)).rejects.toThrow("outbox stopped");
  });
});
