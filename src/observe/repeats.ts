/** Keeps one excited part from filling the log: the same words too often in a short time are counted and summed up once. */
import type { Clock } from "../kit/clock.ts";

export interface Repeats extends Disposable {
  /** False: counted, do not write this one. */
  admit(words: string): boolean;
}

const MAX_SAME_WORDS = 100;
const SAME_WORDS_WINDOW_MS = 10_000;
/** Words are constants, so there are few; a caller who builds them anyway must not fill the memory. */
const MAX_TRACKED = 1_000;

interface Seen {
  readonly since: number;
  count: number;
}

/** `tell` is called once per window in which something was held back. */
export function createRepeats(
  deps: { readonly clock: Clock },
  tell: (words: string, heldBack: number) => void,
): Repeats {
  const { clock } = deps;
  const stopping = new AbortController();
  const seen = new Map<string, Seen>();

  const endWindow = (words: string): void => {
    const ended = seen.get(words);
    seen.delete(words);
    if (ended && ended.count > MAX_SAME_WORDS) tell(words, ended.count - MAX_SAME_WORDS);
  };
  const endWindowLater = (words: string, ms: number): void => {
    clock.sleep(ms, stopping.signal).then(
      () => endWindow(words),
      () => undefined, // stopping: dispose tells what is left
    );
  };
  const forgetOver = (now: number): void => {
    for (const [words, { since, count }] of seen) {
      if (now - since >= SAME_WORDS_WINDOW_MS && count <= MAX_SAME_WORDS) seen.delete(words);
    }
    if (seen.size >= MAX_TRACKED) for (const words of [...seen.keys()]) endWindow(words);
  };

  return {
    admit(words) {
      const now = clock.elapsed();
      const known = seen.get(words);
      if (!known || (now - known.since >= SAME_WORDS_WINDOW_MS && known.count <= MAX_SAME_WORDS)) {
        if (seen.size >= MAX_TRACKED) forgetOver(now);
        seen.set(words, { since: now, count: 1 });
        return true;
      }
      known.count++;
      if (known.count === MAX_SAME_WORDS + 1) endWindowLater(words, known.since + SAME_WORDS_WINDOW_MS - now);
      return known.count <= MAX_SAME_WORDS;
    },
    [Symbol.dispose]() {
      stopping.abort();
      for (const words of [...seen.keys()]) endWindow(words);
    },
  };
}
