/** The lines of a program as a transport of the MCP library: one message each, within limits of length, depth and number. Lines that are no messages are passed over. */
import { type JSONRPCMessage, parseJSONRPCMessage, type Transport } from "@modelcontextprotocol/client";
import type { RunningProgram } from "../../contracts/programs.ts";
import type { Clock } from "../../kit/clock.ts";
import { parseJson } from "../../kit/json.ts";
import { createLineSplitter } from "../../kit/jsonl.ts";

const MAX_LINE_BYTES = 16 * 1024 * 1024;
const MAX_DEPTH = 64;
/** More than any server that works says in this time. */
const FLOOD_WINDOW_MS = 1_000;
const MAX_WINDOW_LINES = 2_000;
const MAX_WINDOW_BYTES = 64 * 1024 * 1024;

export interface StdioTransport extends Transport {
  /** By these two the library knows that it is no HTTP. */
  readonly pid: number | null;
  readonly stderr: null;
  /** What the program says. */
  push(bytes: Uint8Array): void;
  /** It has ended; `why` is for whoever waits for it. */
  ended(why: string): void;
}

export function createStdioTransport(
  { clock }: { readonly clock: Clock },
  start: () => Promise<RunningProgram>,
): StdioTransport {
  let program: RunningProgram | null = null;
  let closed = false;
  let window = { since: 0, lines: 0, bytes: 0 };
  const close = (why: string): void => {
    if (closed) return;
    closed = true;
    transport.onerror?.(new Error(why));
    transport.onclose?.();
  };
  const giveUp = (why: string): void => {
    close(why);
    void program?.stop(true); // never rejects
  };
  const isFlood = (bytes: number): boolean => {
    const now = clock.elapsed();
    if (now - window.since > FLOOD_WINDOW_MS) window = { since: now, lines: 0, bytes: 0 };
    window.lines++;
    window.bytes += bytes;
    return window.lines > MAX_WINDOW_LINES || window.bytes > MAX_WINDOW_BYTES;
  };
  const lines = createLineSplitter(MAX_LINE_BYTES, {
    tooLong: () => giveUp(`it sent a message of more than ${MAX_LINE_BYTES} bytes`),
    line(text) {
      if (closed) return;
      if (isFlood(text.length)) return giveUp("it sends more messages than anybody can read");
      const message = messageOf(text);
      if (message !== null) transport.onmessage?.(message);
    },
  });
  const transport: StdioTransport = {
    get pid() {
      return program?.pid ?? null;
    },
    stderr: null,
    async start() {
      program = await start();
    },
    async send(message: JSONRPCMessage) {
      if (closed || program === null) throw new Error("the MCP server is not running");
      program.write(`${JSON.stringify(message)}\n`);
    },
    async close() {
      close("the connection was closed");
      await program?.stop(false);
    },
    push: (bytes) => lines.push(bytes),
    ended: close,
  };
  return transport;
}

/** Null: it is none. Many programs write other things to their output, too. */
function messageOf(line: string): JSONRPCMessage | null {
  const parsed = parseJson(line, { maxChars: MAX_LINE_BYTES, maxDepth: MAX_DEPTH });
  if (!parsed.ok) return null;
  try {
    return parseJSONRPCMessage(parsed.value);
  } catch {
    return null; // JSON, and not of this protocol
  }
}
