/**
 * Many streams over one connection: each has a head, bytes in both directions, and an end or an abort. Knows no socket and no meaning. A side
 * that does not read slows its streams down, and never makes the other hold more than a window for each.
 */
import { deferred } from "../deferred.ts";
import { parseJson } from "../json.ts";
import type { ByteStream } from "./byte-stream.ts";
import { createArrivals, createSendWindow, type SendWindow } from "./flow.ts";
import { createFrameDecoder, type Frame, MAX_PAYLOAD_BYTES } from "./frames.ts";
import { createOutput, type Output } from "./output.ts";

/** Open at the same time, of those that the other side has opened. */
const MAX_STREAMS = 64;
const MAX_REASON_CHARS = 500;
const HEAD_LIMITS = { maxChars: MAX_PAYLOAD_BYTES, maxDepth: 16 };

export interface MuxStream extends ByteStream {
  /** The head of the other side's answer. Rejects when the stream ends before one has come. */
  readonly answer: Promise<unknown>;
  respond(head: unknown): void;
}

export interface Mux {
  open(head: unknown): MuxStream;
  /** Bytes that have arrived. */
  push(bytes: Uint8Array): void;
  /** The connection takes bytes again. */
  drained(): void;
  /** The connection is gone: every stream ends. */
  close(reason: string): void;
}

interface MuxOptions {
  /** Numbers of streams: one side opens odd ones, the other even ones. */
  readonly side: "odd" | "even";
  /** Returns how many of the bytes were taken; the rest is offered again after `drained`. */
  write(bytes: Uint8Array): number;
  opened(stream: MuxStream, head: unknown): void;
  /** The other side does not keep to the rules. Every stream has ended. */
  broken(why: string): void;
}

interface OpenStream {
  readonly stream: MuxStream;
  readonly theirs: boolean;
  take(frame: Frame): void;
  cutOff(reason: string): void;
}

class MuxError extends Error {
  override readonly name = "MuxError";
}

export function createMux(options: MuxOptions): Mux {
  const streams = new Map<number, OpenStream>();
  const output = createOutput(options.write);
  let next = options.side === "odd" ? 1 : 2;
  let closed: string | null = null;

  const close = (reason: string): void => {
    closed ??= reason;
    for (const one of streams.values()) one.cutOff(reason);
    streams.clear();
    output.close();
  };
  const breakOff = (why: string): void => {
    if (closed !== null) return;
    close(why);
    options.broken(why);
  };
  const add = (id: number, theirs: boolean): OpenStream => {
    const made = createStream(id, theirs, { output, breakOff, gone: () => void streams.delete(id) });
    streams.set(id, made);
    return made;
  };
  const accept = ({ stream: id, payload }: Frame): void => {
    const theirs = id % 2 === (options.side === "odd" ? 0 : 1);
    if (!theirs || streams.has(id)) return breakOff("a stream was opened twice");
    const count = [...streams.values()].filter((one) => one.theirs).length;
    if (count >= MAX_STREAMS) return output.send("abort", id, reasonBytes(`more than ${MAX_STREAMS} streams`));
    const head = jsonOf(payload);
    if (head === undefined) return breakOff("a head that is not JSON");
    options.opened(add(id, true).stream, head);
  };
  const decoder = createFrameDecoder({
    frame(frame) {
      if (closed !== null) return;
      if (frame.kind === "open") return accept(frame);
      streams.get(frame.stream)?.take(frame); // what is late belongs to a stream that was aborted
    },
    broken: breakOff,
  });

  return {
    open(head) {
      const id = next;
      next += 2;
      const { stream, cutOff } = add(id, false);
      if (closed === null) output.send("open", id, jsonBytes(head));
      else cutOff(closed);
      return stream;
    },
    push: (bytes) => decoder.push(bytes),
    drained: output.flush,
    close,
  };
}

interface StreamParts {
  readonly output: Output;
  breakOff(why: string): void;
  /** Both halves are over. */
  gone(): void;
}

function createStream(id: number, theirs: boolean, { output, breakOff, gone }: StreamParts): OpenStream {
  const answer = deferred<unknown>();
  const cut = new AbortController();
  const window = createSendWindow();
  const arrivals = createArrivals((bytes) => output.send("credit", id, uint32(bytes)));
  let answered = false;
  let sent = false; // our half is complete
  let received = false; // theirs is

  const cutOff = (reason: string): void => {
    if (sent && received) return;
    sent = received = true;
    const error = new MuxError(reason);
    answer.reject(error);
    window.close(error);
    arrivals.fail(error);
    cut.abort(error);
    gone();
  };
  const half = (): void => {
    if (sent && received) gone();
  };

  const take = ({ kind, payload }: Frame): void => {
    switch (kind) {
      case "head":
        answered = true;
        return answer.resolve(jsonOf(payload));
      case "data":
        if (!arrivals.push(payload)) breakOff("more data than was allowed");
        return;
      case "end":
        received = true;
        if (!answered && !theirs) answer.reject(new MuxError("the stream ended without an answer"));
        arrivals.end();
        return half();
      case "abort":
        return cutOff(reasonOf(payload));
      case "credit":
        return window.grant(payload.length === 4 ? new DataView(payload.buffer).getUint32(0) : 0);
      case "open":
        return;
    }
  };

  const stream: MuxStream = {
    answer: answer.promise,
    cut: cut.signal,
    read: arrivals.read,
    respond(head) {
      if (!sent) output.send("head", id, jsonBytes(head));
    },
    write: (bytes) => writeAll({ id, output, window }, bytes),
    end() {
      if (sent) return;
      sent = true;
      output.send("end", id);
      half();
    },
    abort(reason) {
      if (sent && received) return;
      output.send("abort", id, reasonBytes(reason));
      cutOff(reason);
    },
  };
  return { stream, theirs, take, cutOff };
}

/** In frames, as fast as the connection and the reader allow. */
async function writeAll(
  { id, output, window }: { readonly id: number; readonly output: Output; readonly window: SendWindow },
  bytes: Uint8Array,
): Promise<void> {
  let at = 0;
  while (at < bytes.length) {
    await output.room();
    const count = await window.take(Math.min(bytes.length - at, MAX_PAYLOAD_BYTES));
    output.send("data", id, bytes.subarray(at, at + count));
    at += count;
  }
}

function jsonBytes(value: unknown): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(value));
}

/** Undefined: it is not JSON. */
function jsonOf(payload: Uint8Array): unknown {
  const parsed = parseJson(new TextDecoder().decode(payload), HEAD_LIMITS);
  return parsed.ok ? parsed.value : undefined;
}

function reasonBytes(reason: string): Uint8Array {
  return new TextEncoder().encode(reason.slice(0, MAX_REASON_CHARS));
}

function reasonOf(payload: Uint8Array): string {
  return new TextDecoder().decode(payload).slice(0, MAX_REASON_CHARS) || "aborted";
}

function uint32(value: number): Uint8Array {
  const bytes = new Uint8Array(4);
  new DataView(bytes.buffer).setUint32(0, value);
  return bytes;
}
