/** Input that comes in chunks, cut into what it means: lines of text, or server-sent events. Nothing may be endless. */
import { createLineSplitter } from "../kit/jsonl.ts";

export interface ServerEvent {
  readonly event: string;
  readonly data: string;
}

const MAX_EVENT_BYTES = 16 * 1024 * 1024;

/** Server-sent events as our gateway sends them; comments and unknown fields are skipped. */
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

const MAX_LINE_CHARS = 1_000_000;

/** Line by line; the last line counts without a line break too. */
export async function* readLines(input: AsyncIterable<Uint8Array | string>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of input) {
    rest += typeof chunk === "string" ? chunk : decoder.decode(chunk, { stream: true });
    const lines = rest.split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) yield line.endsWith("\r") ? line.slice(0, -1) : line;
    if (rest.length > MAX_LINE_CHARS) throw new Error("This line is too long to be a message.");
  }
  if (rest !== "") yield rest;
}
