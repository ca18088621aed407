/** The bytes of one TCP connection as a stream with back-pressure on both sides. Whoever owns the socket passes its events on. */
import { type Deferred, deferred } from "../deferred.ts";
import type { ByteStream } from "./byte-stream.ts";

/** What is used of a socket. */
interface PlainSocket {
  write(bytes: Uint8Array): number;
  pause(): void;
  resume(): void;
  shutdown(): void;
  end(): void;
}

export interface SocketStream extends ByteStream {
  arrived(bytes: Uint8Array): void;
  drained(): void;
  /** The other side writes nothing more. */
  ended(): void;
  /** The connection is gone. */
  closed(error: Error | null): void;
}

export function createSocketStream(socket: PlainSocket): SocketStream {
  const waiting: Uint8Array[] = [];
  const cut = new AbortController();
  let complete = false; // what the other side writes
  let shut = false; // what we write
  let readable: Deferred<void> | null = null;
  let writable: Deferred<void> | null = null;

  const wake = (): void => {
    readable?.resolve();
    writable?.resolve();
    readable = writable = null;
  };
  const finish = (reason: Error): void => {
    if (!cut.signal.aborted && !(complete && shut)) cut.abort(reason);
    complete = true;
    wake();
  };

  return {
    cut: cut.signal,
    arrived(bytes) {
      waiting.push(bytes);
      socket.pause(); // until this was read
      wake();
    },
    drained: wake,
    ended() {
      complete = true;
      wake();
    },
    closed: (error) => finish(error ?? new Error("the connection was closed")),
    async read() {
      for (;;) {
        cut.signal.throwIfAborted();
        const bytes = waiting.shift();
        if (bytes) {
          if (waiting.length === 0) socket.resume();
          return bytes;
        }
        if (complete) return null;
        readable ??= deferred<void>();
        await readable.promise;
      }
    },
    async write(bytes) {
      for (let sent = 0; sent < bytes.length;) {
        cut.signal.throwIfAborted();
        const taken = socket.write(bytes.subarray(sent));
        if (taken < 0) throw new Error("the connection is closed");
        sent += taken;
        if (sent === bytes.length) return;
        writable ??= deferred<void>();
        await writable.promise;
      }
    },
    end() {
      shut = true;
      socket.shutdown();
    },
    abort(reason) {
      finish(new Error(reason));
      socket.end();
    },
  };
}
