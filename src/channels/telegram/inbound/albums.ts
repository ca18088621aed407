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

interface Shelf {
  readonly deps: { readonly clock: Clock; readonly log: Log; readonly facts: AccountState };
  readonly deliver: (pieces: readonly Update[], signal: AbortSignal) => Promise<boolean>;
  readonly signal: AbortSignal;
  kept: Kept;
  saving: Promise<void>;
  readonly timers: Map<string, AbortController>;
  readonly closing: Map<string, Promise<void>>;
}

export function createAlbums(deps: Shelf["deps"], deliver: Shelf["deliver"], signal: AbortSignal): Albums {
  const shelf: Shelf = {
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
      await shelf.closing.get(key); // too late for that one: it begins another
      const pieces = await keepPiece(shelf, key, update);
      if (pieces >= PIECES_MAX || (last && pieces > 0)) void close(shelf, key);
      else if (pieces > 0) closeLater(shelf, key);
    },
    newest(chat, album) {
      const key = JSON.stringify([chat, album]);
      return shelf.closing.has(key) ? null : (shelf.kept.open[key]?.at(-1) ?? null);
    },
    async flush(chat) {
      const keys = Object.keys(shelf.kept.open).filter((key) => (JSON.parse(key) as string[])[0] === chat);
      for (const key of keys) await close(shelf, key);
    },
    async resume() {
      const failed = (error: unknown, nextTryInMs: number): void =>
        deps.log.error("stored albums could not be read yet", { nextTryInMs, error });
      const stored = await untilDone({ clock: deps.clock, failed }, () => deps.facts.get(KEY), signal);
      if (stored !== null) shelf.kept = readKept(shelf, stored);
      for (const key of Object.keys(shelf.kept.open)) void close(shelf, key);
    },
    async settled() {
      await Promise.all(shelf.closing.values());
    },
  };
}

/** As it is written below. Pieces of a damaged note are lost; the account is not. */
function readKept({ deps, kept }: Shelf, stored: string): Kept {
  try {
    return JSON.parse(stored) as Kept;
  } catch (error) {
    deps.log.error("stored albums cannot be read", { error });
    return kept;
  }
}

function save(shelf: Shelf): Promise<void> {
  shelf.saving = shelf.saving
    .catch(() => undefined) // an earlier failure was told to its caller
    .then(() => shelf.deps.facts.put(KEY, JSON.stringify(shelf.kept)));
  return shelf.saving;
}

/** How many there are now; 0: this one was here before. */
async function keepPiece(shelf: Shelf, key: string, update: Update): Promise<number> {
  const { open, done } = shelf.kept;
  const pieces = open[key] ?? [];
  if (done.includes(update.update_id) || pieces.some((one) => one.update_id === update.update_id)) return 0;
  const now = [...pieces, update].toSorted((a, b) => a.update_id - b.update_id);
  shelf.kept = { done, open: { ...open, [key]: now } };
  try {
    await save(shelf);
  } catch (error) {
    shelf.kept = { ...shelf.kept, open: { ...shelf.kept.open, [key]: pieces } };
    throw error;
  }
  return now.length;
}

/** Never rejects: what is not delivered is tried again. */
function close(shelf: Shelf, key: string): Promise<void> {
  const known = shelf.closing.get(key);
  if (known) return known;
  const work = closeNow(shelf, key).finally(() => shelf.closing.delete(key));
  shelf.closing.set(key, work);
  return work;
}

async function closeNow(shelf: Shelf, key: string): Promise<void> {
  const { deps, signal, timers } = shelf;
  timers.get(key)?.abort();
  timers.delete(key);
  for (;;) {
    const pieces = shelf.kept.open[key];
    if (!pieces || signal.aborted) return;
    const delivered = await shelf.deliver(pieces, signal).catch((error: unknown) => {
      deps.log.error("album not stored yet", { error });
      return false;
    });
    if (delivered) {
      const { [key]: _closed, ...open } = shelf.kept.open;
      const done = [...shelf.kept.done, ...pieces.map((one) => one.update_id)].slice(-REMEMBERED_IDS);
      shelf.kept = { open, done };
      // delivered twice it is recognised by its id, so a failed note does no harm
      return void (await save(shelf).catch((error: unknown) => deps.log.warn("album not noted", { error })));
    }
    await deps.clock.sleep(RETRY_MS, signal).catch(() => undefined); // stopping is the normal end
  }
}

function closeLater(shelf: Shelf, key: string): void {
  const { deps, signal, timers } = shelf;
  timers.get(key)?.abort();
  const timer = new AbortController();
  timers.set(key, timer);
  deps.clock.sleep(WAIT_MS, AbortSignal.any([signal, timer.signal])).then(
    () => close(shelf, key),
    () => undefined, // another piece came, or we are stopping
  );
}
