/** Every error as clients see it: code, safe words, request id. Never a stack, a path or an engine's own text. */
import { ERRORS, type ErrorCode, GatewayError, isGatewayError } from "../contracts/errors.ts";
import type { WireError } from "../contracts/wire.ts";
import type { Log } from "../kit/log.ts";

const MS_PER_SECOND = 1_000;

export function wireError(error: unknown, requestId: string): WireError {
  if (!isGatewayError(error)) return { code: "internal", message: ERRORS.internal.say, requestId };
  const retryAfterMs = error.fields["retryAfterMs"];
  const base = { code: error.code, message: error.say, requestId };
  return typeof retryAfterMs === "number" ? { ...base, retryAfterMs } : base;
}

export function problemResponse(error: unknown, requestId: string): Response {
  const body = wireError(error, requestId);
  const headers = problemHeaders(body);
  const status = isGatewayError(error) ? ERRORS[error.code].status : ERRORS.internal.status;
  return new Response(JSON.stringify({ error: body }), { status, headers });
}

export function problemHeaders({ code, retryAfterMs }: WireError): Record<string, string> {
  const headers: Record<string, string> = { "content-type": "application/json" };
  if (retryAfterMs !== undefined) headers["retry-after"] = String(Math.ceil(retryAfterMs / MS_PER_SECOND));
  if (code === "unauthorized") headers["www-authenticate"] = "Bearer";
  return headers;
}

/** Our own faults are worth a line; what callers do wrong is not, or anyone could fill the disk with log lines. */
export function logProblem(log: Log, error: unknown, fields: Readonly<Record<string, unknown>>): void {
  if (!isGatewayError(error)) return log.error("request failed unexpectedly", { ...fields, error });
  if (ERRORS[error.code].status >= 500) return log.warn("request failed", { ...fields, code: error.code, error });
  log.debug("request refused", { ...fields, code: error.code });
}

export function knownCode(text: string | null): ErrorCode {
  return text !== null && Object.hasOwn(ERRORS, text) ? (text as ErrorCode) : "internal";
}

export function lockedOut(retryAfterMs: number): GatewayError {
  const seconds = Math.ceil(retryAfterMs / MS_PER_SECOND);
  return new GatewayError("locked_out", "locked", {
    fields: { retryAfterMs },
    say: `Too many failed attempts. Wait ${seconds} second${seconds === 1 ? "" : "s"} before trying again.`,
  });
}
