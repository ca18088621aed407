/** Promises: with their handles outside, with an end by a signal, and made at first use. */

/** For handing a result from one event to the code that waits for it. */
export interface Deferred<T> {
  readonly promise: Promise<T>;
  resolve(value: T): void;
  reject(reason: unknown): void;
}

export function deferred<T>(): Deferred<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  promise.catch(() => undefined); // whoever awaits it still sees the rejection; nobody awaiting is not a crash
  return { promise, resolve, reject };
}

/** Resolves with `promise`, or rejects with the signal's reason as soon as it aborts. */
export function orAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  if (signal.aborted) {
    promise.catch(() => undefined); // nobody awaits it any more, and its failure is not a crash
    return Promise.reject(signal.reason);
  }
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason);
    signal.addEventListener("abort", stop, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", stop));
  });
}

/**
 * Made at first use and kept. A failure is not kept: an import that failed because the process had no file descriptors left must work again
 * once it has some.
 */
export function lazy<T>(load: () => Promise<T>): () => Promise<T> {
  let value: Promise<T> | null = null;
  return () => {
    if (value !== null) return value;
    const loading = load().catch((error: unknown) => {
      if (value === loading) value = null;
      throw error;
    });
    value = loading;
    return loading;
  };
}
