/** What arrives on the socket, as a union. Frames in any other form are not ours and are left unread. */
import type { WireError, WireEvent } from "../../src/contracts/wire.ts";

type Frame =
  | { readonly kind: "answer"; readonly id: string; readonly ok: true; readonly result: unknown }
  | { readonly kind: "answer"; readonly id: string; readonly ok: false; readonly error: WireError }
  | { readonly kind: "event"; readonly event: WireEvent };

export function parseFrame(data: unknown): Frame | null {
  if (typeof data !== "string") return null;
  const frame = parseObject(data);
  if (!frame) return null;
  if (typeof frame.event === "string" && typeof frame.seq === "number" && isObject(frame.data)) {
    return { kind: "event", event: frame as unknown as WireEvent };
  }
  if (typeof frame.id !== "string") return null;
  if (frame.ok === true) return { kind: "answer", id: frame.id, ok: true, result: frame.result };
  return { kind: "answer", id: frame.id, ok: false, error: parseError(frame.error) };
}

export function parseError(value: unknown): WireError {
  const error = isObject(value) ? value : {};
  const known = {
    code: typeof error.code === "string" ? error.code : "internal",
    message: typeof error.message === "string" ? error.message : "The gateway refused without a reason.",
    requestId: typeof error.requestId === "string" ? error.requestId : "",
  };
  return typeof error.retryAfterMs === "number" ? { ...known, retryAfterMs: error.retryAfterMs } : known;
}

export function parseObject(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : null;
  } catch {
    return null; // not JSON: the caller treats it as an answer that says nothing
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}
