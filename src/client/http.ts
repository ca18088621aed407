/** Requests to a gateway: the token in a header and nowhere else, JSON both ways, refusals as errors that carry the gateway's code and sentence. */
import type { WireError } from "../contracts/wire.ts";
import { isObject, parseJson } from "../kit/json.ts";

export interface HttpOptions {
  /** Such as http://127.0.0.1:18789. */
  readonly url: string;
  /** The gateway's token, or the key of a program. */
  readonly token: string;
  /** Instead of the runtime's own. */
  readonly fetch?: (url: string, init: RequestInit) => Promise<Response>;
}

interface HttpRequest {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  /** Sent as JSON; bytes are sent as they are. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A request that the gateway refused, or could not be reached for (status 0). */
export interface GatewayRequestError extends Error {
  readonly name: "GatewayRequestError";
  readonly status: number;
  /** As in the list of error codes; `unreachable` when there was no answer. */
  readonly code: string;
  readonly requestId: string;
  readonly retryAfterMs: number | null;
  /** What came with the refusal. */
  readonly body: unknown;
}

const JSON_LIMITS = { maxChars: 32 * 1024 * 1024, maxDepth: 64 };

export async function send(options: HttpOptions, request: HttpRequest, signal: AbortSignal): Promise<Response> {
  const response = await reach(options, request, signal);
  if (response.ok) return response;
  throw await refusal(response);
}

export async function readJson(response: Response): Promise<unknown> {
  const parsed = parseJson(await response.text(), JSON_LIMITS);
  return parsed.ok ? parsed.value : null;
}

async function reach(options: HttpOptions, { method, path, body, headers = {} }: HttpRequest, signal: AbortSignal) {
  const sent = new Headers(headers);
  sent.set("authorization", `Bearer ${options.token}`);
  const isBytes = body instanceof Uint8Array;
  if (body !== undefined && !isBytes) sent.set("content-type", "application/json");
  const payload = body === undefined ? {} : { body: isBytes ? new Blob([body.slice()]) : JSON.stringify(body) };
  const call = options.fetch ?? ((url, init) => fetch(url, init));
  try {
    return await call(`${options.url}${path}`, { method, headers: sent, signal, redirect: "error", ...payload });
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    throw requestError({ status: 0, code: "unreachable", message: `No gateway answers at ${options.url}.` }, error);
  }
}

async function refusal(response: Response): Promise<GatewayRequestError> {
  const body = await readJson(response).catch(() => null);
  const { code, message, requestId, retryAfterMs } = errorIn(body);
  return requestError({
    status: response.status,
    code: code ?? "unknown",
    message: message ?? `The gateway answered with status ${response.status}.`,
    requestId: requestId ?? response.headers.get("x-request-id") ?? "",
    retryAfterMs: retryAfterMs ?? null,
    body,
  });
}

function errorIn(body: unknown): Partial<WireError> {
  const error = isObject(body) ? body["error"] : null;
  return isObject(error) && typeof error["message"] === "string" ? (error as Partial<WireError>) : {};
}

interface ErrorParts {
  readonly status: number;
  readonly code: string;
  readonly message: string;
  readonly requestId?: string;
  readonly retryAfterMs?: number | null;
  readonly body?: unknown;
}

/** An error by its name, and no class: a client may be loaded twice, and `instanceof` would not know the other one's. */
export function requestError(parts: ErrorParts, cause?: unknown): GatewayRequestError {
  const { status, code, message, requestId = "", retryAfterMs = null, body = null } = parts;
  const error = new Error(message, cause === undefined ? {} : { cause });
  return Object.assign(error, { name: "GatewayRequestError" as const, status, code, requestId, retryAfterMs, body });
}

export type IsGatewayRequestError = (error: unknown) => error is GatewayRequestError;

export const isGatewayRequestError: IsGatewayRequestError = (error): error is GatewayRequestError =>
  error instanceof Error && error.name === "GatewayRequestError";
