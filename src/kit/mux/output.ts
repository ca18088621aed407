/** Frames on their way to the connection: in order, and waiting where it does not take them at once. */
import { deferred } from "../deferred.ts";
import { encodeFrame, type FrameKind } from "./frames.ts";

export interface Output {
  send(kind: FrameKind, stream: number, payload?: Uint8Array): void;
  /** Resolves when nothing waits to be written. */
  room(): Promise<void>;
  flush(): void;
  close(): void;
}

/** Frames that the connection did not take at once wait here, in order. Senders of data wait for room, so that this stays small. */
export function createOutput(write: (bytes: Uint8Array) => number): Output {
  const waiting: Uint8Array[] = [];
  let room = deferred<void>();
  let closed = false;
  room.resolve();

  const flush = (): void => {
    for (let first = waiting[0]; first !== undefined && !closed; first = waiting[0]) {
      const taken = write(first);
      if (taken < first.length) {
        waiting[0] = first.subarray(Math.max(taken, 0));
        return;
      }
      waiting.shift();
    }
    room.resolve();
  };
  return {
    send(kind, stream, payload) {
      if (closed) return;
      if (waiting.length === 0) room = deferred<void>();
      waiting.push(encodeFrame(kind, stream, payload));
      if (waiting.length === 1) flush();
    },
    room: () => room.promise,
    flush,
    close() {
      closed = true;
      waiting.length = 0;
      room.resolve();
    },
  };
}
