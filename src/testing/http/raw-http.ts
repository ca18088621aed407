/** Speaks to a port byte by byte, for requests that no client library would send. */
export interface RawExchange {
  readonly text: string;
  /** The status of every response on the connection, in order. */
  readonly statuses: readonly number[];
  readonly closed: boolean;
}

const QUIET_MS = 150;

/** Sends `request` and collects what comes back until the server closes, or nothing more comes for a moment. */
export async function rawExchange(port: number, request: string | readonly string[]): Promise<RawExchange> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  let text = "";
  let quiet = setTimeout(() => resolve(false), QUIET_MS * 4);
  const socket = await Bun.connect({
    hostname: "127.0.0.1",
    port,
    socket: {
      data(_socket, data) {
        text += data.toString("latin1");
        clearTimeout(quiet);
        quiet = setTimeout(() => resolve(false), QUIET_MS);
      },
      close: () => resolve(true),
      error: () => resolve(true),
    },
  });
  for (const part of typeof request === "string" ? [request] : request) {
    socket.write(part);
    socket.flush();
  }
  const closed = await promise;
  clearTimeout(quiet);
  socket.end();
  return { text, closed, statuses: [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map((found) => Number(found[1])) };
}
