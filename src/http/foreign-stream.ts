/** A body that a library writes as it likes: it ends with the request, and with a client that does not read what is there already. */

/** One piece may be larger: it waits alone. */
const MAX_UNREAD_BYTES = 4 * 1024 * 1024;

/** A comment: the headers leave with the first bytes, and a client waits for them before it goes on. */
const FIRST_BYTES = new TextEncoder().encode(":\n\n");

/** Aborting ends the stream; what the library does for it ends, too. A response without a stream of events stays as it is. */
export function endingWith(response: Response, signal: AbortSignal): Response {
  const { body, status, headers } = response;
  if (!body || !headers.get("content-type")?.startsWith("text/event-stream")) return response;
  const reader: BodyReader = body.getReader();
  const strategy = new ByteLengthQueuingStrategy({ highWaterMark: MAX_UNREAD_BYTES });
  const passed = new ReadableStream<Uint8Array>(
    {
      start(controller) {
        controller.enqueue(FIRST_BYTES);
        pass(reader, controller, signal).catch((error: unknown) => controller.error(error));
      },
      cancel: (reason: unknown) => reader.cancel(reason),
    },
    strategy,
  );
  return new Response(passed, { status, headers });
}

type BodyReader = Pick<ReadableStreamDefaultReader<Uint8Array>, "read" | "cancel">;

/** Reads without being asked to: what nobody takes is then counted here, and not kept without a limit behind the reader. */
async function pass(
  reader: BodyReader,
  controller: ReadableStreamDefaultController<Uint8Array>,
  signal: AbortSignal,
): Promise<void> {
  const end = (): void => void reader.cancel(signal.reason).catch(() => undefined); // a stream that failed has ended, too
  if (signal.aborted) end();
  signal.addEventListener("abort", end, { once: true });
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return controller.close();
      if ((controller.desiredSize ?? 0) <= 0) {
        await reader.cancel(new Error("client reads too slowly"));
        throw new Error("client reads too slowly");
      }
      controller.enqueue(value);
    }
  } finally {
    signal.removeEventListener("abort", end);
  }
}
