/**
 * Lanes that are ready, in the order in which they are served: highest priority first, longest waiting first among equals. Waiting raises the
 * priority, so that a stream of more important work holds nobody back for ever.
 */
export interface ReadyLine<T> {
  readonly size: number;
  push(item: T, priority: number, now: number): void;
  /** The next one leaves the line. */
  shift(now: number): T | null;
  remove(item: T): void;
  all(): Iterable<T>;
}

/** Who waits this long rises by one. As for those who wait for an agent. */
export const RISE_EVERY_MS = 10_000;

interface Standing<T> {
  readonly item: T;
  readonly since: number;
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
    shift(now) {
      let best: { priority: number; line: Standing<T>[]; rank: number; since: number } | null = null;
      for (const [priority, line] of lines) {
        const since = line[0]?.since ?? now;
        const rank = priority + Math.floor((now - since) / RISE_EVERY_MS);
        if (!best || rank > best.rank || (rank === best.rank && since < best.since))
          best = { priority, line, rank, since };
      }
      const first = best?.line[0];
      if (!best || !first) return null;
      leave(best.priority, best.line, 0);
      return first.item;
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
