/** Streams over a file descriptor that is one end of a socket pair. The capability is the descriptor: who has it may open streams, and nobody else. */
import { createMux, type Mux, type MuxStream } from "./mux.ts";

export interface Connection extends Pick<Mux, "open"> {
  /** Every stream ends, and the descriptor is closed. Safe to call twice. */
  close(reason: string): void;
}

interface ConnectionOptions {
  readonly side: "odd" | "even";
  opened(stream: MuxStream, head: unknown): void;
  /** The other side is gone, or does not keep to the rules. Every stream has ended. */
  closed(why: string): void;
}

/** What we use of a socket of Bun that was made from a descriptor. Its types know of sockets by name only. */
interface Socket {
  write(bytes: Uint8Array): number;
  end(): void;
}

interface SocketHandlers {
  open(socket: Socket): void;
  data(socket: Socket, bytes: Uint8Array): void;
  drain(): void;
  close(): void;
  error(socket: Socket, error: Error): void;
}

const connect = Bun.connect as unknown as (options: {
  readonly fd: number;
  readonly socket: SocketHandlers;
}) => Promise<Socket>;

export function connectDescriptor(fd: number, options: ConnectionOptions): Connection {
  let socket: Socket | null = null;
  let over: string | null = null;

  const finish = (why: string): void => {
    if (over !== null) return;
    over = why;
    mux.close(why);
    socket?.end();
    options.closed(why);
  };
  const mux = createMux({
    side: options.side,
    write: (bytes) => socket?.write(bytes) ?? 0, // until it is open everything waits
    opened: options.opened,
    broken: finish,
  });
  const opened = (made: Socket): void => {
    socket = made;
    if (over === null) mux.drained();
    else made.end();
  };
  connect({
    fd,
    socket: {
      open: opened,
      data: (_socket, bytes) => mux.push(bytes),
      drain: () => mux.drained(),
      close: () => finish("the connection was closed"),
      error: (_socket, error) => finish(error.message),
    },
  }).catch((error: unknown) => finish(error instanceof Error ? error.message : "no connection"));
  return { open: mux.open, close: finish };
}
