/**
 * The requests that `pi-gw mcp serve` makes to `/mcp`, and the session of a client that began with `initialize`. A session that a restart of
 * the gateway has ended is begun anew behind the client's back.
 */
import { GatewayError } from "../contracts/errors.ts";
import type { Clock } from "../kit/clock.ts";
import { isObject, parseJson } from "../kit/json.ts";
import { LINE_LIMITS, type Message, modernHeaders, type RequestId, requestIdOf, revisionOf } from "./mcp-messages.ts";
import { readServerEvents } from "../client/index.ts";

export interface WireDeps {
  readonly clock: Clock;
  /** Where the gateway is now, and what lets the client in. Throws the sentence that a person needs when none runs. */
  target(): Promise<{ readonly url: string; readonly token: string }>;
  /** To the client. */
  write(message: Message): void;
}

interface Wire {
  /** Whether the client has begun with `initialize`. */
  hasSession(): boolean;
  /** Sends it and writes what comes back, to the end. */
  exchange(message: Message, signal: AbortSignal): Promise<void>;
  /** Writes what the server says without being asked, until the stream ends. */
  listen(signal: AbortSignal, opened: () => void): Promise<void>;
  /** Ends the session, if there is one. */
  end(): Promise<void>;
}

interface Session {
  id: string | null;
  revision: string | null;
  /** To begin anew with. */
  readonly opening: Message;
}

const SESSION = "mcp-session-id";
const END_MS = 2_000;
const WENT_AWAY = "The gateway went away in the middle of the answer. What it had begun may have been done.";
const INITIALIZED = { jsonrpc: "2.0", method: "notifications/initialized" };

export function createWire(deps: WireDeps): Wire {
  let session: Session | null = null;
  const request = async (method: string, init: Omit<RequestInit, "method">): Promise<Response> => {
    const { url, token } = await deps.target();
    const headers = { authorization: `Bearer ${token}`, ...(init.headers as Record<string, string>) };
    return fetch(`${url}/mcp`, { ...init, method, headers, redirect: "error" });
  };
  const post = (message: Message, signal: AbortSignal): Promise<Response> => {
    const revision = revisionOf(message);
    const headers = {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      ...(revision === null ? sessionHeaders(session) : modernHeaders(message, revision)),
    };
    return request("POST", { headers, body: JSON.stringify(message), signal });
  };
  /** A session that is being begun anew: requests and the stream meet its end at the same time, and one of them begins it for both. */
  let beginning: Promise<void> | null = null;
  const beginAnew = (old: Session, signal: AbortSignal): Promise<void> => {
    beginning ??= begin(old, signal).finally(() => {
      beginning = null;
    });
    return beginning;
  };
  const begin = async (old: Session, signal: AbortSignal): Promise<void> => {
    old.id = null;
    const response = await post(old.opening, signal);
    old.id = response.headers.get(SESSION);
    await response.body?.cancel();
    await (await post(INITIALIZED, signal)).body?.cancel();
  };
  return {
    hasSession: () => session !== null,
    async exchange(message, signal) {
      const opening = message["method"] === "initialize" ? { id: null, revision: null, opening: message } : null;
      if (opening) session = opening;
      if (!opening) await beginning?.catch(() => undefined); // told by whoever began it
      const usedId = session?.id ?? null;
      let response = await post(message, signal);
      if (response.status === 404 && session && usedId !== null && revisionOf(message) === null) {
        await response.body?.cancel();
        if (session.id === usedId || beginning) await beginAnew(session, signal);
        response = await post(message, signal);
      }
      if (opening && session) session.id = response.headers.get(SESSION);
      const id = requestIdOf(message);
      let answered = id === null;
      await pass(response, id, (answer) => {
        if (opening && session) session.revision = revisionIn(answer);
        if (answer["id"] === id && answer["method"] === undefined) answered = true;
        deps.write(answer);
      });
      if (!answered) throw new GatewayError("stopping", "the connection broke off", { say: WENT_AWAY });
    },
    async listen(signal, opened) {
      const headers = { accept: "text/event-stream", ...sessionHeaders(session) };
      const response = await request("GET", { headers, signal });
      if (response.status === 404 && session) return beginAnew(session, signal);
      if (!response.ok) return;
      opened();
      await pass(response, null, deps.write);
    },
    async end() {
      if (!session || session.id === null) return;
      using limit = deps.clock.deadline(END_MS, () => new Error("the gateway did not answer"));
      const gone = request("DELETE", { headers: sessionHeaders(session), signal: limit.signal });
      await gone.catch(() => undefined); // it ends by itself, later
    },
  };
}

function sessionHeaders(session: Session | null): Record<string, string> {
  const { id = null, revision = null } = session ?? {};
  return {
    ...(id === null ? {} : { [SESSION]: id }),
    ...(revision === null ? {} : { "mcp-protocol-version": revision }),
  };
}

function revisionIn({ result }: Message): string | null {
  const revision = isObject(result) ? result["protocolVersion"] : undefined;
  return typeof revision === "string" ? revision : null;
}

/** Whatever the gateway answers, as messages: a stream of them, one, or none. */
async function pass(response: Response, id: RequestId | null, write: (message: Message) => void): Promise<void> {
  const type = response.headers.get("content-type") ?? "";
  if (response.ok && type.includes("text/event-stream") && response.body) {
    for await (const { data } of readServerEvents(response.body)) {
      const parsed = parseJson(data, LINE_LIMITS);
      if (parsed.ok && isObject(parsed.value)) write(parsed.value);
    }
    return;
  }
  const parsed = parseJson(await response.text(), LINE_LIMITS);
  const answer = parsed.ok && isObject(parsed.value) ? parsed.value : {};
  if (answer["jsonrpc"] === "2.0") return write(id === null ? answer : { ...answer, id });
  if (!response.ok) throw refusal(response.status, answer);
}

/** An error in the form of the port: nobody got as far as MCP. */
function refusal(status: number, { error }: Message): GatewayError {
  const message = isObject(error) ? error["message"] : undefined;
  const say = typeof message === "string" ? message : `The gateway answered with status ${status}.`;
  return new GatewayError("bad_request", `status ${status}`, { say });
}
