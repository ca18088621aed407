/** One call to a provider: sent with the key, its answer streamed back piece by piece, ended with whoever asked. Holds no answer in memory. */
import type { MuxStream } from "../kit/mux/mux.ts";
import { type CallRequest, forwardedHeaders, returnedHeaders } from "./call-request.ts";

/** A conversation with pictures; providers take less. */
export const MAX_REQUEST_BYTES = 64 * 1024 * 1024;
/** Of an answer that says what was wrong. */
const MAX_ERROR_BYTES = 64 * 1024;
const FIRST_ERROR = 400;

/** The whole of what the process sends, since another key may need it again. Null: it is too large. */
export async function readRequest(call: MuxStream): Promise<Uint8Array<ArrayBuffer> | null> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for (let chunk = await call.read(); chunk !== null; chunk = await call.read()) {
    size += chunk.length;
    if (size > MAX_REQUEST_BYTES) return null;
    chunks.push(chunk);
  }
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

/** Hands the answer on as it comes. Rejects when either side ends before it is complete. */
export async function returnAnswer(
  call: MuxStream,
  answer: Response,
  { key, read }: { readonly key: string | null; readonly read: (chunk: Uint8Array) => void },
): Promise<void> {
  const { status } = answer;
  if (status >= FIRST_ERROR) {
    const text = await beginningOf(answer);
    return refuse(call, { status, headers: returnedHeaders(answer.headers), text: withoutKey(text, key) });
  }
  call.respond({ status, headers: returnedHeaders(answer.headers) });
  for await (const chunk of answer.body ?? []) {
    await call.write(chunk); // first, so that nobody waits for the reading
    read(chunk);
  }
  call.end();
}

interface Refusal {
  readonly status: number;
  readonly headers: readonly (readonly [string, string])[];
  readonly text: string;
}

/** The gateway's own refusal, in the form that every library of a provider reads. */
export async function say(call: MuxStream, status: number, message: string): Promise<void> {
  const text = JSON.stringify({ type: "error", error: { type: "pi_gateway", message } });
  await refuse(call, { status, headers: [["content-type", "application/json"]], text });
}

async function refuse(call: MuxStream, { status, headers, text }: Refusal): Promise<void> {
  call.respond({ status, headers });
  await call.write(new TextEncoder().encode(text));
  call.end();
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
