/**
 * Pictures that were sent as one come as several updates. Each is written down at once, so that it may be confirmed; a moment after the last
 * one they become one message, whose id is that of the first. A crash in between loses none: the next life goes on with what is written.
 */
import type { Update } from "grammy/types";
import type { Clock } from "../../../kit/clock.ts";
import type { Log } from "../../../kit/log.ts";
import type { AccountFacts } from "../facts.ts";

export interface Albums {
  /** Durable when it resolves. */
  add(chat: string, album: string, update: Update): Promise<void>;
  /** Something else was said in this chat: its albums come first. */
  flush(chat: string): Promise<void>;
  /** Goes on with what an earlier life wrote down. */
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
const PIECES_MAX = 10;
const WAIT_MS = 1_200;
const RETRY_MS = 1_000;
const REMEMBERED_IDS = 200;

export function createAlbums(
  deps: { readonly clock: Clock; readonly log: Log; readonly facts: AccountFacts },
  deliver: (pieces: readonly Update[], signal: AbortSignal) => Promise<boolean>,
  signal: AbortSignal,
): Albums {
  const { clock, log, facts } = deps;
  let kept: Kept = { open: {}, done: [] };
  let saving: Promise<void> = Promise.resolve();
  const timers = new Map<string, AbortController>();
  const closing = new Map<string, Promise<void>>();

  const save = (): Promise<void> => {
    saving = saving.catch(() => undefined).then(() => facts.put(KEY, JSON.stringify(kept))); // an earlier failure was told to its caller
    return saving;
  };

  const closeNow = async (key: string): Promise<void> => {
    timers.get(key)?.abort();
    timers.delete(key);
    for (;;) {
      const pieces = kept.open[key];
      if (!pieces || signal.aborted) return;
      const delivered = await deliver(pieces, signal).catch((error: unknown) => {
        log.error("album not stored yet", { error });
        return false;
      });
      if (delivered) {
        const { [key]: _closed, ...open } = kept.open;
        kept = { open, done: [...kept.done, ...pieces.map((one) => one.update_id)].slice(-REMEMBERED_IDS) };
        // delivered twice it is recognised by its id, so a failed note does no harm
        return void (await save().catch((error: unknown) => log.warn("album not noted", { error })));
      }
      await clock.sleep(RETRY_MS, signal).catch(() => undefined); // stopping is the normal end
    }
  };
  const close = (key: string): Promise<void> => {
    const known = closing.get(key);
    if (known) return known;
    const work = closeNow(key).finally(() => closing.delete(key));
    closing.set(key, work);
    return work;
  };
  const closeLater = (key: string): void => {
    timers.get(key)?.abort();
    const timer = new AbortController();
    timers.set(key, timer);
    clock.sleep(WAIT_MS, AbortSignal.any([signal, timer.signal])).then(
      () => close(key),
      () => undefined, // another piece came, or we are stopping
    );
  };

  return {
    async add(chat, album, update) {
      const key = JSON.stringify([chat, album]);
      await closing.get(key); // too late for that one: it begins another
      const pieces = kept.open[key] ?? [];
      const known = [...kept.done, ...pieces.map((one) => one.update_id)];
      if (known.includes(update.update_id)) return;
      const now = [...pieces, update].toSorted((a, b) => a.update_id - b.update_id);
      kept = { ...kept, open: { ...kept.open, [key]: now } };
      try {
        await save();
      } catch (error) {
        kept = { ...kept, open: { ...kept.open, [key]: pieces } };
        throw error;
      }
      if (now.length >= PIECES_MAX) void close(key);
      else closeLater(key);
    },
    async flush(chat) {
      const keys = Object.keys(kept.open).filter((key) => (JSON.parse(key) as string[])[0] === chat);
      for (const key of keys) await close(key);
    },
    async resume() {
      const stored = await facts.get(KEY);
      if (stored !== null) kept = JSON.parse(stored) as Kept; // written above
      for (const key of Object.keys(kept.open)) void close(key);
    },
    async settled() {
      await Promise.all(closing.values());
    },
  };
}
