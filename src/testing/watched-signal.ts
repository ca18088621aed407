/** An abort controller whose signal counts its listeners: a listener that stays after the work keeps everything alive that it knows of. */
interface WatchedAbort {
  readonly signal: AbortSignal;
  abort(): void;
  listeners(): number;
}

export function watchedAbort(): WatchedAbort {
  const controller = new AbortController();
  const { signal } = controller;
  const listeners = new Set<unknown>();
  const [add, remove] = [signal.addEventListener.bind(signal), signal.removeEventListener.bind(signal)];
  signal.addEventListener = (...given: Parameters<typeof add>) => {
    listeners.add(given[1]);
    add(...given);
  };
  signal.removeEventListener = (...given: Parameters<typeof remove>) => {
    listeners.delete(given[1]);
    remove(...given);
  };
  add("abort", () => listeners.clear(), { once: true }); // all of them are `once`: the abort takes them away
  return { signal, abort: () => controller.abort(new Error("the turn is over")), listeners: () => listeners.size };
}
