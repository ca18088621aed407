/**
 * Sends spans to a collector in batches. The queue is bounded: what does not fit is dropped and counted, and nobody ever waits for it. A collector that
 * is away is asked again with growing pauses; one that refuses a batch for good costs that batch.
 */
import type { Clock } from "../../kit/clock.ts";
import { orAborted } from "../../kit/deferred.ts";
import type { Log } from "../../kit/log.ts";
import { guardedFetch } from "../../kit/outside/guarded-fetch.ts";
import type { Resolver } from "../../kit/outside/public-address.ts";
import { isTemporaryStatus } from "../../kit/outside/temporary-status.ts";
import type { Secret } from "../../kit/secret.ts";
import type { OtelSpan } from "./genai-spans.ts";
import { type OtelResource, otlpBody } from "./otlp-json.ts";

const MAX_QUEUED = 2_048;
const MAX_BATCH = 512;
const EVERY_MS = 5_000;
const LONGEST_PAUSE_MS = 60_000;
const LAST_MS = 2_000;
const LIMITS = { totalMs: 10_000, idleMs: 10_000, maxBytes: 64 * 1024 };

interface ExporterDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly resolve: Resolver;
}

export interface ExporterOptions {
  /** The whole address, with `/v1/traces`. */
  readonly url: string;
  readonly headers: Readonly<Record<string, Secret>>;
  readonly resource: OtelResource;
}

interface SpanExporter extends AsyncDisposable {
  /** Never throws and never waits. */
  add(span: OtelSpan): void;
  counts(): { readonly sent: number; readonly dropped: number };
}

type Sent = "sent" | "later" | "refused";

export function startExporter(deps: ExporterDeps, options: ExporterOptions): SpanExporter {
  const { clock, log } = deps;
  const queue: OtelSpan[] = [];
  const over = new AbortController();
  let sent = 0;
  let dropped = 0;
  let untold = 0;
  const drop = (count: number): void => {
    dropped += count;
    untold += count;
  };
  const send = async (signal: AbortSignal): Promise<Sent> => {
    const batch = queue.slice(0, MAX_BATCH);
    if (batch.length === 0) return "sent";
    const outcome = await post(deps, options, batch, signal);
    if (outcome === "later") return outcome;
    queue.splice(0, batch.length); // new ones came at the end meanwhile
    if (outcome === "sent") sent += batch.length;
    else drop(batch.length);
    return outcome;
  };
  /** Never rejects: every failure is an outcome, and the end of the exporter ends the pause. */
  const work = async (): Promise<void> => {
    let pauseMs = EVERY_MS;
    while (!over.signal.aborted) {
      await clock.sleep(pauseMs, over.signal).catch(() => undefined);
      if (over.signal.aborted) return;
      const outcome = await send(over.signal).catch(() => "later" as const);
      pauseMs = outcome === "later" ? Math.min(pauseMs * 2, LONGEST_PAUSE_MS) : EVERY_MS;
      if (outcome === "sent" && queue.length >= MAX_BATCH) pauseMs = 0;
      if (untold > 0 || outcome === "refused") log.warn("telemetry was dropped", { spans: untold, outcome });
      untold = 0;
    }
  };
  const working = work();
  return {
    add(span) {
      if (queue.length < MAX_QUEUED) queue.push(span);
      else drop(1);
    },
    counts: () => ({ sent, dropped }),
    async [Symbol.asyncDispose]() {
      over.abort();
      await working;
      using limit = clock.deadline(LAST_MS, () => new Error("the collector took too long"));
      await orAborted(send(limit.signal), limit.signal).catch(() => undefined); // what is not sent by now is not missed
    },
  };
}

async function post(
  deps: ExporterDeps,
  { url, headers, resource }: ExporterOptions,
  spans: readonly OtelSpan[],
  signal: AbortSignal,
): Promise<Sent> {
  const body = new TextEncoder().encode(otlpBody(spans, resource));
  const all = Object.fromEntries([
    ["content-type", "application/json"],
    ["content-length", String(body.byteLength)],
    ...Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value.reveal()]),
  ]) as Record<string, string>;
  const request = { url, method: "POST", headers: all, body } as const;
  const answer = await guardedFetch(deps, request, { ...LIMITS, trustedOrigin: new URL(url).origin }, signal);
  if (answer.kind === "failed") return answer.because === "large" ? "sent" : "later"; // a long answer is one all the same
  if (answer.kind === "refused") return "refused";
  if (answer.status >= 200 && answer.status < 300) return "sent";
  return isTemporaryStatus(answer.status) ? "later" : "refused";
}
