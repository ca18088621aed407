/**
 * The guarded way out in the form of `fetch`, for libraries that bring their own requests and read answers piece by piece. The same judgement of
 * addresses as guarded-fetch.ts; no redirection is followed here, and whoever asks decides about it.
 */
import type { IncomingMessage } from "node:http";
import { orAborted } from "../deferred.ts";
import { isGlobalAddress } from "./addresses.ts";
import { whyUnreachable } from "./unreachable.ts";
import { type GuardedFetchDeps, judge, send, withIdleLimit } from "./guarded-fetch.ts";

export type GuardedStream = (url: string | URL, init?: RequestInit) => Promise<Response>;

interface GuardedStreamOptions {
  /** Origins that the operator wrote into the configuration: private addresses and odd ports are right there. */
  readonly trustedOrigins: readonly string[];
  readonly maxBytes: number;
  /** Between two pieces of an answer that is no stream of events. */
  readonly idleMs: number;
}

const METHODS = ["GET", "POST", "DELETE"] as const;
type Method = (typeof METHODS)[number];
const WITHOUT_BODY: readonly number[] = [204, 205, 304];
/** What the connection needs belongs to it, and not to whoever asks. */
const OWN_HEADERS: readonly string[] = ["host", "connection", "content-length", "transfer-encoding", "accept-encoding"];

/** Rejects with TypeError, as `fetch` does, when the target is not allowed or cannot be reached. */
export function createGuardedStream(deps: GuardedFetchDeps, options: GuardedStreamOptions): GuardedStream {
  return async (url, init = {}) => {
    const address = String(url);
    const method = METHODS.find((one) => one === (init.method ?? "GET").toUpperCase());
    if (method === undefined) throw new TypeError("only GET, POST and DELETE are called");
    init.signal?.throwIfAborted();
    const trustedOrigin = trustedFor(address, options.trustedOrigins);
    const judging = judge(deps, address, trustedOrigin === undefined ? {} : { trustedOrigin });
    const target = await (init.signal ? orAborted(judging, init.signal) : judging); // a name may take long to look up
    if (!("address" in target)) throw new TypeError(reasonOf(target));
    const over = new AbortController();
    const until = init.signal ? AbortSignal.any([init.signal, over.signal]) : over.signal;
    const { body, headers } = contentOf(init);
    const request = {
      url: address,
      method: method satisfies Method,
      headers,
      target,
      ...(body === undefined ? {} : { body }),
    };
    const response = await send(request, until).catch((error: unknown) => {
      if (init.signal?.aborted) throw init.signal.reason;
      throw new TypeError(whyUnreachable(error), { cause: error });
    });
    const peer = response.socket.remoteAddress;
    if (!target.trusted && peer !== undefined && !isGlobalAddress(peer)) {
      over.abort(new Error("connected elsewhere"));
      throw new TypeError("it is on a private network");
    }
    return answerOf(deps, response, options, over);
  };
}

/** This machine is one place: an owner who wrote down a port of it runs the others as well, such as the authorization server of a local service. */
function trustedFor(address: string, origins: readonly string[]): string | undefined {
  const url = URL.parse(address);
  const trusts = (one: string): boolean => {
    const origin = URL.parse(one);
    if (!url || !origin) return false;
    return origin.origin === url.origin || (isThisMachine(origin.hostname) && isThisMachine(url.hostname));
  };
  return url && origins.some(trusts) ? url.origin : undefined;
}

function isThisMachine(host: string): boolean {
  return host === "localhost" || host === "[::1]" || /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(host);
}

function reasonOf(stopped: { readonly kind: "refused" | "failed"; readonly because: string }): string {
  return stopped.kind === "refused" ? stopped.because : whyUnreachable({ code: "ENOTFOUND" }); // judging fails by the name alone
}

function contentOf({ body, headers }: RequestInit): { body?: string | Uint8Array; headers: Record<string, string> } {
  const given = new Headers(headers as ConstructorParameters<typeof Headers>[0]);
  if (body instanceof URLSearchParams && !given.has("content-type"))
    given.set("content-type", "application/x-www-form-urlencoded;charset=UTF-8");
  for (const name of OWN_HEADERS) given.delete(name);
  const content = body instanceof Uint8Array || body === null || body === undefined ? body : String(body);
  const made = Object.fromEntries(given.entries());
  return content === null || content === undefined ? { headers: made } : { body: content, headers: made };
}

function answerOf(
  deps: GuardedFetchDeps,
  response: IncomingMessage,
  options: GuardedStreamOptions,
  over: AbortController,
): Response {
  const status = response.statusCode ?? 502;
  const headers = new Headers();
  for (const [name, value] of Object.entries(response.headers))
    for (const one of Array.isArray(value) ? value : [value]) if (one !== undefined) headers.append(name, one);
  if (WITHOUT_BODY.includes(status) || status < 200 || status > 599) {
    over.abort(new Error("the answer is complete"));
    return new Response(null, { status: status < 200 || status > 599 ? 502 : status, headers });
  }
  return new Response(bodyOf(deps, response, options, over), { status, headers });
}

/** Piece by piece as somebody reads it: whoever does not read holds nothing but one piece. */
function bodyOf(
  deps: GuardedFetchDeps,
  response: IncomingMessage,
  { maxBytes, idleMs }: GuardedStreamOptions,
  over: AbortController,
): ReadableStream<Uint8Array> {
  const isEvents = (response.headers["content-type"] ?? "").startsWith("text/event-stream");
  const pieces = response[Symbol.asyncIterator]();
  let bytes = 0;
  const fail = (controller: ReadableStreamDefaultController<Uint8Array>, error: Error): void => {
    over.abort(error);
    controller.error(error);
  };
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const next = await (isEvents ? pieces.next() : withIdleLimit(deps, { idleMs }, pieces.next()));
        if (next.done) {
          controller.close();
          over.abort(new Error("the answer is complete"));
          return;
        }
        const piece = Buffer.from(next.value);
        bytes += piece.byteLength;
        if (bytes > maxBytes) return fail(controller, new TypeError(`it sent more than ${maxBytes} bytes`));
        controller.enqueue(new Uint8Array(piece));
      } catch (error) {
        fail(controller, error instanceof Error ? error : new TypeError("the answer broke off"));
      }
    },
    cancel: () => over.abort(new Error("nobody reads it any more")),
  });
}
