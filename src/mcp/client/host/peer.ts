/** JSON lines over a stream, both ways: for the gateway and the MCP host, which trust each other. */
import { parseJson } from "../../../kit/json.ts";
import { createLineSplitter } from "../../../kit/jsonl.ts";
import type { ByteStream } from "../../../kit/mux/byte-stream.ts";

export interface Peer {
  /** In order. What cannot be sent any more is dropped: `over` has been called, or will be. */
  send(message: object): void;
}

interface PeerParts {
  take(message: Readonly<Record<string, unknown>>): void;
  /** The stream has ended; once. */
  over(why: string): void;
}

/** Above the largest answer of a server. */
const MAX_LINE_BYTES = 96 * 1024 * 1024;
const MAX_DEPTH = 128;

export function openPeer(stream: ByteStream, { take, over }: PeerParts): Peer {
  let isOver = false;
  let sending: Promise<void> = Promise.resolve();
  const finish = (why: string): void => {
    if (isOver) return;
    isOver = true;
    stream.abort(why);
    over(why);
  };
  const lines = createLineSplitter(MAX_LINE_BYTES, {
    line(text) {
      const parsed = parseJson(text, { maxChars: MAX_LINE_BYTES, maxDepth: MAX_DEPTH });
      if (parsed.ok && typeof parsed.value === "object" && parsed.value !== null) take({ ...parsed.value });
    },
    tooLong: () => finish("it sent too much at once"),
  });
  /** Never rejects. */
  const read = async (): Promise<void> => {
    try {
      for (let bytes = await stream.read(); bytes !== null; bytes = await stream.read()) lines.push(bytes);
      finish("it closed the connection");
    } catch (error) {
      finish(error instanceof Error ? error.message : "the connection was cut");
    }
  };
  void read();
  return {
    send(message) {
      const bytes = Buffer.from(`${JSON.stringify(message)}\n`);
      sending = sending.then(() => stream.write(bytes)).catch((error: unknown) => finish(String(error)));
    },
  };
}
