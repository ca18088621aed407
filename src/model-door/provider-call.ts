/** One call to a provider: sent with the key, its answer streamed back piece by piece, ended with whoever asked. Holds no answer in memory. */
import type { MuxStream } from "../kit/mux/mux.ts";
import { type CallRequest, forwardedHeaders, returnedHeaders } from "./call-request.ts";

/** A conversation with pictures; providers take less. */
export const MAX_REQUEST_BYTES = 64 * 1024 * 1024;
/** Of an answer that says what was wrong. */
const MAX_ERROR_BYTES = 64 * 1024;
const FIRST_ERROR = 400;
const BAD_GATEWAY = 502;
/** What a model answers with: events, or JSON where it is not streamed. */
const MODEL_ANSWER = /event-stream|json|octet-stream/i;
/** Another model may be able to answer: no valid key or no money there, a limit, or a provider that is down. */
const PASSING: readonly number[] = [401, 402, 403, 408, 429];
const FIRST_SERVER_ERROR = 500;

/**
 * The whole of what the process sends, since another key may need it again. Null: it is too large. Always read to its end: a process that still
 * sends does not hear an answer.
 */
export async function readRequest(call: MuxStream): Promise<Uint8Array<ArrayBuffer> | null> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for (let chunk = await call.read(); chunk !== null; chunk = await call.read()) {
    size += chunk.length;
    if (size <= MAX_REQUEST_BYTES) chunks.push(chunk);
    else chunks.length = 0;
  }
  if (size > MAX_REQUEST_BYTES) return null;
  const body = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    body.set(chunk, at);
    at += chunk.length;
  }
  return body;
}

export function askProvider(
  request: CallRequest,
  { body, key }: { readonly body: Uint8Array<ArrayBuffer>; readonly key: string | null },
  signal: AbortSignal,
): Promise<Response> {
  return fetch(request.url, {
    method: request.method,
    headers: forwardedHeaders(request, key),
    body,
    redirect: "manual", // the key is for this address and no other
    signal,
  });
}

/**
 * What people are told instead of the runtime's words, which are for programmers. The code stays: it can be searched for. pi reads them too, and
 * tries again only after words that it knows, such as "connection lost".
 */
const CONNECTION_FAILURES: Readonly<Record<string, string>> = {
  ECONNRESET: "connection lost, it broke off",
  ECONNREFUSED: "connection refused, nothing answers at its address",
  ENOTFOUND: "the name of its host is not known",
  EAI_AGAIN: "the name of its host cannot be looked up now",
};

/** Why a call came to nothing, in a few words. */
export function failureOf(error: unknown): string {
  if (!(error instanceof Error)) return "the call failed";
  const code = "code" in error ? String(error.code) : "";
  const known = CONNECTION_FAILURES[code];
  return known === undefined ? error.message : `${known} (${code})`;
}

/** An answer that is none, with what the provider said about it. */
interface FailedAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** Another model may be able to answer. */
  readonly passing: boolean;
}

/** Null: it is the answer of a model. */
export async function failureIn(answer: Response, key: string | null): Promise<FailedAnswer | null> {
  const { status, headers } = answer;
  if (status >= FIRST_ERROR) {
    const passing = PASSING.includes(status) || status >= FIRST_SERVER_ERROR;
    return { status, headers, text: withoutKey(await beginningOf(answer), key), passing };
  }
  const type = headers.get("content-type") ?? "";
  if (!answer.ok || type === "" || MODEL_ANSWER.test(type)) return null;
  await answer.body?.cancel();
  const text = errorText(`The provider answered with ${type.slice(0, 100)} instead of a model's answer.`);
  return { status: BAD_GATEWAY, headers: JSON_HEADERS, text, passing: true };
}

const JSON_HEADERS = new Headers({ "content-type": "application/json" });

/** Hands the answer on as it comes. Rejects when either side ends before it is complete. */
export async function returnAnswer(
  call: MuxStream,
  answer: Response,
  read: (chunk: Uint8Array) => void,
): Promise<void> {
  call.respond({ status: answer.status, headers: returnedHeaders(answer.headers) });
  for await (const chunk of answer.body ?? []) {
    await call.write(chunk); // first, so that nobody waits for the reading
    read(chunk);
  }
  call.end();
}

export async function returnFailure(call: MuxStream, failed: FailedAnswer): Promise<void> {
  const { status, headers, text, passing } = failed;
  call.respond({ status, headers: returnedHeaders(headers), passing });
  await call.write(new TextEncoder().encode(text));
  call.end();
}

/** The gateway's own refusal. */
export function say(call: MuxStream, status: number, message: string, passing = false): Promise<void> {
  return returnFailure(call, { status, headers: JSON_HEADERS, text: errorText(message), passing });
}

/** In the form that every library of a provider reads. */
function errorText(message: string): string {
  return JSON.stringify({ type: "error", error: { type: "pi_gateway", message } });
}

async function beginningOf(answer: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of answer.body ?? []) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > MAX_ERROR_BYTES) break;
  }
  return Buffer.concat(chunks).toString("utf8");
}

/** Providers repeat the key they refuse. */
function withoutKey(text: string, key: string | null): string {
  return key === null || key === "" ? text : text.replaceAll(key, () => "[redacted]");
}
