/** A value that one part announces and others hear. It lets a part be built before its listeners: nobody has to be handed in later. */

export interface Topic<T> {
  /** Without a listener nothing happens. Listeners are called at once, in the order in which they came. */
  publish(value: T): void;
  subscribe(listener: (value: T) => void): Disposable;
}

export function createTopic<T>(): Topic<T> {
  const listeners = new Set<(value: T) => void>();
  return {
    publish(value) {
      for (const listener of [...listeners]) listener(value);
    },
    subscribe(listener) {
      listeners.add(listener);
      return { [Symbol.dispose]: () => void listeners.delete(listener) };
    },
  };
}
