/** Server-sent events as the gateway sends them, cut out of a stream of bytes. Nothing may be endless. */
import { createLineSplitter } from "../kit/jsonl.ts";

export interface ServerEvent {
  readonly event: string;
  readonly data: string;
}

const MAX_EVENT_BYTES = 16 * 1024 * 1024;

/** Comments and unknown fields are skipped. */
export async function* readServerEvents(body: AsyncIterable<Uint8Array>): AsyncGenerator<ServerEvent> {
  const ready: ServerEvent[] = [];
  let event = "message";
  let data: string[] = [];
  let tooLong = false;
  const lines = createLineSplitter(MAX_EVENT_BYTES, {
    line(text) {
      if (text === "") {
        if (data.length > 0) ready.push({ event, data: data.join("\n") });
        event = "message";
        data = [];
      } else if (text.startsWith("event:")) event = text.slice(6).trim();
      else if (text.startsWith("data:")) data.push(text.slice(text.startsWith("data: ") ? 6 : 5));
    },
    tooLong() {
      tooLong = true;
    },
  });
  for await (const chunk of body) {
    lines.push(chunk);
    yield* ready.splice(0);
    if (tooLong) throw new Error("the gateway sent an event that is too long");
  }
}
