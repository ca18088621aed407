/** Switches the loopback device of a new network namespace on: it begins switched off, and is the only device there. */
import type { Kernel } from "./libc.ts";

const AF_INET = 2;
const SOCK_DGRAM = 2;
const SIOCSIFFLAGS = 0x8914;
const IFF_UP = 1;
const IFF_RUNNING = 0x40;
const IFREQ_BYTES = 40;
const IFREQ_FLAGS_OFFSET = 16;

/** Returns what went wrong, or null. */
export function raiseLoopback(kernel: Kernel): string | null {
  const request = new Uint8Array(IFREQ_BYTES);
  request.set(new TextEncoder().encode("lo"));
  new DataView(request.buffer).setUint16(IFREQ_FLAGS_OFFSET, IFF_UP | IFF_RUNNING, true);
  const socket = kernel.call("socket", AF_INET, SOCK_DGRAM, 0);
  const result = socket < 0 ? socket : kernel.call("ioctl", socket, SIOCSIFFLAGS, request);
  return result === 0 ? null : `the loopback network cannot be switched on (error ${-result})`;
}
