/** Speaks to a port byte by byte, for requests that no client library would send. */
import { connect } from "node:net";

interface RawExchange {
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

interface RawSocket extends Disposable {
  /** Nothing more is read from here on, however much is sent. */
  stopReading(): void;
}

/** An event socket that can stop reading, as a browser on a bad connection does; no client library lets one do that. `ask` is its first frame. */
export async function openRawSocket(port: number, token: string, ask: unknown): Promise<RawSocket> {
  const socket = connect(port, "127.0.0.1");
  socket.on("error", () => undefined); // being cut off is what it is for
  const heard = () => new Promise((resolve) => socket.once("data", resolve));
  const upgraded = heard();
  const key = "dGhlIHNhbXBsZSBub25jZQ==";
  const lines = [`Host: 127.0.0.1:${port}`, "Upgrade: websocket", "Connection: Upgrade", `Sec-WebSocket-Key: ${key}`];
  const head = ["GET /ws HTTP/1.1", ...lines, "Sec-WebSocket-Version: 13", `Authorization: Bearer ${token}`];
  socket.write(`${head.join("\r\n")}\r\n\r\n`);
  await upgraded;
  const answered = heard();
  socket.write(textFrame(JSON.stringify(ask)));
  await answered;
  return { stopReading: () => void socket.pause(), [Symbol.dispose]: () => void socket.destroy() };
}

const MASK = [1, 2, 3, 4] as const;

/** A masked frame of less than 126 bytes. */
function textFrame(text: string): Uint8Array {
  const payload = Buffer.from(text);
  const masked = payload.map((byte, at) => byte ^ (MASK[at % MASK.length] ?? 0));
  return Buffer.concat([Buffer.from([0x81, 0x80 | payload.length, ...MASK]), masked]);
}
