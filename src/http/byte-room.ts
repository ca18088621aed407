/** How much of what clients send is held in memory at once, over all requests and sockets. Beyond that a sender is told to come back; nothing waits. */
import { GatewayError } from "../contracts/errors.ts";

/** Three of the largest messages at once, or a hundred thousand ordinary ones. */
const MAX_HELD_BYTES = 128 * 1024 * 1024;
const RETRY_AFTER_MS = 1_000;

export interface ByteRoom {
  /** For one request or frame; disposing gives back all it took. */
  open(): HeldBytes;
  held(): number;
}

export interface HeldBytes extends Disposable {
  /** Throws GatewayError `too_many_bytes` when there is no room. */
  take(bytes: number): void;
}

export function createByteRoom(maxBytes: number = MAX_HELD_BYTES): ByteRoom {
  let held = 0;
  return {
    held: () => held,
    open() {
      let own = 0;
      return {
        take(bytes) {
          if (held + bytes > maxBytes) throw noRoom();
          held += bytes;
          own += bytes;
        },
        [Symbol.dispose]() {
          held -= own;
          own = 0;
        },
      };
    },
  };
}

function noRoom(): GatewayError {
  return new GatewayError("too_many_bytes", "too much is being sent at once", {
    fields: { retryAfterMs: RETRY_AFTER_MS },
  });
}
