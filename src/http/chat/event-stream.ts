/** A response of server-sent events. A client that reads too slowly is cut off instead of filling memory. */
import { background } from "../../kit/background.ts";
import type { Clock } from "../../kit/clock.ts";
import type { Log } from "../../kit/log.ts";

interface EventSink extends DataSink {
  send(event: string, data: unknown): void;
}

interface DataSink {
  /** One event without a name. */
  data(text: string): void;
  /** Nobody reads any more. */
  isGone(): boolean;
}

const HEARTBEAT_MS = 15_000;
const MAX_UNREAD_BYTES = 4 * 1024 * 1024;

/**
 * Runs `produce` until it resolves; its signal aborts when the client is gone. `produce` reports its own failures as events; one that it does
 * not ends the stream, and the log tells it.
 */
export function eventStream(
  deps: StreamDeps,
  signal: AbortSignal,
  produce: (sink: EventSink, signal: AbortSignal) => Promise<void>,
): Response {
  return textStream(deps, signal, ({ write, isGone }, over) =>
    produce(
      {
        send: (event, data) => write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`),
        data: (text) => write(`data: ${text}\n\n`),
        isGone,
      },
      over,
    ),
  );
}

/** The same for events that have no names. */
export function dataStream(
  deps: StreamDeps,
  signal: AbortSignal,
  produce: (sink: DataSink, signal: AbortSignal) => Promise<void>,
): Response {
  return textStream(deps, signal, ({ write, isGone }, over) =>
    produce({ data: (text) => write(`data: ${text}\n\n`), isGone }, over),
  );
}

interface StreamDeps {
  readonly clock: Clock;
  readonly log: Log;
}

interface TextSink extends Pick<DataSink, "isGone"> {
  write(text: string): void;
}

function textStream(
  { clock, log }: StreamDeps,
  signal: AbortSignal,
  produce: (sink: TextSink, signal: AbortSignal) => Promise<void>,
): Response {
  const gone = new AbortController();
  const over = AbortSignal.any([signal, gone.signal]);
  const encoder = new TextEncoder();
  const stream = new ReadableStream<Uint8Array>(
    {
      start(controller) {
        const write = (text: string): void => {
          if (gone.signal.aborted) return;
          controller.enqueue(encoder.encode(text));
          if ((controller.desiredSize ?? 0) > 0) return;
          gone.abort(new Error("client reads too slowly"));
          controller.error(gone.signal.reason);
        };
        const ended = new AbortController();
        const still = AbortSignal.any([over, ended.signal]);
        background(log, "stream of events not kept open", () =>
          heartbeat(clock, still, () => write(": still here\n\n")),
        );
        const sink: TextSink = { write, isGone: () => gone.signal.aborted };
        // Not awaited: a stream that waits in `start` sends nothing until it is over.
        const work = async (): Promise<void> => {
          try {
            await produce(sink, over);
          } finally {
            ended.abort(new Error("stream ended"));
            if (!gone.signal.aborted) controller.close();
          }
        };
        background(log, "stream of events broke off", work);
      },
      cancel() {
        gone.abort(new Error("client gone"));
      },
    },
    new ByteLengthQueuingStrategy({ highWaterMark: MAX_UNREAD_BYTES }),
  );
  return new Response(stream, { headers: { "content-type": "text/event-stream", "x-accel-buffering": "no" } });
}

async function heartbeat(clock: Clock, signal: AbortSignal, beat: () => void): Promise<void> {
  while (!signal.aborted) {
    await clock.sleep(HEARTBEAT_MS, signal).catch(() => undefined); // the abort is the normal end
    if (!signal.aborted) beat();
  }
}
