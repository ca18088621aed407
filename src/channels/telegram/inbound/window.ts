/** Which updates have been handed over and which are stored: the offset never passes one that is not. Pure bookkeeping. */
export interface UpdateWindow {
  /** True when this one has not been seen; it counts as open from now on. */
  begin(id: number): boolean;
  /** It is stored, or there was nothing to store. */
  settle(id: number): void;
  readonly open: number;
  /** The lowest update that may not be forgotten; null before the first one. */
  offset(): number | null;
}

/** What was confirmed to a platform that forgot it is brought again; further back, the platform has begun to count anew. */
const REMEMBERED = 1_000;

/** `confirmed`: where a previous process was. */
export function createUpdateWindow(confirmed: number | null): UpdateWindow {
  const open = new Set<number>();
  const settled = new Set<number>();
  let low = confirmed;
  let high: number | null = confirmed === null ? null : confirmed - 1;

  const advance = (): void => {
    if (high === null) return;
    low = open.size > 0 ? Math.min(...open) : high + 1;
    for (const id of settled) if (id < low) settled.delete(id);
  };

  return {
    begin(id) {
      if (open.has(id) || settled.has(id)) return false;
      if (low !== null && id < low && id >= low - REMEMBERED) return false;
      if (low !== null && id < low) {
        settled.clear(); // numbers start again after a long silence
        high = id - 1;
      }
      open.add(id);
      high = Math.max(high ?? id, id);
      return true;
    },
    settle(id) {
      if (!open.delete(id)) return;
      settled.add(id);
      advance();
    },
    get open() {
      return open.size;
    },
    offset: () => (open.size > 0 ? Math.min(...open) : low),
  };
}
