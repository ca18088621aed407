/** One connection to a host outside. */
import type { ByteStream } from "../kit/mux/byte-stream.ts";
import { createSocketStream, type SocketStream } from "../kit/mux/socket-stream.ts";

/** `address`: as it was judged, never a name. */
export async function connectOut(address: string, port: number): Promise<ByteStream> {
  const socket = await Bun.connect<SocketStream>({
    hostname: address,
    port,
    allowHalfOpen: true,
    socket: {
      open(made) {
        made.data = createSocketStream(made);
      },
      data: (made, bytes) => made.data.arrived(bytes),
      drain: (made) => made.data.drained(),
      end: (made) => made.data.ended(),
      close: (made) => made.data?.closed(null),
      error: (made, error) => made.data?.closed(error),
    },
  });
  return socket.data;
}
