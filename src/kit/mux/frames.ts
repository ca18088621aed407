/** Frames on a byte stream: length, kind and stream number before each payload. Splits what arrives however it was cut; refuses what is too large. */

/** Numbers on the wire: never give one another meaning. A kind that is not listed is skipped, so that a newer side can say more. */
export const FRAME_KINDS = {
  /** A new stream, with its head as JSON. */
  open: 1,
  /** The head of the answer, as JSON. */
  head: 2,
  data: 3,
  /** The sender's half of the stream is complete. */
  end: 4,
  /** The stream is over at once, in both directions; the payload says why. */
  abort: 5,
  /** So many bytes more may be sent on the stream. */
  credit: 6,
} as const;

export type FrameKind = keyof typeof FRAME_KINDS;

export interface Frame {
  readonly kind: FrameKind;
  readonly stream: number;
  readonly payload: Uint8Array;
}

interface FrameSink {
  frame(frame: Frame): void;
  /** What follows cannot be understood. Called once; the rest is ignored. */
  broken(why: string): void;
}

interface FrameDecoder {
  push(chunk: Uint8Array): void;
}

export const MAX_PAYLOAD_BYTES = 64 * 1024;
const HEADER_BYTES = 9; // length (4), kind (1), stream (4)
const NAMES: ReadonlyMap<number, FrameKind> = new Map(
  Object.entries(FRAME_KINDS).map(([name, number]) => [number, name as FrameKind]),
);
const NOTHING = new Uint8Array(0);

/** `payload` must fit: whoever has more cuts it first. */
export function encodeFrame(kind: FrameKind, stream: number, payload: Uint8Array = NOTHING): Uint8Array {
  if (payload.length > MAX_PAYLOAD_BYTES) throw new RangeError(`a frame of ${payload.length} bytes is too large`);
  const bytes = new Uint8Array(HEADER_BYTES + payload.length);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, payload.length);
  view.setUint8(4, FRAME_KINDS[kind]);
  view.setUint32(5, stream);
  bytes.set(payload, HEADER_BYTES);
  return bytes;
}

export function createFrameDecoder(sink: FrameSink): FrameDecoder {
  const header = new Uint8Array(HEADER_BYTES);
  const view = new DataView(header.buffer);
  let headerBytes = 0;
  let payload: Uint8Array | null = null; // of the frame whose header is complete
  let payloadBytes = 0;
  let broken = false;

  const begin = (): void => {
    const length = view.getUint32(0);
    if (length > MAX_PAYLOAD_BYTES) {
      broken = true;
      sink.broken(`a frame of ${length} bytes`);
      return;
    }
    payload = length === 0 ? NOTHING : new Uint8Array(length);
    payloadBytes = 0;
  };
  const finish = (whole: Uint8Array): void => {
    const kind = NAMES.get(view.getUint8(4));
    headerBytes = 0;
    payload = null;
    if (kind !== undefined) sink.frame({ kind, stream: view.getUint32(5), payload: whole });
  };

  return {
    push(chunk) {
      let at = 0;
      while (!broken && at < chunk.length) {
        if (payload === null) {
          const part = chunk.subarray(at, at + HEADER_BYTES - headerBytes);
          header.set(part, headerBytes);
          headerBytes += part.length;
          at += part.length;
          if (headerBytes < HEADER_BYTES) return;
          begin();
        }
        if (payload === null) return; // too large
        const part = chunk.subarray(at, at + payload.length - payloadBytes);
        payload.set(part, payloadBytes);
        payloadBytes += part.length;
        at += part.length;
        if (payloadBytes === payload.length) finish(payload);
      }
    },
  };
}
