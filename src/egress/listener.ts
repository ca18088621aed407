/** A proxy on a loopback port, for one agent process. Who connects is known by the port, so each process has its own. */
import type { Egress, EgressCaller, ProxyListener } from "../contracts/egress.ts";
import { createSocketStream, type SocketStream } from "../kit/mux/socket-stream.ts";

const MAX_CONNECTIONS = 64;

/** `caller`: for whom the process works now; null: for nobody, and then it reaches nothing. */
export function listenForPrograms(egress: Pick<Egress, "serve">, caller: () => EgressCaller | null): ProxyListener {
  const open = new Set<SocketStream>();
  const listener = Bun.listen<SocketStream>({
    hostname: "127.0.0.1",
    port: 0,
    allowHalfOpen: true,
    socket: {
      open(socket) {
        const who = caller();
        if (!who || open.size >= MAX_CONNECTIONS) {
          socket.end();
          return;
        }
        const stream = createSocketStream(socket);
        socket.data = stream;
        open.add(stream);
        void egress.serve(stream, who).finally(() => {
          open.delete(stream);
          socket.end();
        });
      },
      data: (socket, bytes) => socket.data?.arrived(bytes),
      drain: (socket) => socket.data?.drained(),
      end: (socket) => socket.data?.ended(),
      close: (socket) => socket.data?.closed(null),
      error: (socket, error) => socket.data?.closed(error),
    },
  });
  return {
    port: listener.port,
    [Symbol.dispose]: () => listener.stop(true), // whoever serves a connection is told by its end
  };
}
