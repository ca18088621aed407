/** The event socket: who is connected, what they asked for, and the fan-out of events. What the methods do is in ws-methods.ts. */
import type { ServerWebSocket, WebSocketHandler } from "bun";
import { GatewayError } from "../../contracts/errors.ts";
import type { ClientEvent, ClientEventName, ClientStream } from "../../contracts/events.ts";
import type { WireResponse } from "../../contracts/wire.ts";
import { background } from "../../kit/background.ts";
import type { Ids } from "../../kit/ids.ts";
import { parseJson } from "../../kit/json.ts";
import type { Log } from "../../kit/log.ts";
import type { Auth, Identity } from "../access/auth.ts";
import { mayHear } from "../access/key-reach.ts";
import { JSON_MAX_DEPTH } from "../body.ts";
import type { ByteRoom } from "../byte-room.ts";
import { logProblem, wireError } from "../problem.ts";
import type { FrameRate, FrameVerdict } from "./frame-rate.ts";
import type { MethodTable } from "./ws-methods.ts";

export interface SocketData {
  readonly identity: Identity;
  /** Null: methods and events, as in ws-methods.ts. */
  readonly protocol: SocketProtocol | null;
  readonly rate: FrameRate;
  inFlight: number;
  /** By event name, the number from which on this socket has been sent every event of that name. */
  readonly following: Map<string, number>;
  /** The message being handed in; the next one waits for it. */
  sending: Promise<unknown>;
  /** Aborts when the connection is closed: nobody waits for what it asked for any more. */
  readonly gone: AbortController;
}
export type Socket = ServerWebSocket<SocketData>;

/** Another protocol than the gateway's own, on a socket that is guarded in the same way. */
export interface SocketProtocol {
  opened(socket: Socket): void;
  /** `admit`: call it before the frame is answered. Throws when that is too much; holds the bytes of the frame until it is disposed of. Never rejects. */
  receive(socket: Socket, text: string | Buffer, admit: () => Disposable): Promise<void>;
}

const MAX_FRAME_BYTES = 1024 * 1024;
/** Frames of other protocols: a response may bring images along. */
export const MAX_PAYLOAD_BYTES = 16 * 1024 * 1024;
const MAX_UNSENT_BYTES = 4 * 1024 * 1024;
const MAX_IN_FLIGHT = 200;
const MAX_ID_CHARS = 128;
const IDLE_SECONDS = 120;
const GOING_AWAY = 1001;
const SIGNED_OUT = 4001;
const TOO_MANY_FRAMES = 1008; // "policy violation"
const TOO_LARGE = 1009;
const OPEN = 1;

export interface Sockets extends Disposable {
  readonly handler: WebSocketHandler<SocketData>;
  /** Starts the fan-out. */
  attach(): void;
  closeWhere(test: (identity: Identity) => boolean, reason: string): void;
  /** Of the browsers that have one open. */
  signIns(): ReadonlySet<string>;
  count(): number;
}

interface SocketDeps {
  readonly ids: Ids;
  readonly log: Log;
  readonly stream: ClientStream;
  readonly methods: MethodTable;
  readonly room: ByteRoom;
  /** Whether the credential a socket was opened with is still valid, and has requests left. */
  readonly auth: Pick<Auth, "isCurrent" | "count">;
}

export function createSockets(deps: SocketDeps): Sockets {
  const open = new Set<Socket>();
  let fanOut: Disposable | null = null;

  const receive = async (socket: Socket, text: string | Buffer): Promise<void> => {
    if (socket.readyState !== OPEN) return; // frames that had arrived before it was closed
    const verdict = socket.data.rate.next();
    if (verdict.kind === "close")
      return socket.close(TOO_MANY_FRAMES, "Too many frames. Connect again and send fewer.");
    if (!deps.auth.isCurrent(socket.data.identity)) return socket.close(SIGNED_OUT, "Sign in again.");
    const admit = () => admitted(deps, socket, { verdict, bytes: text.length });
    if (socket.data.protocol) return socket.data.protocol.receive(socket, text, admit);
    if (text.length > MAX_FRAME_BYTES) return socket.close(TOO_LARGE, "A frame has at most 1 MiB.");
    const frame = readFrame(text);
    const requestId = deps.ids.next("req");
    try {
      if (frame.problem !== null) throw frame.problem;
      using _held = admit();
      socket.data.inFlight++;
      try {
        reply(socket, { id: frame.id, ok: true, result: await deps.methods.call(frame, socket) });
      } finally {
        socket.data.inFlight--;
      }
    } catch (error) {
      logProblem(deps.log, error, { requestId, method: frame.method });
      reply(socket, { id: frame.id, ok: false, error: wireError(error, requestId) });
    }
  };

  return {
    count: () => open.size,
    handler: {
      maxPayloadLength: MAX_PAYLOAD_BYTES,
      backpressureLimit: MAX_UNSENT_BYTES,
      closeOnBackpressureLimit: true, // otherwise Bun drops frames silently, and the client would miss events
      perMessageDeflate: false,
      idleTimeout: IDLE_SECONDS,
      sendPings: true,
      open(socket) {
        open.add(socket);
        socket.data.protocol?.opened(socket);
      },
      close(socket) {
        open.delete(socket);
        socket.data.gone.abort(new Error("the connection was closed"));
      },
      message: (socket, text) => background(deps.log, "frame not answered", () => receive(socket, text)),
    },
    attach() {
      // One text for all. Sent to each by name, and not through a topic: what is published waits until the gateway has nothing else to do.
      fanOut = deps.stream.onEvent((event) => {
        for (const socket of open) {
          const { following, identity } = socket.data;
          if (following.has(event.event) && mayHear(identity, event)) socket.send(event.json);
        }
      });
    },
    closeWhere(test, reason) {
      for (const socket of open) if (test(socket.data.identity)) socket.close(SIGNED_OUT, reason);
    },
    signIns: () => new Set([...open].flatMap(({ data }) => data.identity.signIn ?? [])),
    [Symbol.dispose]() {
      fanOut?.[Symbol.dispose]();
      for (const socket of open) socket.close(GOING_AWAY, "The gateway is stopping.");
    },
  };
}

interface Arrived {
  readonly verdict: FrameVerdict;
  readonly bytes: number;
}

/** Throws when a frame is one too many; holds its bytes until it is answered. */
function admitted({ auth, room }: SocketDeps, { data }: Socket, { verdict, bytes }: Arrived): Disposable {
  if (verdict.kind === "refuse") throw tooFast(verdict.retryAfterMs);
  if (data.inFlight >= MAX_IN_FLIGHT) throw busy();
  auth.count(data.identity);
  const held = room.open();
  held.take(bytes);
  return held;
}

/** Replays what came after `since` and follows from there, in one tick: nothing is missed, and nothing this socket has been sent comes again. */
export function subscribe(
  stream: ClientStream,
  socket: Socket,
  names: readonly ClientEventName[],
  since?: number,
): number {
  const { seq } = stream;
  const { following } = socket.data;
  const before = new Map(following);
  const missed = since === undefined ? [] : stream.since(since);
  const isNew = (event: ClientEvent) =>
    names.includes(event.event) &&
    event.seq <= (before.get(event.event) ?? seq) &&
    mayHear(socket.data.identity, event);
  socket.cork(() => {
    if (missed === null) socket.send(JSON.stringify({ event: "resync", seq, data: {} }));
    for (const event of (missed ?? []).filter(isNew)) socket.send(event.json);
  });
  following.clear();
  for (const name of names) {
    const from = missed === null ? seq : (since ?? seq);
    following.set(name, Math.min(before.get(name) ?? from, from));
  }
  return seq;
}

interface Frame {
  readonly id: string;
  readonly method: string;
  readonly params: unknown;
  readonly problem: GatewayError | null;
}

function readFrame(text: string | Buffer): Frame {
  const bad = (say: string, id = ""): Frame => ({
    id,
    method: "",
    params: null,
    problem: new GatewayError("bad_request", "bad frame", { say }),
  });
  if (typeof text !== "string") return bad("Send text frames; binary frames are not used here.");
  const parsed = parseJson(text, { maxChars: MAX_FRAME_BYTES, maxDepth: JSON_MAX_DEPTH });
  if (!parsed.ok) return bad("The frame is not valid JSON, or it is nested too deeply.");
  const value = parsed.value;
  if (typeof value !== "object" || value === null || !("id" in value) || typeof value.id !== "string") {
    return bad("A request has the form {id, method, params}, with a text as id.");
  }
  if (value.id.length > MAX_ID_CHARS) return bad(`An id has at most ${MAX_ID_CHARS} characters.`);
  if (!("method" in value) || typeof value.method !== "string") return bad("`method` is missing.", value.id);
  const params = "params" in value ? value.params : {};
  return { id: value.id, method: value.method, params, problem: null };
}

function reply(socket: Socket, response: WireResponse): void {
  socket.send(JSON.stringify(response));
}

function busy(): GatewayError {
  return new GatewayError("queue_full", "too many requests on one socket", {
    say: "Too many requests are waiting on this connection. Wait for some answers first.",
    fields: { retryAfterMs: 1_000 },
  });
}

function tooFast(retryAfterMs: number): GatewayError {
  return new GatewayError("queue_full", "too many frames on one socket", {
    say: "Too many requests on this connection in a short time. Send fewer.",
    fields: { retryAfterMs },
  });
}
