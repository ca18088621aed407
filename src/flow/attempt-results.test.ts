/** One attempt at a turn beside an agent that a test plays by hand: what is asked of the pool, and each way it can come out, with cost and size. */
import { describe, expect, test } from "bun:test";
import type { AgentEvent, AgentLease, AgentPool } from "../contracts/agent.ts";
import type { InboxId } from "../contracts/ids.ts";
import type { Batch } from "../contracts/queue.ts";
import { ERRORS } from "../contracts/errors.ts";
import { orAborted } from "../kit/deferred.ts";
import { createFakeClock } from "../testing/fake-clock.ts";
import { inbound } from "../testing/messages.ts";
import { recordingLog } from "../testing/recording-log.ts";
import { createSeqIds } from "../testing/seq-ids.ts";
import { attempt } from "./attempt.ts";
import type { AttemptWorld } from "./turn-world.ts";

const SILENT = new Promise<never>(() => undefined);
const NONE = { inputTokens: 0, outputTokens: 0, costUsd: 0 };
const usage = (tokens: number) => ({ inputTokens: tokens, outputTokens: tokens, costUsd: tokens });
const OLD_BYTES = 100;
const NEW_BYTES = 250;
const TIMEOUT_MS = 60_000;
const NO_DISPOSE = { [Symbol.dispose]: () => undefined };

interface Script {
  readonly batch?: Partial<Batch>;
  readonly origin?: string;
  /** The last event of the agent; left out: it never ends by itself. */
  readonly ending?: Partial<AgentEvent> & { readonly type: string };
  readonly before?: readonly AgentEvent[];
  readonly lease?: Partial<AgentLease>;
  readonly pool?: AgentPool["lease"];
  readonly command?: { readonly errand: boolean; readonly text?: string; compacts?: boolean };
  readonly events?: number;
  readonly stale?: boolean;
  readonly besides?: number;
  readonly may?: boolean;
  readonly ackMaxChars?: number;
}

function world(script: Script = {}) {
  const clock = createFakeClock();
  const stops = { cancel: new AbortController(), leave: new AbortController(), revoke: new AbortController() };
  const asked: unknown[] = [];
  const noted: unknown[] = [];
  const opened: { endsAt: number; settled: number; disposed: number }[] = [];
  const mediaSignals: AbortSignal[] = [];
  const message = inbound("hello", script.origin === undefined ? {} : { origin: script.origin as never });
  const batch = {
    turnId: "t1",
    sessionKey: "s",
    agentId: "default",
    role: "owner",
    priority: 7,
    entries: [{ id: "in1" as InboxId, message }],
    hidden: 0,
    expired: false,
    attempt: 1,
    hasNews: script.events !== undefined,
    failures: 0,
    accused: false,
    unsafeToRetry: false,
    sessionFile: { name: "one.jsonl", settledBytes: OLD_BYTES },
    cancelled: stops.cancel.signal,
    acceptedAt: clock.now() - 120_000,
    offered: (signal: AbortSignal) => orAborted(SILENT, signal).catch(() => []),
    decline: () => undefined,
    ...script.batch,
  } as unknown as Batch;
  const lease = {
    pid: 1,
    lost: NONE,
    async *prompt(_input: unknown, signal: AbortSignal): AsyncGenerator<unknown> {
      yield* script.before ?? [];
      const said = { text: "hi", usage: usage(1), model: "a/m" };
      if (!script.ending) await orAborted(SILENT, signal).catch(() => undefined);
      yield { ...said, ...(script.ending ?? { type: "aborted" }) };
    },
    settledBytes: async () => NEW_BYTES,
    fileChange: async (bytes: number) => ({ change: bytes }),
    stats: async () => ({ tokens: 5 }),
    compact: async () => ({ kind: "done", tokensBefore: 2, tokensAfter: 1, usage: usage(2), model: "a/m" }),
    [Symbol.asyncDispose]: async () => undefined,
    ...script.lease,
  } as unknown as AgentLease;
  const writer = new Proxy({}, { get: () => () => undefined });
  const spans = { adopted: [] as unknown[] };
  const made = {
    clock,
    log: recordingLog(),
    events: { on: () => NO_DISPOSE, emit: () => undefined },
    live: { open: () => writer },
    commands: {
      findFor: () => (script.command ? { name: "do" } : null),
      workKind: () => (script.command?.errand ? "errand" : "talk"),
      async answer(_found: unknown, { agent }: { agent?: { compact(words: string): Promise<unknown> } }) {
        if (script.command?.compacts) await agent?.compact("");
        return script.command?.text ?? "done it";
      },
    },
    budget: {
      ask: () => (script.may === false ? { may: false, because: "spent", say: "No money left." } : { may: true }),
      bill: () => undefined,
      record: async () => undefined,
    },
    agents: {
      pool: {
        lease: script.pool ?? (async (request: unknown) => (asked.push(request), lease)),
      },
      delegations: {
        open({ endsAt }: { endsAt: number }) {
          const one = { endsAt, settled: 0, disposed: 0 };
          opened.push(one);
          return {
            settle: async () => (one.settled++, { usage: usage(10), spans: ["theirs"] }),
            [Symbol.dispose]: () => void one.disposed++,
          };
        },
      },
      lastStats: {
        stale: () => script.stale ?? true,
        note: (...given: unknown[]) => void noted.push(given),
        expect: () => undefined,
      },
    },
    prompt: {
      ids: createSeqIds(),
      context: { tell: () => null, zoneOf: () => "UTC" },
      commands: { plain: ({ text }: { text: string }) => text },
      reactions: { tell: async () => [] },
      messageIds: { idOf: async () => null },
      groupTalk: { tell: () => [] },
      systemEvents: { claim: async () => ({ events: [], hidden: script.events ?? 0 }) },
    },
    replies: {
      tools: {
        call: async (_request: unknown, signal: AbortSignal) => (mediaSignals.push(signal), { kind: "ok", result: {} }),
      },
      poster: { post: async () => undefined },
    },
    leaving: stops.leave.signal,
    revoked: stops.revoke.signal,
    lost: new Map(),
    spans: new Proxy(spans, {
      get: (_target, name) => (name === "adopt" ? (some: unknown[]) => spans.adopted.push(...some) : () => undefined),
    }),
    said: { posts: 0, thoughts: "" },
    cost: { besides: usage(script.besides ?? 0) },
    held: new AsyncDisposableStack(),
  } as unknown as AttemptWorld;
  const options = {
    timeoutMs: TIMEOUT_MS,
    graceMs: 0,
    ...(script.ackMaxChars === undefined ? {} : { ackMaxChars: script.ackMaxChars }),
  };
  const run = () => attempt(made, batch, options, writer as never);
  return { clock, batch, stops, asked, noted, opened, mediaSignals, made, spans, run };
}

const done = (more: object = {}) => ({ type: "done", ...more }) as const;
const reply = (text: string) => [{ part: 0, message: { kind: "reply", text } }];
const notice = (text: string) => [{ part: 0, message: { kind: "notice", text } }];

describe("a turn that does not reach an agent", () => {
  const unbegun = (reply_: unknown, outcome: string, more: object = {}) => ({
    kind: "end",
    settledBytes: OLD_BYTES,
    end: expect.objectContaining({ outcome, reply: reply_, ...more }) as unknown,
  });

  test.each<[string, Script, unknown]>([
    [
      "waited too long",
      { batch: { expired: true } },
      unbegun(
        notice("This message waited 2 minutes and was not answered. Send it again if it still matters."),
        "failed",
      ),
    ],
    [
      "must not run twice",
      { batch: { unsafeToRetry: true }, besides: 3 },
      unbegun(notice(ERRORS.agent_unsafe_retry.say), "failed", { usage: usage(3) }),
    ],
    [
      "takes the gateway down",
      { batch: { accused: true, attempt: 3 } },
      unbegun(notice(ERRORS.gateway_crashed.say), "failed", {
        error: { code: "gateway_crashed", detail: "begun 3 times" },
      }),
    ],
    ["is a command", { command: { errand: false } }, unbegun(reply("done it"), "done")],
    ["is a command without words", { command: { errand: false, text: "" } }, unbegun([], "done")],
    ["cannot be paid", { may: false }, unbegun(notice("No money left."), "failed")],
    [
      "is an errand that cannot be paid",
      { may: false, command: { errand: true } },
      unbegun(notice("No money left."), "failed"),
    ],
    ["was told already", { origin: "cron" }, unbegun([], "done", { usage: NONE, model: "" })],
    [
      "finds no process",
      { pool: () => Promise.reject(new Error("no process")), besides: 3 },
      unbegun(notice(ERRORS.internal.say), "failed", { usage: usage(3), own: NONE }),
    ],
  ])("because it %s ends so, and its session file stays as it was", async (_why, script, expected) => {
    const at = world(script);
    expect((await at.run()) as unknown).toEqual(expected);
    expect([at.asked, at.clock.pending()]).toEqual([[], 0]);
  });

  test("because it was stopped before says so, with what earlier attempts had cost", async () => {
    const at = world({ besides: 3 });
    at.stops.cancel.abort("stopped");
    const end = { outcome: "aborted", reply: notice("Stopped before the assistant began."), usage: usage(3) };
    expect(await at.run()).toMatchObject({ kind: "end", settledBytes: OLD_BYTES, end: end as never });
    expect(at.opened).toEqual([]);
  });

  const waiting: AgentPool["lease"] = (_request, signal) => orAborted(SILENT, signal);
  test("because it was stopped while it waited for a process was stopped, and by its deadline took too long", async () => {
    const stopped = world({ pool: waiting });
    const first = stopped.run();
    await stopped.clock.advance(1);
    stopped.stops.cancel.abort("stopped");
    expect(await first).toMatchObject({ end: { outcome: "aborted" } });
    const late = world({ pool: waiting });
    const second = late.run();
    await late.clock.advance(TIMEOUT_MS);
    expect(await second).toMatchObject({ end: { outcome: "failed", error: { code: "agent_timeout" } } });
    expect([stopped, late].map(({ clock, opened }) => [clock.pending(), opened[0]?.disposed])).toEqual([
      [0, 1],
      [0, 1],
    ]);
  });

  test("because the gateway leaves is left for the next start", async () => {
    const at = world({ pool: waiting });
    const run = at.run();
    await at.clock.advance(1);
    at.stops.leave.abort(new Error("leaving"));
    expect(await run).toEqual({ kind: "leave" });
  });
});

describe("a turn that an agent answers", () => {
  test("asks the pool for what was chosen, and ends with words, cost of all, the last cost alone, and the new size", async () => {
    const settings = { model: "a/m", thinking: "high" } as never;
    const at = world({ ending: done(), batch: { settings }, besides: 3, lease: { lost: usage(20) } });
    await at.clock.advance(5_000);
    expect((await at.run()) as unknown).toEqual({
      kind: "end",
      end: { outcome: "done", reply: reply("hi"), usage: usage(34), own: usage(1), model: "a/m" },
      settledBytes: NEW_BYTES,
      fileChange: { change: NEW_BYTES },
    });
    expect(at.asked).toMatchObject([
      { sessionFile: "one.jsonl", settledBytes: OLD_BYTES, priority: 7, model: "a/m", thinking: "high" },
    ]);
    expect(at.opened).toEqual([{ endsAt: 5_000 + TIMEOUT_MS, settled: 1, disposed: 1 }]);
    expect([at.spans.adopted, at.clock.pending()]).toEqual([["theirs"], 0]);
    const plain = world({ ending: done() });
    await plain.run();
    expect(Object.keys(plain.asked[0] as object).toSorted()).toEqual([
      "caller",
      "priority",
      "sessionFile",
      "settledBytes",
    ]);
  });

  test("keeps what the model thought, and is quiet where a tool has spoken for it", async () => {
    const thought = { type: "thought", delta: "hm" } as AgentEvent;
    expect(await world({ ending: done(), before: [thought] }).run()).toMatchObject({ end: { reasoning: "hm" } });
    const silent = await world({ ending: done() }).run();
    expect(silent.kind === "end" && "reasoning" in silent.end).toBe(false);
    const post = { type: "tool_end", callId: "c", tool: "send_message", isError: false, output: "" } as AgentEvent;
    expect(await world({ ending: done({ text: "" }), before: [post] }).run()).toMatchObject({
      end: { outcome: "done", reply: [] },
    });
    expect(await world({ ending: done({ text: "" }) }).run()).toMatchObject({ end: { outcome: "failed" } });
  });

  test("asks how large its session is when that is not known, within half a second, and only after an answer", async () => {
    const at = world({ ending: done() });
    await at.run();
    await at.made.held.disposeAsync();
    expect(at.noted).toEqual([["one.jsonl", { tokens: 5 }, 0]]);
    const known = world({ ending: done(), stale: false });
    const failed = world({ ending: { type: "failed", code: "agent_exited", detail: "", again: false } as never });
    for (const one of [known, failed]) await one.run();
    expect([known.noted, failed.noted]).toEqual([[], []]);
    const slow = world({ ending: done(), lease: { stats: (signal) => orAborted(SILENT, signal) } });
    expect(await slow.run()).toMatchObject({ kind: "end", end: { outcome: "done" } }); // the reply does not wait
    const given = slow.made.held.disposeAsync();
    await slow.clock.advance(500);
    await given;
    expect([slow.noted, slow.clock.pending()]).toEqual([[], 0]);
  });

  test("and whose process is gone before its size is known keeps the old size", async () => {
    const at = world({ ending: done(), lease: { settledBytes: () => Promise.reject(new Error("gone")) } });
    expect(await at.run()).toMatchObject({ kind: "end", settledBytes: OLD_BYTES, end: { outcome: "done" } });
    const own = world({ ending: done(), lease: { fileChange: async () => null } });
    expect(Object.keys(await own.run()).toSorted()).toEqual(["end", "kind", "settledBytes"]);
  });

  test("as a heartbeat is quiet when it has found nothing, by the limit of the settings, and keeps its cost", async () => {
    const beat = (text: string, ackMaxChars?: number) =>
      world({
        origin: "heartbeat",
        events: 1,
        ending: done({ text }),
        ...(ackMaxChars === undefined ? {} : { ackMaxChars }),
      }).run();
    expect(await beat("HEARTBEAT_OK fine")).toMatchObject({ end: { outcome: "done", reply: [], own: usage(1) } });
    expect(await beat("HEARTBEAT_OK fine", 3)).toMatchObject({ end: { reply: reply("fine") as never } });
    expect(await world({ ending: done({ text: "HEARTBEAT_OK" }) }).run()).toMatchObject({
      end: { reply: reply("HEARTBEAT_OK") as never },
    });
  });

  test("sends files that its reply names until the gateway leaves, and none of a reply that failed", async () => {
    const at = world({ ending: done({ text: "see\nMEDIA:a.png" }) });
    await at.run();
    expect(at.mediaSignals.map((signal) => signal === at.stops.leave.signal)).toEqual([true]);
    const failed = world({
      ending: { type: "failed", code: "agent_exited", detail: "", again: false, text: "MEDIA:a.png" } as never,
    });
    await failed.run();
    expect(failed.mediaSignals).toEqual([]);
  });

  test.each([
    ["by a person", "cancel", "stopped", "Stopped."],
    ["by a newer message", "cancel", "interrupted", "Stopped, to answer your next message."],
    ["because its caller lost access", "revoke", new Error("no access"), "Stopped."],
  ] as const)("and is stopped %s keeps its words", async (_who, name, reason, say) => {
    const at = world();
    const run = at.run();
    await at.clock.advance(1);
    at.stops[name].abort(reason);
    expect(await run).toMatchObject({
      end: { outcome: "aborted", reply: [{ message: { text: "hi" } }, { message: { kind: "notice", text: say } }] },
      settledBytes: NEW_BYTES,
    });
  });

  test("and takes too long says so, and one that the gateway leaves is left, unless it has answered", async () => {
    const late = world();
    const run = late.run();
    await late.clock.advance(TIMEOUT_MS);
    expect(await run).toMatchObject({ end: { outcome: "failed", error: { code: "agent_timeout" } } });
    const leaving = world();
    const left = leaving.run();
    await leaving.clock.advance(1);
    leaving.stops.leave.abort(new Error("leaving"));
    expect(await left).toEqual({ kind: "leave" });
    const answered = world({ ending: done() });
    answered.stops.leave.abort(new Error("leaving"));
    expect(await answered.run()).toMatchObject({ kind: "end", end: { outcome: "done" } });
  });

  test.each([
    [0, "again"],
    [1, "again"],
    [2, "end"],
  ])("and dies after %d failures comes out as %p, with its cost kept for the next attempt", async (failures, kind) => {
    const ending = { type: "failed", code: "agent_exited", detail: "exit 137", again: true } as never;
    const at = world({ ending, batch: { failures }, besides: 3 });
    const result = await at.run();
    expect(result.kind).toBe(kind as never);
    if (result.kind !== "again") return;
    expect([result.because, at.made.lost.get(at.batch.turnId)]).toEqual(["exit 137", usage(13)]);
  });
});

describe("an errand of a command", () => {
  test("that has changed the session file has a new size and its cost; one that has not leaves it as it was", async () => {
    const changed = world({ command: { errand: true, compacts: true }, besides: 3 });
    expect((await changed.run()) as unknown).toEqual({
      kind: "end",
      end: { outcome: "done", reply: reply("done it"), usage: usage(5), own: usage(2), model: "a/m" },
      settledBytes: NEW_BYTES,
      fileChange: { change: NEW_BYTES },
    });
    const idle = await world({ command: { errand: true } }).run();
    expect([idle.kind === "end" && idle.settledBytes, "fileChange" in idle]).toEqual([OLD_BYTES, false]);
  });

  test("that the gateway leaves is left, unless it has changed the session file", async () => {
    const results = await Promise.all(
      [false, true].map((compacts) => {
        const at = world({ command: { errand: true, compacts } });
        at.stops.leave.abort(new Error("leaving"));
        return at.run();
      }),
    );
    expect(results.map(({ kind }) => kind)).toEqual(["leave", "end"]);
  });
});
