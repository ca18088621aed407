/**
 * Responses over a WebSocket: one at a time and in order. The connection remembers the last response, so that it can be continued although it is
 * not stored; a continuation that fails makes it forget.
 */
import { GatewayError } from "../../contracts/errors.ts";
import type { Asking } from "../../contracts/openai.ts";
import type { AskedResponse } from "../../contracts/responses.ts";
import { problemOf } from "../../openai/index.ts";
import { background } from "../../kit/background.ts";
import { isObject, parseJson } from "../../kit/json.ts";
import { JSON_MAX_DEPTH } from "../body.ts";
import { logProblem } from "../problem.ts";
import type { Call } from "../route.ts";
import type { HttpDeps, ServerParts } from "../types.ts";
import { MAX_PAYLOAD_BYTES, type Socket, type SocketProtocol } from "../ws/sockets.ts";
import { askingOf, sessionIn } from "./asking.ts";
import type { Remembered } from "./remembered.ts";

const CONNECTION_MS = 60 * 60_000;
const MAX_WAITING = 16;
const NORMAL_END = 1000;
/** Of the body that only HTTP has. */
const OF_HTTP = ["stream", "stream_options", "background"];

type SocketDeps = Pick<HttpDeps, "clock" | "ids" | "log" | "events" | "store" | "messages">;

export function responseSocket(
  deps: SocketDeps,
  server: ServerParts,
  call: Call,
  remembered: Remembered,
): SocketProtocol {
  const asking: Asking = { ...askingOf(deps, server, call), idempotencyKey: null };
  const session = sessionIn(call.request);
  const endsAt = deps.clock.elapsed() + CONNECTION_MS;
  const closed = new AbortController();
  const last = remembered.open(asking.principal, closed.signal);
  let line: Promise<void> = Promise.resolve();
  let waiting = 0;

  const answer = async (socket: Socket, text: string | Buffer): Promise<void> => {
    const body = readCreate(text);
    const known = last.now();
    if (known !== null && known.id === body["previous_response_id"]) last.set(null); // until it is continued
    const request = deps.messages.responses.read(body, session);
    deps.messages.openai.admit(asking.principal);
    const recalled: AskedResponse["recalled"] = {
      find: (id) => (known?.id === id ? known.said : null),
      orStored: request.settings.store,
    };
    const asked = { ...asking, request, shows: "socket", recalled } as const;
    const show = (event: object): void => {
      socket.send(JSON.stringify(event));
    };
    const { response, said } = await deps.messages.responses.create(asked, show, socket.data.gone.signal);
    if (response.status === "completed") last.set(said && { id: response.id, said });
  };
  const fail = (socket: Socket, error: unknown): void => {
    if (socket.data.gone.signal.aborted) return;
    logProblem(deps.log, error, { requestId: call.requestId, method: "response.create" });
    const { status, ...problem } = problemOf(error);
    socket.send(JSON.stringify({ type: "error", status, error: problem }));
  };
  const end = (socket: Socket): void => {
    fail(socket, tooOld());
    socket.close(NORMAL_END, "Connect again.");
  };

  return {
    opened(socket) {
      const { signal } = socket.data.gone;
      signal.addEventListener("abort", () => closed.abort(signal.reason), { once: true });
      background(deps.log, "socket of responses not ended", async () => {
        await deps.clock.sleep(CONNECTION_MS, socket.data.gone.signal).catch(() => undefined); // closed before that
        await line;
        if (!socket.data.gone.signal.aborted) end(socket);
      });
    },
    async receive(socket, text, admit) {
      const inTurn = async (): Promise<void> => {
        if (deps.clock.elapsed() >= endsAt) return end(socket);
        await answer(socket, text);
      };
      try {
        if (waiting >= MAX_WAITING) throw tooMany();
        using _held = admit(); // its bytes count while it waits
        waiting++;
        const turn = line.then(inTurn).finally(() => void waiting--);
        line = turn.catch(() => undefined); // told below
        await turn;
      } catch (error) {
        fail(socket, error);
      }
    },
  };
}

function readCreate(text: string | Buffer): Readonly<Record<string, unknown>> {
  const parsed = parseJson(typeof text === "string" ? text : "", {
    maxChars: MAX_PAYLOAD_BYTES,
    maxDepth: JSON_MAX_DEPTH,
  });
  if (!parsed.ok || !isObject(parsed.value)) throw wrong(null, "Send text frames with one JSON object each.");
  const { type, ...body } = parsed.value;
  if (type !== "response.create") throw wrong("type", "`type` must be response.create.");
  const [field] = OF_HTTP.filter((name) => body[name] !== undefined);
  if (field !== undefined)
    throw wrong(field, `\`${field}\` is for HTTP: on a WebSocket every response is sent in events.`);
  return body;
}

function wrong(param: string | null, say: string): GatewayError {
  return new GatewayError("bad_request", "bad frame", { say, fields: param === null ? {} : { param } });
}

function tooMany(): GatewayError {
  return new GatewayError("queue_full", "too many responses on one socket", {
    say: "Too many responses are waiting on this connection. Wait for some of them, or open another connection.",
    fields: { retryAfterMs: 1_000 },
  });
}

function tooOld(): GatewayError {
  return new GatewayError("bad_request", "an hour is over", {
    say: "A connection lasts an hour. Connect again.",
    fields: { code: "websocket_connection_limit_reached" },
  });
}
