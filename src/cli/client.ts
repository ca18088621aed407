/** Talks to a running gateway. Every failure becomes a sentence that says what to do; the token goes into a header and nowhere else. */
import { GatewayError, isGatewayError } from "../contracts/errors.ts";
import { parseJson } from "../kit/json.ts";
import { notRunning, type RunningGateway } from "./state-directory.ts";
import { type Fields, recordOf, textOf } from "./read-value.ts";
import { readServerEvents, type ServerEvent } from "./read-stream.ts";

export interface GatewayClient {
  readonly gateway: RunningGateway;
  ask(request: GatewayRequest, signal: AbortSignal): Promise<Fields>;
  /** Posts and follows the events of the answer. */
  stream(request: StreamRequest, signal: AbortSignal): AsyncIterable<ServerEvent>;
}

export interface GatewayRequest {
  readonly path: string;
  /** Left out: GET. */
  readonly method?: "POST" | "PATCH" | "DELETE";
  /** Sent as JSON. */
  readonly body?: unknown;
}

interface StreamRequest {
  readonly path: string;
  readonly body: unknown;
  readonly idempotencyKey: string;
}

const WENT_AWAY =
  "The gateway went away in the middle of the answer. If your message was accepted, it is answered when the gateway is back; see it in the web console.";
const JSON_LIMITS = { maxChars: 32 * 1024 * 1024, maxDepth: 64 };

export function createClient(gateway: RunningGateway): GatewayClient {
  const call = async (path: string, init: RequestInit, signal: AbortSignal): Promise<Response> => {
    const headers = new Headers(init.headers);
    headers.set("authorization", `Bearer ${gateway.token.reveal()}`);
    const response = await fetch(`${gateway.url}${path}`, { ...init, headers, signal, redirect: "error" }).catch(
      (error: unknown) => {
        if (signal.aborted) throw signal.reason;
        throw new GatewayError("not_found", "the gateway did not answer", {
          cause: error,
          say: notRunning(gateway.home).say,
        });
      },
    );
    if (!response.ok) throw await refusal(response, gateway);
    return response;
  };
  const json = { "content-type": "application/json" };

  return {
    gateway,
    async ask({ path, method = "GET", body }, signal) {
      const sent = body === undefined ? {} : { headers: json, body: JSON.stringify(body) };
      return fieldsOf(await call(path, { method, ...sent }, signal));
    },
    async *stream({ path, body, idempotencyKey }, signal) {
      const headers = { ...json, accept: "text/event-stream", "idempotency-key": idempotencyKey };
      const response = await call(path, { method: "POST", headers, body: JSON.stringify(body) }, signal);
      try {
        if (response.body) yield* readServerEvents(response.body);
      } catch (error) {
        if (signal.aborted || isGatewayError(error)) throw error;
        throw new GatewayError("stopping", "the connection broke off", { cause: error, say: WENT_AWAY });
      }
    },
  };
}

async function fieldsOf(response: Response): Promise<Fields> {
  const parsed = parseJson(await response.text(), JSON_LIMITS);
  return parsed.ok ? recordOf(parsed.value) : {};
}

async function refusal(response: Response, gateway: RunningGateway): Promise<GatewayError> {
  if (response.status === 401) {
    return new GatewayError("unauthorized", "the gateway refused the token", {
      say: `The gateway on ${gateway.url} does not accept the token in ${gateway.home}. Another gateway may be using that port; check with: pi-gw doctor`,
    });
  }
  const error = recordOf((await fieldsOf(response).catch((): Fields => ({})))["error"]);
  const message = textOf(error["message"]) || `The gateway answered with status ${response.status}.`;
  return new GatewayError("bad_request", `status ${response.status} ${textOf(error["code"])}`, {
    say: message,
    fields: { code: textOf(error["code"]) },
  });
}
