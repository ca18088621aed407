/** Work beside the flow, so that closing can wait for it. */
export interface Tasks {
  /** Resolves with its end, however it ends. */
  add(work: Promise<unknown>): Promise<void>;
  /** Nothing is under way any more. */
  settled(): Promise<void>;
}

export function createTasks(onFailed: (error: unknown) => void): Tasks {
  const open = new Set<Promise<void>>();
  return {
    add(work) {
      const done: Promise<void> = work.then(() => undefined, onFailed).finally(() => open.delete(done));
      open.add(done);
      return done;
    },
    async settled() {
      for (const one of open) await one; // work that is added meanwhile is visited too
    },
  };
}
