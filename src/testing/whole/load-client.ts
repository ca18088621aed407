/**
 * Speaks in many sessions at once and checks what comes back: in each session the answers to its messages, each once and in the order they were
 * sent. For a model that repeats what it is told, and a queue that gives every message its own turn. It sends over several connections, because
 * the gateway takes a hundred requests a second from one, each session over one of them, and hears over the first.
 */
import type { TranscriptItem } from "../../contracts/chat.ts";
import type { WireEvent, WireResponse } from "../../contracts/wire.ts";
import { deferred, type Deferred } from "../../kit/deferred.ts";
import { systemIds } from "../../kit/ids.ts";

export interface LoadClient extends Disposable {
  /** Resolves with the answer; rejects when the message was not accepted. */
  ask(session: string, text: string): Promise<string>;
  /** Answers that were not the next one expected in their session. */
  outOfOrder(): number;
}

interface Asked {
  readonly text: string;
  readonly answer: Deferred<string>;
}

const CONNECTIONS = 6;

export async function openLoadClient({ url, token }: { url: string; token: string }): Promise<LoadClient> {
  const headers = { authorization: `Bearer ${token}` };
  const address = `${url.replace("http", "ws")}/ws`;
  const sockets = Array.from({ length: CONNECTIONS }, () => new WebSocket(address, { headers } as never));
  const requests = new Map<string, Deferred<unknown>>();
  const asked = new Map<string, Asked[]>();
  const name = systemIds.secret(8);
  let wrong = 0;
  let counter = 0;

  const request = (over: WebSocket | undefined, method: string, params: unknown): Promise<unknown> => {
    const id = String(++counter);
    const answer = deferred<unknown>();
    requests.set(id, answer);
    over?.send(JSON.stringify({ id, method, params }));
    return answer.promise;
  };
  const socketOf = (session: string): WebSocket | undefined =>
    sockets[Number(BigInt(Bun.hash(session)) % BigInt(CONNECTIONS))];
  const hear = ({ sessionKey, item }: { readonly sessionKey: string; readonly item: TranscriptItem }): void => {
    const waiting = asked.get(sessionKey);
    if (item.role !== "assistant" || !waiting) return; // another connection's
    const next = waiting.shift();
    if (!next || next.text !== item.text) wrong++;
    next?.answer.resolve(item.text);
  };
  const take = ({ data }: MessageEvent): void => {
    const frame = JSON.parse(String(data)) as WireEvent | WireResponse;
    if ("event" in frame) return void (frame.event === "message" && hear(frame.data));
    const waiting = requests.get(frame.id);
    requests.delete(frame.id);
    if (frame.ok) waiting?.resolve(frame.result);
    else waiting?.reject(new Error(`${frame.error.code}: ${frame.error.message}`));
  };
  for (const socket of sockets) socket.onmessage = take;
  await Promise.all(sockets.map(opened));
  await request(sockets[0], "subscribe", { events: ["message"] });

  return {
    async ask(session, text) {
      const one: Asked = { text, answer: deferred() };
      const waiting = asked.get(session) ?? [];
      asked.set(session, waiting);
      waiting.push(one);
      const clientId = `${name}-${++counter}`;
      await request(socketOf(session), "chat.send", { session, text, clientId }).catch((error: unknown) => {
        waiting.splice(waiting.indexOf(one), 1);
        throw error;
      });
      return one.answer.promise;
    },
    outOfOrder: () => wrong,
    [Symbol.dispose]: () => sockets.forEach((socket) => socket.close()),
  };
}

function opened(socket: WebSocket): Promise<unknown> {
  return new Promise((resolve, reject) => {
    socket.onopen = resolve;
    socket.onerror = () => reject(new Error("the socket did not open"));
  });
}
