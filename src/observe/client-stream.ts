/** Numbers what clients may see, serialises each event once, and keeps the newest ones for clients that come back. It never grows past its limits. */
import {
  CLIENT_EVENTS,
  type ClientEvent,
  type ClientEventName,
  type ClientStream,
  type Events,
  type GatewayEvents,
} from "../contracts/events.ts";

export interface ClientStreamOptions {
  /** Which life of the state directory this is; numbers of different lives never meet. */
  readonly epoch: number;
  readonly maxEvents?: number;
  readonly maxBytes?: number;
}

/** Far more than one life emits, and a thousand lives of it still fit a safe integer several times over. */
const SEQS_PER_EPOCH = 1_000_000_000;
const DEFAULT_MAX_EVENTS = 5_000;
const DEFAULT_MAX_BYTES = 4 * 1024 * 1024;

export function createClientStream(
  deps: { readonly events: Events },
  options: ClientStreamOptions,
): ClientStream & Disposable {
  const first = options.epoch * SEQS_PER_EPOCH;
  const ring = createRing(options.maxEvents ?? DEFAULT_MAX_EVENTS, options.maxBytes ?? DEFAULT_MAX_BYTES);
  let listeners: readonly ((event: ClientEvent) => void)[] = [];
  let seq = first;

  const publish = <E extends ClientEventName>(event: E, data: GatewayEvents[E]): void => {
    const json = JSON.stringify({ event, seq: seq + 1, data }); // before the number is taken: a failure leaves no gap
    const sessionKey = "sessionKey" in data ? data.sessionKey : null;
    const made: ClientEvent = { event, seq: ++seq, sessionKey, json };
    ring.push(made);
    const failures: unknown[] = [];
    for (const listener of listeners) {
      try {
        listener(made);
      } catch (error) {
        failures.push(error); // everybody hears the event first; the emitter logs what is thrown below
      }
    }
    if (failures.length > 0) throw failures[0];
  };
  const subscribe = <E extends ClientEventName>(event: E): Disposable =>
    deps.events.on(event, (data) => publish(event, data));
  const subscriptions = CLIENT_EVENTS.map((event) => subscribe(event));

  return {
    get seq() {
      return seq;
    },
    since(sinceSeq) {
      if (!Number.isInteger(sinceSeq) || sinceSeq < first || sinceSeq > seq) return null;
      const missing = seq - sinceSeq;
      return missing > ring.size() ? null : ring.newest(missing);
    },
    onEvent(listener) {
      const own = (event: ClientEvent) => listener(event);
      listeners = [...listeners, own];
      return {
        [Symbol.dispose]() {
          listeners = listeners.filter((other) => other !== own);
        },
      };
    },
    [Symbol.dispose]() {
      for (const subscription of subscriptions) subscription[Symbol.dispose]();
      listeners = [];
    },
  };
}

interface Ring {
  push(event: ClientEvent): void;
  size(): number;
  newest(count: number): readonly ClientEvent[];
}

function createRing(maxEvents: number, maxBytes: number): Ring {
  const slots: (ClientEvent | undefined)[] = [];
  let pushed = 0; // events ever pushed; the newest is in slot (pushed - 1) % maxEvents
  let held = 0;
  let bytes = 0;

  const dropOldest = (): void => {
    const slot = (pushed - held) % maxEvents;
    bytes -= Buffer.byteLength(slots[slot]?.json ?? "");
    slots[slot] = undefined; // let go of the text at once: one frame can be large
    held--;
  };

  return {
    push(event) {
      if (held === maxEvents) dropOldest();
      slots[pushed % maxEvents] = event;
      pushed++;
      held++;
      bytes += Buffer.byteLength(event.json);
      while (held > 0 && bytes > maxBytes) dropOldest();
    },
    size: () => held,
    newest(count) {
      const found: ClientEvent[] = [];
      for (let at = pushed - count; at < pushed; at++) {
        const event = slots[at % maxEvents];
        if (event) found.push(event);
      }
      return found;
    },
  };
}
