/** A datagram socket of this machine that keeps what is sent to it, as systemd listens to its services. Bun has none, so the C library does it. */
import { ptr } from "bun:ffi";
import { openCLibrary } from "../kit/c-library.ts";
import { socketAddress } from "../supervisor/datagram.ts";
import { waitFor } from "./wait-for.ts";

const AF_UNIX = 1;
const SOCK_DGRAM = 2;
const MSG_DONTWAIT = 0x40;
const MAX_BYTES = 65_536;

interface DatagramSocket extends Disposable {
  /** Every message so far. */
  messages(): readonly string[];
  /** Waits until one has all of this text. */
  until(text: string): Promise<readonly string[]>;
}

/** `address`: a path, or `@` and a name. Linux only. */
export function listenForDatagrams(address: string): DatagramSocket {
  const library = openCLibrary({
    socket: { args: ["i32", "i32", "i32"], returns: "i32" },
    bind: { args: ["i32", "ptr", "u32"], returns: "i32" },
    recv: { args: ["i32", "ptr", "u64", "i32"], returns: "i64" },
    close: { args: ["i32"], returns: "i32" },
  });
  const target = socketAddress(address);
  if (library === null || target === null) throw new Error("there are no datagram sockets here");
  const fd = library.socket(AF_UNIX, SOCK_DGRAM, 0);
  if (library.bind(fd, ptr(target), target.length) !== 0) throw new Error(`cannot listen on ${address}`);
  const kept: string[] = [];
  const messages = (): readonly string[] => {
    const buffer = Buffer.alloc(MAX_BYTES);
    for (;;) {
      const length = Number(library.recv(fd, ptr(buffer), buffer.length, MSG_DONTWAIT));
      if (length < 0) return kept;
      kept.push(buffer.toString("utf8", 0, length));
    }
  };
  return {
    messages,
    until: (text) =>
      waitFor(`a message with ${JSON.stringify(text)}`, messages, (all) => all.some((one) => one.includes(text)), {
        withinMs: 30_000,
      }),
    [Symbol.dispose]: () => void library.close(fd),
  };
}
