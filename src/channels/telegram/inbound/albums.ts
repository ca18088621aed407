/**
 * Pictures that were sent as one, and texts that were cut into pieces, come as several updates. Each is written down at once, so that it may
 * be confirmed; a moment after the last one they become one message, whose id is that of the first. A crash in between loses none: the next
 * process goes on with what is written.
 */
import type { Update } from "grammy/types";
import type { Clock } from "../../../kit/clock.ts";
import type { Log } from "../../../kit/log.ts";
import { untilDone } from "../../../kit/until-done.ts";
import type { AccountState } from "../../kit/index.ts";

export interface Albums {
  /** Durable when it resolves. `last`: no other piece follows. */
  add(chat: string, album: string, update: Update, last?: boolean): Promise<void>;
  /** The newest piece of one that waits for more; null: there is none. */
  newest(chat: string, album: string): Update | null;
  /** Something else was said in this chat: its albums come first. */
  flush(chat: string): Promise<void>;
  /** Goes on with what a previous process wrote down, as soon as that can be read. Never rejects. */
  resume(): Promise<void>;
  /** Nothing is being delivered any more. */
  settled(): Promise<void>;
}

interface Kept {
  readonly open: Readonly<Record<string, readonly Update[]>>;
  /** Ids of updates that have become part of a message. */
  readonly done: readonly number[];
}

const KEY = "albums";
/** An album has ten pictures at most, a text of the greatest length that the gateway takes about fifty pieces. */
const PIECES_MAX = 50;
const WAIT_MS = 1_200;
const RETRY_MS = 1_000;
const REMEMBERED_IDS = 200;

interface State {
  readonly deps: { readonly clock: Clock; readonly log: Log; readonly facts: AccountState };
  readonly deliver: (pieces: readonly Update[], signal: AbortSignal) => Promise<boolean>;
  readonly signal: AbortSignal;
  kept: Kept;
  saving: Promise<void>;
  readonly timers: Map<string, AbortController>;
  readonly closing: Map<string, Promise<void>>;
}

export function createAlbums(deps: State["deps"], deliver: State["deliver"], signal: AbortSignal): Albums {
  const state: State = {
    deps,
    deliver,
    signal,
    kept: { open: {}, done: [] },
    saving: Promise.resolve(),
    timers: new Map(),
    closing: new Map(),
  };
  return {
    async add(chat, album, update, last = false) {
      const key = JSON.stringify([chat, album]);
      while (state.closing.has(key)) await state.closing.get(key); // too late for that one: it begins another
      const pieces = await keepPiece(state, key, update);
      if (pieces >= PIECES_MAX || (last && pieces > 0)) void close(state, key);
      else if (pieces > 0) closeLater(state, key);
    },
    newest(chat, album) {
      const key = JSON.stringify([chat, album]);
      return state.closing.has(key) ? null : (state.kept.open[key]?.at(-1) ?? null);
    },
    async flush(chat) {
      const keys = Object.keys(state.kept.open).filter((key) => (JSON.parse(key) as string[])[0] === chat);
      for (const key of keys) await close(state, key);
    },
    async resume() {
      const failed = (error: unknown, nextTryInMs: number): void =>
        deps.log.error("stored albums could not be read yet", { nextTryInMs, error });
      const stored = await untilDone({ clock: deps.clock, failed }, () => deps.facts.get(KEY), signal);
      if (stored !== null) state.kept = readKept(state, stored);
      for (const key of Object.keys(state.kept.open)) void close(state, key);
    },
    async settled() {
      await Promise.all(state.closing.values());
    },
  };
}

/** As it is written below. Pieces of a damaged note are lost; the account is not. */
function readKept({ deps, kept }: State, stored: string): Kept {
  try {
    return JSON.parse(stored) as Kept;
  } catch (error) {
    deps.log.error("stored albums cannot be read", { error });
    return kept;
  }
}

function save(state: State): Promise<void> {
  state.saving = state.saving
    .catch(() => undefined) // an earlier failure was told to its caller
    .then(() => state.deps.facts.put(KEY, JSON.stringify(state.kept)));
  return state.saving;
}

/** How many there are now; 0: this one was here before. */
async function keepPiece(state: State, key: string, update: Update): Promise<number> {
  const { open, done } = state.kept;
  const pieces = open[key] ?? [];
  if (done.includes(update.update_id) || pieces.some((one) => one.update_id === update.update_id)) return 0;
  const now = [...pieces, update].toSorted((a, b) => a.update_id - b.update_id);
  state.kept = { done, open: { ...open, [key]: now } };
  try {
    await save(state);
  } catch (error) {
    state.kept = { ...state.kept, open: withoutPiece(state.kept.open, key, update) };
    throw error;
  }
  return now.length;
}

/** Pieces that came meanwhile stay, and an album that was delivered meanwhile does not come back. */
function withoutPiece(open: Kept["open"], key: string, update: Update): Kept["open"] {
  const { [key]: pieces = [], ...others } = open;
  const left = pieces.filter((one) => one !== update);
  return left.length > 0 ? { ...others, [key]: left } : others;
}

/** Never rejects: what is not delivered is tried again. */
function close(state: State, key: string): Promise<void> {
  const known = state.closing.get(key);
  if (known) return known;
  const work = closeNow(state, key).finally(() => state.closing.delete(key));
  state.closing.set(key, work);
  return work;
}

async function closeNow(state: State, key: string): Promise<void> {
  const { deps, signal, timers } = state;
  timers.get(key)?.abort();
  timers.delete(key);
  for (;;) {
    const pieces = state.kept.open[key];
    if (!pieces || signal.aborted) return;
    const delivered = await state.deliver(pieces, signal).catch((error: unknown) => {
      deps.log.error("album not stored yet", { error });
      return false;
    });
    if (delivered) {
      const { [key]: _closed, ...open } = state.kept.open;
      const done = [...state.kept.done, ...pieces.map((one) => one.update_id)].slice(-REMEMBERED_IDS);
      state.kept = { open, done };
      // delivered twice it is recognised by its id, so a failed note does no harm
      return void (await save(state).catch((error: unknown) => deps.log.warn("album not noted", { error })));
    }
    await deps.clock.sleep(RETRY_MS, signal).catch(() => undefined); // stopping is the normal end
  }
}

function closeLater(state: State, key: string): void {
  const { deps, signal, timers } = state;
  timers.get(key)?.abort();
  const timer = new AbortController();
  timers.set(key, timer);
  deps.clock.sleep(WAIT_MS, AbortSignal.any([signal, timer.signal])).then(
    () => close(state, key),
    () => undefined, // another piece came, or we are stopping
  );
}
