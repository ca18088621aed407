/** Talks to a running gateway for commands: by the client that programs use, with a sentence that says what to do for every failure. */
import { isGatewayRequestError, readJson, readServerEvents, send, type ServerEvent } from "../client/index.ts";
import { GatewayError, isGatewayError } from "../contracts/errors.ts";
import { notRunning, type RunningGateway } from "./state-directory.ts";
import { type Fields, recordOf, textOf } from "./read-value.ts";

export interface GatewayClient {
  readonly gateway: RunningGateway;
  ask(request: GatewayRequest, signal: AbortSignal): Promise<Fields>;
  /** An answer that is not JSON. */
  text(path: string, signal: AbortSignal): Promise<string>;
  /** Sends a file; gives its id. */
  upload(file: UploadedFile, signal: AbortSignal): Promise<string>;
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

interface UploadedFile {
  readonly name: string;
  readonly data: Uint8Array;
}

interface StreamRequest {
  readonly path: string;
  readonly body: unknown;
  readonly idempotencyKey: string;
}

const WENT_AWAY =
  "The gateway went away in the middle of the answer. If your message was accepted, it is answered when the gateway is back; see it in the web console.";

export function createClient(gateway: RunningGateway): GatewayClient {
  const call = async (request: Parameters<typeof send>[1], signal: AbortSignal): Promise<Response> => {
    try {
      return await send({ url: gateway.url, token: gateway.token.reveal() }, request, signal);
    } catch (error) {
      throw sentenceFor(error, gateway);
    }
  };
  return {
    gateway,
    ask: async ({ path, method = "GET", body }, signal) =>
      recordOf(await readJson(await call({ method, path, body }, signal))),
    text: async (path, signal) => (await call({ method: "GET", path }, signal)).text(),
    async upload({ name, data }, signal) {
      const headers = { "x-filename": encodeURIComponent(name) };
      const response = await call({ method: "POST", path: "/api/media", body: data, headers }, signal);
      return textOf(recordOf(await readJson(response))["mediaId"]);
    },
    async *stream({ path, body, idempotencyKey }, signal) {
      const headers = { accept: "text/event-stream", "idempotency-key": idempotencyKey };
      const response = await call({ method: "POST", path, body, headers }, signal);
      try {
        if (response.body) yield* readServerEvents(response.body);
      } catch (error) {
        if (signal.aborted || isGatewayError(error)) throw error;
        throw new GatewayError("stopping", "the connection broke off", { cause: error, say: WENT_AWAY });
      }
    },
  };
}

function sentenceFor(error: unknown, { url, home }: RunningGateway): unknown {
  if (!isGatewayRequestError(error)) return error;
  const { status, code, message } = error;
  if (status === 0)
    return new GatewayError("not_found", "the gateway did not answer", { cause: error, say: notRunning(home).say });
  if (status === 401)
    return new GatewayError("unauthorized", "the gateway refused the token", {
      say: `The gateway on ${url} does not accept the token in ${home}. Another gateway may be using that port; check with: pi-gw doctor`,
    });
  return new GatewayError("bad_request", `status ${status} ${code}`, { say: message, fields: { code } });
}
