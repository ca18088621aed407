/** Back-pressure of one stream: how much may be sent before the other side has taken it, and what has arrived and was not read yet. */
import { type Deferred, deferred } from "../deferred.ts";

/** How much of a stream may be under way. Bounds what either side holds, however long an answer is. */
export const WINDOW_BYTES = 256 * 1024;

export interface SendWindow {
  /** Resolves with how much may be sent now, at most `wanted`, and takes that off. Rejects when the stream is over. */
  take(wanted: number): Promise<number>;
  grant(bytes: number): void;
  close(reason: unknown): void;
}

export function createSendWindow(): SendWindow {
  let left = WINDOW_BYTES;
  let waiting: Deferred<void> | null = null;
  let closed: { readonly reason: unknown } | null = null;
  return {
    async take(wanted) {
      while (left === 0 && !closed) {
        waiting ??= deferred<void>();
        await waiting.promise;
      }
      if (closed) throw closed.reason;
      const bytes = Math.min(left, wanted);
      left -= bytes;
      return bytes;
    },
    grant(bytes) {
      left = Math.min(left + bytes, WINDOW_BYTES);
      waiting?.resolve();
      waiting = null;
    },
    close(reason) {
      closed ??= { reason };
      waiting?.resolve();
      waiting = null;
    },
  };
}

interface Arrivals {
  /** False: the other side has sent more than it was allowed to. */
  push(chunk: Uint8Array): boolean;
  end(): void;
  fail(reason: unknown): void;
  /** The next chunk; null after the last one. One reader at a time. */
  read(): Promise<Uint8Array | null>;
}

/** `granted`: so many bytes were read, and may be sent again. Told in large steps. */
export function createArrivals(granted: (bytes: number) => void): Arrivals {
  const chunks: Uint8Array[] = [];
  let held = 0; // arrived and not told as read
  let read = 0; // read and not told yet
  let ended = false;
  let failed: { readonly reason: unknown } | null = null;
  let waiting: Deferred<void> | null = null;

  const wake = (): void => {
    waiting?.resolve();
    waiting = null;
  };
  const told = (bytes: number): void => {
    read += bytes;
    if (read < WINDOW_BYTES / 2 || ended) return;
    held -= read;
    granted(read);
    read = 0;
  };

  return {
    push(chunk) {
      if (ended || failed || chunk.length === 0) return true; // late, or nothing
      held += chunk.length;
      if (held > WINDOW_BYTES) return false;
      chunks.push(chunk);
      wake();
      return true;
    },
    end() {
      ended = true;
      wake();
    },
    fail(reason) {
      failed ??= { reason };
      chunks.length = 0;
      wake();
    },
    async read() {
      for (;;) {
        if (failed) throw failed.reason;
        const chunk = chunks.shift();
        if (chunk) {
          told(chunk.length);
          return chunk;
        }
        if (ended) return null;
        waiting ??= deferred<void>();
        await waiting.promise;
      }
    },
  };
}
