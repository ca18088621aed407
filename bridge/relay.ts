/**
 * The ports that programs of this process find on the loopback network of its sandbox, which has no other network: the gateway's own, at its
 * usual address, and a proxy for hosts outside. Everything is passed on through the connection to the gateway, which decides.
 */
import { joinStreams } from "../src/kit/mux/byte-stream.ts";
import type { Connection } from "../src/kit/mux/descriptor.ts";
import { createSocketStream, type SocketStream } from "../src/kit/mux/socket-stream.ts";
import { proxyVariables } from "../src/kit/proxy-variables.ts";
import { gatewayConnection } from "./connection.ts";
import { isRecord } from "./orders.ts";

const KEY = Symbol.for("pi-gateway.relay");

/** As the gateway says it: `{"gateway": 8787}`. Nothing: this process has the machine's network. */
export function relayPorts(): void {
  const holder = globalThis as { [KEY]?: true };
  const plan: unknown = JSON.parse(process.env.PI_GATEWAY_RELAY ?? "null");
  if (holder[KEY] || !isRecord(plan)) return;
  holder[KEY] = true;
  delete process.env.PI_GATEWAY_RELAY;
  const connection = gatewayConnection();
  if (typeof plan.gateway === "number") listen(connection, plan.gateway, "gateway");
  // for the programs that this process starts from now on
  Object.assign(process.env, proxyVariables(`http://127.0.0.1:${listen(connection, 0, "host")}`));
}

function listen({ open }: Connection, port: number, to: "gateway" | "host"): number {
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
