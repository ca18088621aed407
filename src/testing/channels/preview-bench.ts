/** Previews of running turns beside a platform that a test plays by hand: each call can fail, hang, or not hear of the end; the disk is slow. */
import { type PreviewFailure, type PreviewPlatform, type StreamMode, startPreviews } from "../../channels/kit/index.ts";
import type { InboxId, SessionKey, TurnId } from "../../contracts/ids.ts";
import { type Deferred, deferred, orAborted } from "../../kit/deferred.ts";
import { createEvents } from "../../observe/index.ts";
import { createFakeClock, type FakeClock } from "../fake-clock.ts";
import { recordingLog } from "../recording-log.ts";
import { waitForEnd } from "../wait-for.ts";

const sessionKey = "agent:default:parlour:dm:1" as SessionKey;
export const turnId = "turn_1" as TurnId;
const inboxId = "in_1" as InboxId;
export const to = { channel: "parlour", account: "main", chat: "1" };
const KEY = `preview:${turnId}`;
export const FIRST_MS = 700;
export const GAP_MS = 1_000;
export const TYPING_MS = 4_500;
export const AGAIN_MS = 60_000;
/** Far more than any turn of a test makes. */
const MAX_CALLS = 1_000;
const SILENT = new Promise<never>(() => undefined);

/** Whatever does not wait for it is over before. */
const slowly = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Lets time pass, and then what takes no time: the disk, for example. */
export async function settle(clock: FakeClock, ms = 0): Promise<void> {
  await clock.advance(ms);
  for (let turn = 0; turn < 5; turn++) {
    await slowly();
    await clock.advance(0);
  }
}

class PlayedFailure extends Error {
  readonly failure: PreviewFailure;

  constructor(failure: PreviewFailure) {
    super(failure.kind);
    this.failure = failure;
  }
}

export interface PreviewBenchOptions {
  /** The platform recognises a send that is repeated for the same turn. */
  readonly recognises?: boolean;
  readonly mode?: StreamMode;
  /** What a previous process has noted. */
  readonly note?: object;
}

interface Played {
  readonly calls: string[];
  readonly kept: Map<string, string>;
  /** What was written to the disk, each time. */
  readonly writes: string[];
  owed: boolean;
  /** No other gateway can have taken over. */
  held: boolean;
  cooldownMs: number;
  where: string;
  /** How the next call of a kind fails. */
  failing: Record<string, PreviewFailure | undefined>;
  /** Calls of this kind are not answered until they are let go. */
  holding: string | null;
  letGo: Deferred<void>;
  /** Held calls do not hear the signal. */
  deaf: boolean;
  /** The disk can forget. */
  forgets: boolean;
  /** The process freezes during this step, so long that another gateway takes over. */
  freezesOver: "put" | null;
}

async function play(state: Played, kind: string, what: string, signal: AbortSignal): Promise<void> {
  state.calls.push(what === "" ? kind : `${kind} ${what}`);
  if (state.calls.length > MAX_CALLS) await SILENT; // a loop without a pause would never end
  if (kind === "send" && !state.kept.has(KEY)) state.calls.push("sent without a note");
  if (state.holding === kind) await (state.deaf ? state.letGo.promise : orAborted(state.letGo.promise, signal));
  const failure = state.failing[kind];
  delete state.failing[kind];
  if (failure) throw new PlayedFailure(failure);
}

function playedPlatform(state: Played, recognises: boolean): PreviewPlatform<string> {
  let sent = 0;
  let looks = 0;
  return {
    firstMs: FIRST_MS,
    typingMs: TYPING_MS,
    gapMs: () => GAP_MS,
    removal: { startMs: 30_000, againMs: AGAIN_MS, maxTries: 3 },
    repeat: recognises ? { dedupeMs: 100_000, find: async () => null } : null,
    contentOf({ text }) {
      if (++looks > MAX_CALLS) throw new Error("it looks without a pause");
      return text || null;
    },
    keyOf: (content) => `key of ${content}`,
    where: () => state.where,
    cooldownMs: () => state.cooldownMs,
    async send(_turnId, _spot, content, signal) {
      await play(state, "send", content, signal);
      return `m${++sent}`;
    },
    edit: ({ where, message }, content, signal) => play(state, "edit", `${where}/${message} ${content}`, signal),
    remove: ({ where, message }, signal) => play(state, "remove", `${where}/${message}`, signal),
    type: (_to, signal) => play(state, "type", "", signal),
    failureOf: (error) => (error instanceof PlayedFailure ? error.failure : { kind: "later", pauseMs: 0 }),
  };
}

function slowFacts(state: Played) {
  const { kept, writes } = state;
  return {
    get: async (key: string) => kept.get(key) ?? null,
    async put(key: string, value: string) {
      await slowly();
      kept.set(key, value);
      writes.push(value);
      if (state.freezesOver === "put") state.held = false;
    },
    async forget(key: string) {
      await slowly();
      if (!state.forgets) throw new Error("disk full");
      kept.delete(key);
    },
    list: async () => [...kept].map(([key, value]) => ({ key, value })),
  };
}

export function previewBench({ recognises = false, mode = "partial", note }: PreviewBenchOptions = {}) {
  const clock = createFakeClock();
  const log = recordingLog();
  const events = createEvents({ log });
  let listening = 0;
  const on: typeof events.on = (event, listener) => {
    const one = events.on(event, listener);
    listening++;
    return { [Symbol.dispose]: () => (listening--, one[Symbol.dispose]()) };
  };
  const state: Played = {
    calls: [],
    kept: new Map(note === undefined ? [] : [[KEY, JSON.stringify(note)]]),
    writes: [],
    owed: false,
    held: true,
    cooldownMs: 0,
    where: "1",
    failing: {},
    holding: null,
    letGo: deferred(),
    deaf: false,
    forgets: true,
    freezesOver: null,
  };
  const { calls, kept, writes } = state;
  const deps = {
    clock,
    log,
    facts: slowFacts(state),
    events: { on },
    replies: { owes: () => state.owed, isOwed: async () => false, isHeld: () => state.held },
  };
  const previews = startPreviews(deps, playedPlatform(state, recognises), mode);
  const begin = (turn: TurnId, inbox: InboxId): void =>
    events.emit("turn.started", { sessionKey, turnId: turn, inboxIds: [inbox], attempt: 1, waitedMs: 0 });
  const finish = (turn: TurnId, inbox: InboxId): void =>
    events.emit("turn.ended", { sessionKey, turnId: turn, inboxIds: [inbox] } as never);
  return {
    clock,
    kept,
    calls,
    writes,
    state,
    previews,
    begin,
    finish,
    listening: () => listening,
    take: () => waitForEnd("the preview", previews.take(turnId, to)),
    drop: () => waitForEnd("the removal", previews.drop(turnId)),
    noted: () =>
      kept.has(KEY) ? (JSON.parse(kept.get(KEY) ?? "") as { message: string | null; taken: boolean }) : null,
    /** Without the typing. */
    written: () => calls.filter((one) => one !== "type"),
    async start() {
      previews.expect(inboxId, { to, replyTo: null });
      begin(turnId, inboxId);
      await settle(clock);
    },
    say: (text: string) => events.emit("turn.delta", { sessionKey, turnId, text }),
    end: () => finish(turnId, inboxId),
    letGo() {
      state.holding = null;
      state.letGo.resolve();
      state.letGo = deferred();
    },
    stop: () => waitForEnd("the stop", Promise.resolve(previews[Symbol.asyncDispose]())),
  };
}
