/**
 * Calls to the model's provider, sent through the gateway: this process has a placeholder where a key would be, and the gateway puts the key
 * in. Calls to other addresses are left alone.
 */
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
import type { Connection } from "../src/kit/mux/descriptor.ts";
import type { MuxStream } from "../src/kit/mux/mux.ts";
import { gatewayConnection } from "./connection.ts";
import { isRecord } from "./orders.ts";

const KEY = Symbol.for("pi-gateway.model-door");

/** The model of the newest request, as pi knows it. */
interface CalledModel {
  readonly provider: string;
  readonly id: string;
  readonly cost: unknown;
}

/** Outlives an extension instance: the calls of every session go through the one that was made first. */
interface Door {
  model: CalledModel | null;
  /** Another model is asked when this one fails before its first word. */
  more: boolean;
  /** The newest call failed in a way that another model may not. */
  passing: boolean;
}

type Fetch = typeof globalThis.fetch;
type Target = Parameters<Fetch>[0];
type Init = NonNullable<Parameters<Fetch>[1]>;

const holder = globalThis as { [KEY]?: Door };

/** Where there is no other model to ask. With others, each call is announced. */
export function tellModel(pi: ExtensionAPI): void {
  pi.on("before_provider_request", (_event, { model }) => {
    if (model) announceCall(model, false);
    return undefined;
  });
}

/** The next call is one of this model: the gateway counts what it costs, and pi has the prices. */
export function announceCall(model: CalledModel, more: boolean): void {
  const door = holder[KEY];
  if (door) Object.assign(door, { model, more, passing: false });
}

/** The call failed as the gateway expects of a provider that is down, limited, silent or without a valid key. */
export function mayAskNext(): boolean {
  return holder[KEY]?.passing ?? false;
}

/** Once for each process: an extension is loaded again for every session. pi has put its fetch in place by now, and libraries take it anew for each call. */
export function useModelDoor(): void {
  const baseUrls = baseUrlsIn(process.env.PI_GATEWAY_MODEL_DOOR);
  if (holder[KEY] || baseUrls.length === 0) return;
  const door: Door = { model: null, more: false, passing: false };
  holder[KEY] = door;
  const connection = gatewayConnection();
  const plain = globalThis.fetch;
  const through = (target: Target, init: Init = {}): Promise<Response> => {
    const url = addressOf(target);
    return baseUrls.some((base) => url.startsWith(base))
      ? callThrough({ open: connection.open, door }, target, init)
      : plain(target, init);
  };
  globalThis.fetch = Object.assign(through, plain);
}

function baseUrlsIn(text: string | undefined): readonly string[] {
  const parsed: unknown = JSON.parse(text ?? "[]");
  return Array.isArray(parsed) ? parsed.filter((one) => typeof one === "string") : [];
}

export function addressOf(target: Target): string {
  if (typeof target === "string") return target;
  return target instanceof URL ? target.href : target.url;
}

type Way = Pick<Connection, "open"> & { readonly door: Door };

async function callThrough({ open, door }: Way, target: Target, init: Init): Promise<Response> {
  const request = typeof target === "string" || target instanceof URL ? null : target;
  const signal = init.signal ?? request?.signal ?? null;
  signal?.throwIfAborted();
  const headers = [...new Headers(init.headers ?? request?.headers)];
  const method = init.method ?? request?.method ?? "GET";
  const { provider, id: model, cost: prices } = door.model ?? {};
  const call = open({ to: "model", method, url: addressOf(target), headers, provider, model, prices, more: door.more });
  const stop = (): void => call.abort("stopped by the agent");
  signal?.addEventListener("abort", stop, { once: true });
  const over = (): void => signal?.removeEventListener("abort", stop);
  try {
    await call.write(await bytesOf(init.body ?? request?.body ?? null));
    call.end();
    const head = await call.answer;
    door.passing = isRecord(head) && head.passing === true;
    return toResponse(call, head, { over, cut: () => void (door.passing = true) });
  } catch (error) {
    over();
    door.passing = true;
    signal?.throwIfAborted(); // whoever stops a call expects to hear that, and not what it led to
    throw new TypeError("fetch failed", { cause: error });
  }
}

async function bytesOf(body: Init["body"]): Promise<Uint8Array> {
  if (typeof body === "string") return new TextEncoder().encode(body);
  return body === null || body === undefined ? new Uint8Array(0) : await new Response(body).bytes();
}

interface Ends {
  over(): void;
  /** The answer broke off. */
  cut(): void;
}

function toResponse(call: MuxStream, head: unknown, { over, cut }: Ends): Response {
  const { status, headers } = isRecord(head) ? head : {};
  if (typeof status !== "number" || !Array.isArray(headers)) throw new Error("the gateway gave no usable answer");
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const chunk = await call.read();
        if (chunk) return controller.enqueue(chunk);
        over();
        controller.close();
      } catch (error) {
        over();
        cut();
        controller.error(error);
      }
    },
    cancel() {
      over();
      call.abort("no longer read");
    },
  });
  return new Response(isEmpty(status) ? null : body, { status, headers: headers as [string, string][] });
}

/** Of these HTTP allows no body. */
function isEmpty(status: number): boolean {
  return status === 204 || status === 205 || status === 304;
}
