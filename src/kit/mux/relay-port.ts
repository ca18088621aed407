/** A port on the loopback network of a sandbox, which has no other network: what connects to it is passed on through the connection to the gateway, which decides. */
import { joinStreams } from "./byte-stream.ts";
import type { Connection } from "./descriptor.ts";
import { createSocketStream, type SocketStream } from "./socket-stream.ts";

/** `port` 0 picks a free one. Gives back the port. */
export function relayPort({ open }: Pick<Connection, "open">, port: number, to: "gateway" | "host"): number {
  const listener = Bun.listen<SocketStream>({
    hostname: "127.0.0.1",
    port,
    allowHalfOpen: true,
    socket: {
      open(socket) {
        const stream = createSocketStream(socket);
        socket.data = stream;
        joinStreams(stream, open({ to }))
          .catch(() => undefined) // the program sees its connection end
          .finally(() => socket.end());
      },
      data: (socket, bytes) => socket.data.arrived(bytes),
      drain: (socket) => socket.data.drained(),
      end: (socket) => socket.data.ended(),
      close: (socket) => socket.data.closed(null),
      error: (socket, error) => socket.data.closed(error),
    },
  });
  listener.unref(); // does not keep a process alive that is told to end
  return listener.port;
}
