/** Bytes of a connection as lines. Ends once, and says why. */
import { connect as connectPlain, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";

export interface LineSocket {
  write(line: string): void;
  /** Says this and is gone; nobody is told. */
  end(last: string): void;
  destroy(): void;
}

export interface LineEvents {
  opened(): void;
  line(text: string): void;
  /** Exactly once. */
  ended(because: string): void;
}

/** Tags may take 8191 bytes, the rest 512. */
const MAX_BYTES = 8_191 + 512;
const LINE_FEED = 10;

export interface Server {
  readonly server: string;
  readonly port: number;
  readonly tls: boolean;
}

export function openSocket({ server: host, port, tls }: Server, events: LineEvents): LineSocket {
  const socket: Socket = tls ? connectTls({ host, port, servername: host }) : connectPlain({ host, port });
  let held = Buffer.alloc(0);
  let over = false;
  const end = (because: string): void => {
    if (over) return;
    over = true;
    socket.destroy();
    events.ended(because);
  };
  socket.setNoDelay(true);
  socket.on(tls ? "secureConnect" : "connect", () => events.opened());
  socket.on("error", (error: Error) => end(error.message));
  socket.on("close", () => end("the server closed the connection"));
  socket.on("data", (bytes: Buffer) => {
    held = Buffer.concat([held, bytes]);
    for (let at = held.indexOf(LINE_FEED); at >= 0 && !over; at = held.indexOf(LINE_FEED)) {
      const text = held.subarray(0, at).toString("utf8");
      held = held.subarray(at + 1);
      try {
        events.line(text);
      } catch {
        end("a line of the server could not be handled"); // what it was is nobody's business
      }
    }
    if (held.length > MAX_BYTES) end("the server sent a line without an end");
  });
  return {
    write(line) {
      if (!over) socket.write(`${line}\r\n`);
    },
    end(last) {
      if (over) return;
      over = true;
      if (socket.connecting) socket.destroy();
      else socket.end(`${last}\r\n`, () => socket.destroy());
    },
    destroy: () => end("closed"),
  };
}
