/** The event socket of the running gateway: asks its methods, and hears its events. Opened again by the next question after it was closed. */
import { GatewayError } from "../../contracts/errors.ts";
import type { WireError, WireEvent, WireMethods } from "../../contracts/wire.ts";
import type { Clock } from "../../kit/clock.ts";
import { type Deferred, deferred, lazy, orAborted } from "../../kit/deferred.ts";
import { isObject, parseJson } from "../../kit/json.ts";

export interface GatewaySocket extends Disposable {
  /** Throws GatewayError: with the gateway's sentence, or because it is away. */
  ask<M extends keyof WireMethods>(method: M, params: WireMethods[M]["params"]): Promise<WireMethods[M]["result"]>;
  /** `lost`: the connection is gone, and with it events that nobody will tell again. */
  listen(listener: SocketListener): Disposable;
}

interface SocketListener {
  event(news: WireEvent): void;
  lost(): void;
}

interface SocketDeps {
  readonly clock: Clock;
  /** Where the gateway is now, and what lets the client in. Throws the sentence that a person needs when none runs. */
  target(): Promise<{ readonly url: string; readonly token: string }>;
}

const EVENTS = [
  "message",
  "turn.started",
  "turn.joined",
  "turn.delta",
  "turn.tool",
  "approval",
  "question",
  "turn.ended",
];
const ANSWER_MS = 30_000;
const LIMITS = { maxChars: 16 * 1024 * 1024, maxDepth: 64 };
const AWAY = "The gateway went away. What it had begun goes on when it is back.";

interface Connection {
  readonly socket: WebSocket;
  readonly waiting: Map<string, Deferred<unknown>>;
}

export function createGatewaySocket({ clock, target }: SocketDeps): GatewaySocket {
  const listeners = new Set<SocketListener>();
  let asked = 0;
  let connect = lazy(open);
  async function open(): Promise<Connection> {
    const { url, token } = await target();
    const socket = new WebSocket(`${url.replace(/^http/, "ws")}/ws`, { headers: { authorization: `Bearer ${token}` } });
    const connection: Connection = { socket, waiting: new Map() };
    const opened = deferred<void>();
    socket.addEventListener("open", () => opened.resolve());
    socket.addEventListener("error", () => opened.reject(away()));
    socket.addEventListener("close", () => {
      opened.reject(away());
      connect = lazy(open);
      for (const { reject } of connection.waiting.values()) reject(away());
      for (const listener of [...listeners]) listener.lost();
    });
    socket.addEventListener("message", ({ data }) => take(connection, String(data), listeners));
    await opened.promise;
    await send(connection, "subscribe", { events: EVENTS });
    return connection;
  }
  const send = async ({ socket, waiting }: Connection, method: string, params: unknown): Promise<unknown> => {
    const id = `acp-${++asked}`;
    const answer = deferred<unknown>();
    waiting.set(id, answer);
    using limit = clock.deadline(ANSWER_MS, away);
    try {
      socket.send(JSON.stringify({ id, method, params }));
      return await orAborted(answer.promise, limit.signal);
    } finally {
      waiting.delete(id);
    }
  };
  return {
    ask: async (method, params) => (await send(await connect(), method, params)) as never, // as the gateway's own types say
    listen(listener) {
      listeners.add(listener);
      return { [Symbol.dispose]: () => void listeners.delete(listener) };
    },
    [Symbol.dispose]() {
      listeners.clear();
      connect().then(
        ({ socket }) => socket.close(),
        () => undefined, // there is none to close
      );
    },
  };
}

function take({ waiting }: Connection, text: string, listeners: ReadonlySet<SocketListener>): void {
  const parsed = parseJson(text, LIMITS);
  if (!parsed.ok || !isObject(parsed.value)) return;
  const frame = parsed.value;
  if ("event" in frame) {
    for (const listener of [...listeners]) listener.event(frame as unknown as WireEvent); // of the gateway itself
    return;
  }
  const answer = waiting.get(String(frame["id"]));
  if (frame["ok"] === true) answer?.resolve(frame["result"]);
  else answer?.reject(refusal(frame["error"]));
}

function refusal(error: unknown): GatewayError {
  const { code = "", message = "" } = isObject(error) ? (error as Partial<WireError>) : {};
  return new GatewayError("bad_request", `refused: ${code}`, { say: message, fields: { code } });
}

function away(): GatewayError {
  return new GatewayError("stopping", "the gateway went away", { say: AWAY });
}
