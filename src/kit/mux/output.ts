/** Frames on their way to the connection: in order, those of one moment in one write, and waiting where the connection does not take them. */
import { deferred } from "../deferred.ts";
import { encodeFrame, type FrameKind } from "./frames.ts";

export interface Output {
  send(kind: FrameKind, stream: number, payload?: Uint8Array): void;
  /** Resolves when the connection takes more. */
  room(): Promise<void>;
  flush(): void;
  close(): void;
}

/** More than this is written at once: it is worth a write of its own. */
const MAX_GATHERED_BYTES = 16 * 1024;

/**
 * Each write wakes the other side, so frames that follow each other at once (a head, its only bytes, their end) are gathered for the rest of
 * the moment. Frames that the connection did not take wait here, in order. Senders of data wait for room, so that this stays small.
 */
export function createOutput(write: (bytes: Uint8Array) => number): Output {
  let waiting: Uint8Array[] = [];
  let bytes = 0;
  let isFull = false; // the connection took less than it was offered
  let gathering = false;
  let closed = false;
  let room = deferred<void>();
  room.resolve();

  const flush = (): void => {
    const [first] = waiting;
    if (closed || !first) return;
    const all = waiting.length === 1 ? first : Buffer.concat(waiting);
    const taken = Math.max(write(all), 0);
    waiting = taken < all.length ? [all.subarray(taken)] : [];
    bytes = all.length - taken;
    const wasFull = isFull;
    isFull = bytes > 0;
    if (isFull && !wasFull) room = deferred<void>();
    if (!isFull) room.resolve();
  };
  const gather = (): void => {
    if (gathering) return;
    gathering = true;
    setImmediate(() => {
      gathering = false;
      if (!isFull) flush(); // otherwise the connection says when it takes more
    });
  };
  return {
    send(kind, stream, payload) {
      if (closed) return;
      const frame = encodeFrame(kind, stream, payload);
      waiting.push(frame);
      bytes += frame.length;
      if (isFull) return;
      if (bytes > MAX_GATHERED_BYTES) flush();
      else gather();
    },
    room: () => room.promise,
    flush,
    close() {
      closed = true;
      waiting = [];
      room.resolve();
    },
  };
}
