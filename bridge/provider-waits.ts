/**
 * Waiting times that a model's provider asks for when it refuses: pi tells nobody how long to wait, so the responses to its requests are read here.
 * A wait within the limit is kept before the next request; a longer one is only told. Requests to others are left alone.
 */
import type { ExtensionAPI, ExtensionContext } from "@earendil-works/pi-coding-agent";
import { addressOf } from "./model-door.ts";
import { askedWaitMs } from "../src/kit/retry-after.ts";

const ASKED_KEY = "pi-gateway:provider_asked";
const WAITING_KEY = "pi-gateway:provider_waiting";

/** Outlives an extension instance, like the process whose requests it follows. */
interface Waits {
  /** Where the newest request of the model goes, and how to tell the gateway about it. */
  now: { readonly base: string; readonly ui: ExtensionContext["ui"] } | null;
  /** When a provider may be asked again, by its address. */
  readonly notBefore: Map<string, number>;
}

const KEY = Symbol.for("pi-gateway.provider-waits");

export function keepProviderWaits(pi: ExtensionAPI): void {
  const limitMs = Number(process.env.PI_GATEWAY_PROVIDER_WAIT_MS ?? "0");
  const waits = followFetch(limitMs);
  pi.on("before_provider_request", async (_event, ctx) => {
    const base = ctx.model?.baseUrl ?? "";
    waits.now = base === "" ? null : { base, ui: ctx.ui };
    const leftMs = (waits.notBefore.get(base) ?? 0) - Date.now();
    if (leftMs > 0) {
      tell(ctx.ui, WAITING_KEY, { waitMs: leftMs });
      await sleep(leftMs, ctx.signal);
    }
    return undefined;
  });
}

/** pi's own fetch is in its place by now, and every library takes it anew for each request. */
function followFetch(limitMs: number): Waits {
  const holder = globalThis as { [KEY]?: Waits };
  if (holder[KEY]) return holder[KEY];
  const waits: Waits = { now: null, notBefore: new Map() };
  holder[KEY] = waits;
  const plain = globalThis.fetch;
  const followed = async (...args: Parameters<typeof fetch>): Promise<Response> => {
    const response = await plain(...args);
    note(waits, { url: addressOf(args[0]), limitMs }, response);
    return response;
  };
  globalThis.fetch = Object.assign(followed, plain);
  return waits;
}

function note(waits: Waits, asked: { readonly url: string; readonly limitMs: number }, response: Response): void {
  const { now, notBefore } = waits;
  if (!now || !asked.url.startsWith(now.base)) return;
  const at = Date.now();
  const waitMs = askedWaitMs(response, at);
  if (waitMs === null || waitMs > asked.limitMs) notBefore.delete(now.base);
  else notBefore.set(now.base, at + waitMs);
  if (waitMs !== null) tell(now.ui, ASKED_KEY, { status: response.status, waitMs });
}

/** A status line is the one thing an extension can say without waiting for an answer and without anybody being shown it. */
function tell(ui: ExtensionContext["ui"], key: string, what: Readonly<Record<string, number>>): void {
  ui.setStatus(key, JSON.stringify(what));
}

function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const end = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", end);
      resolve(); // the request itself sees the abort
    };
    const timer = setTimeout(end, ms);
    signal?.addEventListener("abort", end, { once: true });
  });
}
