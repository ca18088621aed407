/**
 * Passes messages of an MCP client on stdio on to `/mcp` of the running gateway, and back. It decides nothing: who may do what is decided by
 * the gateway, by the credential.
 */
import { isGatewayError } from "../contracts/errors.ts";
import type { Clock } from "../kit/clock.ts";
import { isObject, parseJson } from "../kit/json.ts";
import { cancelledId, failure, LINE_LIMITS, type Message, type RequestId, requestIdOf } from "./mcp-messages.ts";
import { createWire, type WireDeps } from "./mcp-wire.ts";

export interface Relay {
  /** One line of the client. Returns at once; what comes back is written. */
  take(line: string): void;
  /** Waits for nothing more: ends open requests and the session. */
  close(): Promise<void>;
}

const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 30_000;

export function createRelay(deps: WireDeps): Relay {
  const over = new AbortController();
  const open = new Map<RequestId, AbortController>();
  const wire = createWire(deps);
  let listening = false;
  /** What an older server says without being asked, such as changed lists. */
  const listen = (): void => {
    if (listening) return;
    listening = true;
    void keepTrying(deps.clock, (worked) => wire.listen(over.signal, worked), over.signal);
  };
  /** Never rejects. */
  const run = async (message: Message): Promise<void> => {
    const id = requestIdOf(message);
    const stop = new AbortController();
    if (id !== null) open.set(id, stop);
    try {
      await wire.exchange(message, AbortSignal.any([stop.signal, over.signal]));
      if (message["method"] === "notifications/initialized") listen();
    } catch (error) {
      // whoever has cancelled a request waits for no answer
      if (id !== null && !stop.signal.aborted && !over.signal.aborted) deps.write(failure(id, sentenceOf(error)));
    } finally {
      if (id !== null) open.delete(id);
    }
  };
  return {
    take(line) {
      const parsed = parseJson(line, LINE_LIMITS);
      if (!parsed.ok || !isObject(parsed.value)) return deps.write(unreadable());
      const message = parsed.value;
      const cancelled = cancelledId(message);
      // in 2026-07-28 hanging up is the word for it; an older server is told
      if (cancelled !== null && !wire.hasSession()) return open.get(cancelled)?.abort(new Error("cancelled"));
      void run(message);
    },
    async close() {
      over.abort(new Error("the client has gone"));
      await wire.end();
    },
  };
}

function sentenceOf(error: unknown): string {
  return isGatewayError(error) ? error.say : "The gateway did not answer. Check that it runs with: pi-gw status";
}

const PARSE_ERROR = -32_700;

function unreadable(): Message {
  return { jsonrpc: "2.0", id: null, error: { code: PARSE_ERROR, message: "This line is not a JSON-RPC message." } };
}

type Work = (worked: () => void) => Promise<void>;

/** Again and again until the signal aborts, with pauses that grow until it has worked. Never rejects. */
async function keepTrying(clock: Clock, work: Work, signal: AbortSignal): Promise<void> {
  let pauseMs = FIRST_PAUSE_MS;
  const worked = (): void => {
    pauseMs = FIRST_PAUSE_MS;
  };
  while (!signal.aborted) {
    await work(worked).catch(() => undefined); // it is tried again
    await clock.sleep(pauseMs, signal).catch(() => undefined); // the loop ends
    pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
  }
}
