/** The connection to the gateway that this process was started with. One for the whole process: an extension is loaded again for every session. */
import { type Connection, connectDescriptor } from "../src/kit/mux/descriptor.ts";

/** The place of the connection among the descriptors of the process. */
const DESCRIPTOR = 3;
const KEY = Symbol.for("pi-gateway.connection");

export function gatewayConnection(): Connection {
  const holder = globalThis as { [KEY]?: Connection };
  holder[KEY] ??= connectDescriptor(DESCRIPTOR, {
    side: "odd",
    opened: (stream) => stream.abort("nothing is served here"),
    closed: () => undefined, // calls fail from now on, and say so
  });
  return holder[KEY];
}
