/** Tells when nobody has used something for a while: it counts the uses that are open, and waits once there is none. */
import type { Clock } from "./clock.ts";

export interface IdleTimer extends Disposable {
  /** Until it is disposed, the thing is in use. */
  use(): Disposable;
  /** Begins to wait anew, if nobody uses the thing. */
  restart(): void;
}

interface IdleOptions {
  idleMs(): number;
  /** Nobody has used the thing for that long. */
  unused(): void;
}

/** Dispose it when nobody has to be told any more. */
export function createIdleTimer(clock: Clock, { idleMs, unused }: IdleOptions): IdleTimer {
  let uses = 0;
  let isOver = false;
  let waiting = new AbortController();
  const restart = (): void => {
    waiting.abort();
    if (uses > 0 || isOver) return;
    waiting = new AbortController();
    clock.sleep(idleMs(), waiting.signal).then(unused, () => undefined); // somebody uses it again, or it is over
  };
  return {
    restart,
    use() {
      uses++;
      waiting.abort();
      let isDone = false;
      return {
        [Symbol.dispose]() {
          if (isDone) return;
          isDone = true;
          uses--;
          restart();
        },
      };
    },
    [Symbol.dispose]() {
      isOver = true;
      waiting.abort();
    },
  };
}
