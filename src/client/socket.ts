/** The gateway's WebSocket: typed methods, and events as something to loop over. One connection; when it ends, all that waits on it is told. */
import { CLIENT_EVENTS, type ClientEventName } from "../contracts/events.ts";
import type { WireEvent, WireMethods, WireResponse } from "../contracts/wire.ts";
import { isObject, parseJson } from "../kit/json.ts";
import { type HttpOptions, requestError } from "./http.ts";

export interface GatewaySocket extends Disposable {
  call<M extends keyof WireMethods>(method: M, params: WireMethods[M]["params"]): Promise<WireMethods[M]["result"]>;
  /**
   * Events from now on, or (in the first loop of a connection) from `sinceSeq` on, with `resync` when those are no longer there. Ends with the
   * connection, or when the loop is left.
   * Without names: all that there are.
   */
  events(names?: readonly ClientEventName[], sinceSeq?: number): AsyncIterable<WireEvent>;
  /** Resolves with the code: 1001 when the gateway stops, 4001 when the sign-in has ended. */
  readonly closed: Promise<number>;
}

/** Of one loop. A reader that is slower than this is told so. */
const MAX_WAITING_EVENTS = 10_000;
const FRAME_LIMITS = { maxChars: 32 * 1024 * 1024, maxDepth: 64 };

interface Waiting {
  answer(response: WireResponse): void;
  fail(error: Error): void;
}

export async function openSocket({ url, token }: HttpOptions, signal: AbortSignal): Promise<GatewaySocket> {
  const socket = new WebSocket(`${url.replace(/^http/, "ws")}/ws`, { headers: { authorization: `Bearer ${token}` } });
  const waiting = new Map<string, Waiting>();
  const readers = new Set<EventQueue>();
  const closed = Promise.withResolvers<number>();
  let count = 0;

  socket.addEventListener("message", ({ data }) => {
    const parsed = parseJson(String(data), FRAME_LIMITS);
    const frame = parsed.ok && isObject(parsed.value) ? parsed.value : {};
    if (typeof frame["event"] === "string") for (const reader of readers) reader.push(frame as unknown as WireEvent);
    else if (typeof frame["id"] === "string") waiting.get(frame["id"])?.answer(frame as unknown as WireResponse);
  });
  socket.addEventListener("close", ({ code }) => {
    closed.resolve(code);
    const gone = requestError({ status: 0, code: "closed", message: `The connection was closed (${code}).` });
    for (const one of waiting.values()) one.fail(gone);
    for (const reader of readers) reader.end(null);
  });
  await opened(socket, url, signal);

  const call: GatewaySocket["call"] = (method, params) =>
    new Promise((resolve, reject) => {
      const id = `c${++count}`;
      const done = (settle: () => void): void => {
        waiting.delete(id);
        settle();
      };
      waiting.set(id, {
        fail: (error) => done(() => reject(error)),
        answer: (response) =>
          done(() => {
            if (response.ok) resolve(response.result as WireMethods[typeof method]["result"]);
            else reject(requestError({ ...response.error, status: 0, body: response }));
          }),
      });
      if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify({ id, method, params }));
      else waiting.get(id)?.fail(requestError({ status: 0, code: "closed", message: "The connection is closed." }));
    });

  return {
    call,
    closed: closed.promise,
    async *events(names = CLIENT_EVENTS, sinceSeq) {
      const queue = createEventQueue(names, sinceSeq);
      readers.add(queue);
      try {
        // a subscription takes the place of the one before it, so it is for all loops of this connection
        const all = new Set([...readers].flatMap((reader) => reader.names));
        const { seq } = await call("subscribe", {
          events: [...all],
          ...(sinceSeq === undefined ? {} : { sinceSeq }),
        });
        yield* queue.read(sinceSeq ?? seq);
      } finally {
        readers.delete(queue);
      }
    },
    [Symbol.dispose]: () => socket.close(),
  };
}

function opened(socket: WebSocket, url: string, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const refuse = (): void =>
      reject(requestError({ status: 0, code: "unreachable", message: `The gateway at ${url} took no connection.` }));
    const stop = (): void => {
      reject(signal.reason);
      socket.close();
    };
    signal.addEventListener("abort", stop, { once: true });
    socket.addEventListener("open", () => {
      signal.removeEventListener("abort", stop);
      resolve();
    });
    socket.addEventListener("error", refuse);
    socket.addEventListener("close", refuse); // after `open` it changes nothing
    if (signal.aborted) stop();
  });
}

interface EventQueue {
  readonly names: readonly string[];
  push(event: WireEvent): void;
  /** `error` null: in good order. */
  end(error: Error | null): void;
  /** What came after this event, each once. */
  read(after: number): AsyncGenerator<WireEvent>;
}

/** Several loops share one connection: each sees what it asked for, from where it began. `sinceSeq`: it wants events of before, too. */
function createEventQueue(names: readonly string[], sinceSeq: number | undefined): EventQueue {
  const events: WireEvent[] = [];
  let wake = Promise.withResolvers<void>();
  let end: { readonly error: Error | null } | null = null;
  const queue: EventQueue = {
    names,
    push(event) {
      const isWanted = event.event === "resync" ? sinceSeq !== undefined : names.includes(event.event);
      if (!isWanted) return;
      events.push(event);
      if (events.length > MAX_WAITING_EVENTS) queue.end(new Error("Events come faster than they are read."));
      wake.resolve();
    },
    end(error) {
      end ??= { error };
      wake.resolve();
    },
    async *read(after) {
      let last = after;
      for (;;) {
        for (const event of events.splice(0)) {
          if (event.event !== "resync" && event.seq <= last) continue; // told again for another loop
          last = event.seq;
          yield event;
        }
        if (end?.error) throw end.error;
        if (end && events.length === 0) return;
        if (events.length === 0) await wake.promise;
        wake = Promise.withResolvers();
      }
    },
  };
  return queue;
}
