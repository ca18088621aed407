/** Sends one message to a datagram socket of this machine. Bun has no such sockets, so the C library does it. Linux only. */
import { ptr } from "bun:ffi";
import { openCLibrary } from "../kit/c-library.ts";

const AF_UNIX = 1;
const SOCK_DGRAM = 2;
const SOCK_CLOEXEC = 0o2_000_000;
/** Neither waits for a full queue nor ends the process when nobody listens. */
const MSG_DONTWAIT_NOSIGNAL = 0x40 | 0x4000;
const FAMILY_BYTES = 2;
const MAX_PATH_BYTES = 108;
const FUNCTIONS = {
  socket: { args: ["i32", "i32", "i32"], returns: "i32" },
  sendto: { args: ["i32", "ptr", "u64", "i32", "ptr", "u32"], returns: "i64" },
  close: { args: ["i32"], returns: "i32" },
} as const;

export type SendDatagram = (text: string) => boolean;

/** Null: this system cannot do it, or the address is too long. */
export function openDatagram(address: string): SendDatagram | null {
  const library = openCLibrary(FUNCTIONS);
  const target = socketAddress(address);
  if (library === null || target === null) return null;
  return (text) => {
    const fd = library.socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0) return false;
    const data = Buffer.from(text);
    const sent = library.sendto(fd, ptr(data), data.length, MSG_DONTWAIT_NOSIGNAL, ptr(target), target.length);
    library.close(fd);
    return Number(sent) === data.length;
  };
}

/** `struct sockaddr_un`. A name that begins with `@` is in the abstract space: a zero stands before it, and none behind it. */
export function socketAddress(address: string): Buffer | null {
  const isAbstract = address.startsWith("@");
  const path = Buffer.from(isAbstract ? `\0${address.slice(1)}` : `${address}\0`);
  if (path.length > MAX_PATH_BYTES) return null;
  const family = Buffer.alloc(FAMILY_BYTES);
  family.writeUInt16LE(AF_UNIX); // of the processor's own byte order, which is this one wherever Bun runs
  return Buffer.concat([family, path]);
}
