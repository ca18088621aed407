/** Frames: whatever way the bytes are cut, the same frames come out, and what is too large ends the reading. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { createFrameDecoder, encodeFrame, FRAME_KINDS, type FrameKind, MAX_PAYLOAD_BYTES } from "./frames.ts";

interface Seen {
  readonly frames: { kind: FrameKind; stream: number; payload: number[] }[];
  readonly broken: string[];
}

function decode(chunks: readonly Uint8Array[]): Seen {
  const seen: Seen = { frames: [], broken: [] };
  const decoder = createFrameDecoder({
    frame: ({ kind, stream, payload }) => void seen.frames.push({ kind, stream, payload: [...payload] }),
    broken: (why) => void seen.broken.push(why),
  });
  for (const chunk of chunks) decoder.push(chunk);
  return seen;
}

function cutAt(bytes: Uint8Array, cuts: readonly number[]): Uint8Array[] {
  const places = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
  return places.slice(1).map((end, at) => bytes.slice(places[at], end));
}

const kinds = fc.constantFrom(...(Object.keys(FRAME_KINDS) as FrameKind[]));
const streamNumber = fc.integer({ min: 0, max: 0xffff_ffff });
const frames = fc.array(fc.record({ kind: kinds, stream: streamNumber, payload: fc.uint8Array({ maxLength: 300 }) }), {
  maxLength: 8,
});

test("frames come out as they went in, however the bytes are cut", () => {
  fc.assert(
    fc.property(frames, fc.array(fc.nat(), { maxLength: 12 }), (sent, cuts) => {
      const bytes = Buffer.concat(sent.map(({ kind, stream, payload }) => encodeFrame(kind, stream, payload)));
      const seen = decode(cutAt(bytes, cuts));
      expect(seen.broken).toEqual([]);
      expect(seen.frames).toEqual(sent.map((frame) => ({ ...frame, payload: [...frame.payload] })));
    }),
  );
});

test("a frame of an unknown kind is skipped, and those around it are read", () => {
  fc.assert(
    fc.property(fc.integer({ min: 7, max: 255 }), fc.uint8Array({ maxLength: 50 }), (kind, payload) => {
      const unknown = encodeFrame("data", 3, payload);
      unknown[4] = kind;
      const bytes = Buffer.concat([encodeFrame("end", 1), unknown, encodeFrame("end", 5)]);
      expect(decode([bytes]).frames.map(({ stream }) => stream)).toEqual([1, 5]);
    }),
  );
});

test("a frame that is too large ends the reading once, before anything is kept for it", () => {
  const header = new Uint8Array(9);
  new DataView(header.buffer).setUint32(0, MAX_PAYLOAD_BYTES + 1);
  const seen = decode([encodeFrame("end", 1), header, encodeFrame("end", 2), header]);
  expect(seen.frames.map(({ stream }) => stream)).toEqual([1]);
  expect(seen.broken).toEqual([`a frame of ${MAX_PAYLOAD_BYTES + 1} bytes`]);
});

test("bytes of any kind never make the decoder throw", () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 64 }), { maxLength: 20 }), (chunks) => {
      expect(decode(chunks).broken.length).toBeLessThanOrEqual(1);
    }),
  );
});

test("a payload that is too large is not encoded", () => {
  expect(() => encodeFrame("data", 1, new Uint8Array(MAX_PAYLOAD_BYTES + 1))).toThrow(RangeError);
});
