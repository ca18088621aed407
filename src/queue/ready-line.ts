/**
 * Lanes that are ready, in the order in which they are served: highest priority first, longest waiting first among equals. Waiting raises the
 * priority, so that a stream of more important work holds nobody back for ever. Among equals, a lane whose session is open in an idle process
 * goes first, as long as nobody waits long for it: its turn needs no switch.
 */
export interface ReadyLine<T> {
  readonly size: number;
  push(item: T, priority: number, now: number): void;
  /** The next one leaves the line. `isOpen`: its session is open in an idle process. */
  shift(now: number, isOpen?: (item: T) => boolean): T | null;
  remove(item: T): void;
  all(): Iterable<T>;
}

/** Who waits this long rises by one. As for those who wait for an agent. */
export const RISE_EVERY_MS = 10_000;

/** Whoever has waited this long is overtaken by nobody of the same priority. */
export const MAX_OVERTAKEN_MS = 1_000;
/** So many are looked at, so that a long line costs no more than a short one. */
export const LOOK_AHEAD = 32;

interface Standing<T> {
  readonly item: T;
  readonly since: number;
}

/**
 * Which of a line of equals is served next: the first, or, while that one has not waited for long, the first among the next few whose session
 * is open. Their turn is shorter by the switch to another session, so all are served sooner.
 */
export function nextOfEquals<T>(line: readonly Standing<T>[], now: number, isOpen: (item: T) => boolean): number {
  const [first] = line;
  if (!first || now - first.since >= MAX_OVERTAKEN_MS) return 0;
  const found = line.slice(0, LOOK_AHEAD).findIndex(({ item }) => isOpen(item));
  return Math.max(0, found);
}

export function createReadyLine<T>(): ReadyLine<T> {
  const lines = new Map<number, Standing<T>[]>(); // in each the first has waited longest
  let size = 0;

  const leave = (priority: number, line: Standing<T>[], at: number): void => {
    line.splice(at, 1);
    size--;
    if (line.length === 0) lines.delete(priority);
  };

  return {
    get size() {
      return size;
    },
    push(item, priority, now) {
      const line = lines.get(priority) ?? [];
      line.push({ item, since: now });
      lines.set(priority, line);
      size++;
    },
    shift(now, isOpen) {
      let best: { priority: number; line: Standing<T>[]; rank: number; since: number } | null = null;
      for (const [priority, line] of lines) {
        const since = line[0]?.since ?? now;
        const rank = priority + Math.floor((now - since) / RISE_EVERY_MS);
        if (!best || rank > best.rank || (rank === best.rank && since < best.since))
          best = { priority, line, rank, since };
      }
      if (!best) return null;
      const at = isOpen ? nextOfEquals(best.line, now, isOpen) : 0;
      const next = best.line[at];
      if (!next) return null;
      leave(best.priority, best.line, at);
      return next.item;
    },
    remove(item) {
      for (const [priority, line] of lines) {
        const at = line.findIndex((one) => one.item === item);
        if (at >= 0) return leave(priority, line, at);
      }
    },
    *all() {
      for (const line of lines.values()) for (const { item } of line) yield item;
    },
  };
}
