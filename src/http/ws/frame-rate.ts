/** How many frames one socket may send: a burst at once, then a steady rate. Beyond that frames are refused, and far beyond it the socket is closed. */
import type { Clock } from "../../kit/clock.ts";

export type FrameVerdict =
  | { readonly kind: "take" }
  | { readonly kind: "refuse"; readonly retryAfterMs: number }
  /** Answering further frames would cost more than it is worth. */
  | { readonly kind: "close" };

export interface FrameRate {
  next(): FrameVerdict;
}

export const FRAME_BURST = 1_000;
export const FRAMES_PER_SECOND = 100;
/** Refused frames are answered up to this many; each costs nearly as much as a request. */
export const MAX_REFUSED_FRAMES = 1_000;
const MS_PER_SECOND = 1_000;

export function createFrameRate(clock: Clock): FrameRate {
  let left = FRAME_BURST;
  let refused = 0;
  let at = clock.elapsed();
  return {
    next() {
      const now = clock.elapsed();
      left = Math.min(FRAME_BURST, left + ((now - at) * FRAMES_PER_SECOND) / MS_PER_SECOND);
      at = now;
      if (left >= 1) {
        left -= 1;
        refused = 0;
        return { kind: "take" };
      }
      refused++;
      if (refused > MAX_REFUSED_FRAMES) return { kind: "close" };
      return { kind: "refuse", retryAfterMs: Math.ceil(((1 - left) * MS_PER_SECOND) / FRAMES_PER_SECOND) };
    },
  };
}
