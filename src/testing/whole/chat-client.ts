/**
 * A client that follows one session the way the web console does: it numbers its sends, sends again what was not answered, resumes the event
 * stream where it left off, reads the session anew when the gap is too old, and shows every message id once.
 */
import type { TranscriptItem } from "../../contracts/chat.ts";
import type { SessionView, WireEvent, WireResponse } from "../../contracts/wire.ts";
import { deferred, type Deferred } from "../../kit/deferred.ts";

export interface ChatClient {
  readonly session: string;
  /** Everything shown so far, in the order it appeared. */
  readonly shown: readonly TranscriptItem[];
  /** Ids the gateway has said "accepted" to, by what was sent. */
  readonly accepted: ReadonlyMap<string, string>;
  connect(url: string, token: string): Promise<void>;
  disconnect(): void;
  /** Resolves when the gateway has accepted it, over as many connections as that takes. */
  send(text: string): Promise<string>;
  /** Called for every frame, before it is handled. */
  onFrame: (frame: WireEvent | WireResponse) => void;
  until(fits: (shown: readonly TranscriptItem[]) => boolean): Promise<void>;
  /** The turn that answers an accepted message, as far as this client has been told. */
  turnOf(inboxId: string): string | undefined;
}

interface Unanswered {
  readonly clientId: string;
  readonly text: string;
  readonly answer: Deferred<string>;
}

/** `name` keeps the sends of several clients apart: the gateway knows a message by the id its client gave it. */
export function createChatClient(session: string, name = "send"): ChatClient {
  const shown: TranscriptItem[] = [];
  const seen = new Set<string>();
  const accepted = new Map<string, string>();
  const turns = new Map<string, string>();
  const unanswered = new Map<string, Unanswered>();
  const requests = new Map<string, { readonly answer: Deferred<unknown>; readonly over: WebSocket | null }>();
  let watchers: { fits: (items: readonly TranscriptItem[]) => boolean; done: Deferred<void> }[] = [];
  let socket: WebSocket | null = null;
  let seq: number | null = null;
  let counter = 0;

  const show = (item: TranscriptItem): void => {
    if (seen.has(item.id)) return;
    seen.add(item.id);
    shown.push(item);
    watchers = watchers.filter(({ fits, done }) => {
      if (!fits(shown)) return true;
      done.resolve();
      return false;
    });
  };

  const request = (method: string, params: unknown): Promise<unknown> => {
    const id = String(++counter);
    const answer = deferred<unknown>();
    requests.set(id, { answer, over: socket });
    socket?.send(JSON.stringify({ id, method, params }));
    return answer.promise;
  };

  const readAnew = async (): Promise<void> => {
    const view = (await request("sessions.get", { session, limit: 200 })) as SessionView;
    for (const { role, id, turnId } of view.items) if (role === "user" && turnId) turns.set(id, turnId);
    for (const item of view.items) show(item);
  };

  const offer = async ({ clientId, text, answer }: Unanswered): Promise<void> => {
    const result = (await request("chat.send", { session, text, clientId })) as { accepted: string };
    accepted.set(text, result.accepted);
    unanswered.delete(clientId);
    answer.resolve(result.accepted);
  };

  const handle = (frame: WireEvent | WireResponse): void => {
    client.onFrame(frame);
    if ("id" in frame) {
      const waiting = requests.get(frame.id)?.answer;
      requests.delete(frame.id);
      if (frame.ok) waiting?.resolve(frame.result);
      else waiting?.reject(new Error(`${frame.error.code}: ${frame.error.message}`));
      return;
    }
    seq = frame.seq;
    if (frame.event === "resync") void readAnew().catch(() => undefined); // the connection is gone again; the next one starts over
    if (frame.event === "turn.started") for (const id of frame.data.inboxIds) turns.set(id, frame.data.turnId);
    if (frame.event === "message" && frame.data.sessionKey === session) show(frame.data.item);
  };

  const client: ChatClient = {
    session,
    shown,
    accepted,
    turnOf: (inboxId) => turns.get(inboxId),
    onFrame: () => undefined,
    async connect(url, token) {
      const opened = deferred<void>();
      const next = new WebSocket(url.replace("http", "ws") + "/ws", {
        headers: { authorization: `Bearer ${token}` },
      } as never);
      next.onopen = () => opened.resolve();
      next.onerror = () => opened.reject(new Error("the socket did not open"));
      next.onmessage = ({ data }) => next === socket && handle(JSON.parse(String(data)));
      next.onclose = () => {
        for (const [id, { answer, over }] of requests) {
          if (over !== next) continue; // it was asked over a later connection
          requests.delete(id);
          answer.reject(new Error("the connection was lost"));
        }
      };
      await opened.promise;
      socket = next;
      const events = ["message", "turn.started", "turn.delta", "turn.tool", "turn.ended"];
      await request("subscribe", seq === null ? { events } : { events, sinceSeq: seq });
      if (seq === null) await readAnew();
      await Promise.all([...unanswered.values()].map(offer));
    },
    disconnect() {
      const old = socket;
      socket = null;
      old?.close();
    },
    send(text) {
      const message = { clientId: `${name}-${++counter}`, text, answer: deferred<string>() };
      unanswered.set(message.clientId, message);
      if (socket) void offer(message).catch(() => undefined); // offered again by the next connection
      return message.answer.promise;
    },
    until(fits) {
      if (fits(shown)) return Promise.resolve();
      const done = deferred<void>();
      watchers.push({ fits, done });
      return done.promise;
    },
  };
  return client;
}
