/**
 * Pictures within what models take. Whether one has to be made smaller is read from its header; the decoding itself happens in a process of
 * its own, one at a time, which is killed when it takes too long, and which has neither the gateway's secrets nor its files.
 */
import type { Clock } from "../../kit/clock.ts";
import { orAborted } from "../../kit/deferred.ts";
import { pictureSize, type PictureSize } from "./picture-size.ts";

/** Models scale down whatever is larger, and are paid for it. */
export const MAX_SIDE = 2_000;
/** Less than 5 MB once it is base64. */
const MAX_PICTURE_BYTES = 3_500_000;
/** Four bytes each: 160 MB while it is decoded. */
const MAX_PIXELS = 40_000_000;
const SHRINK_MS = 20_000;
const QUALITY = 82;
/** What models read; everything else has to become one of these. */
const READABLE = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);

type PictureFate =
  { readonly kind: "as_it_is" } | { readonly kind: "shrink" } | { readonly kind: "refuse"; readonly because: string };

export function pictureFate(size: PictureSize | null, mimeType: string, bytes: number): PictureFate {
  if (!size) return { kind: "refuse", because: "it is damaged" };
  const { width, height } = size;
  if (width * height > MAX_PIXELS)
    return { kind: "refuse", because: `it has ${width} × ${height} pixels, and at most 40 million are taken` };
  const fits = Math.max(width, height) <= MAX_SIDE && bytes <= MAX_PICTURE_BYTES && READABLE.has(mimeType);
  return fits ? { kind: "as_it_is" } : { kind: "shrink" };
}

export interface Shrinker {
  /** Null: it could not be decoded within the limits. */
  shrink(data: Uint8Array, signal: AbortSignal): Promise<Uint8Array | null>;
}

interface ShrinkerOptions {
  /** Runs Bun. */
  readonly bun: readonly string[];
  readonly bunEnv: Readonly<Record<string, string>>;
}

/** PNG stays PNG where that is small enough, because writing in screenshots suffers from JPEG. */
const PROGRAM = `
const [side, bytes, pixels, quality] = process.argv.slice(-4).map(Number);
const data = await Bun.stdin.bytes();
const made = () => new Bun.Image(data, { maxPixels: pixels }).resize(side, side, { fit: "inside", withoutEnlargement: true });
const { format } = await new Bun.Image(data, { maxPixels: pixels }).metadata();
const png = format === "png" ? await made().png().bytes() : null;
await Bun.write(Bun.stdout, png && png.byteLength <= bytes ? png : await made().jpeg({ quality }).bytes());
`;

export function createShrinker({ clock }: { readonly clock: Clock }, { bun, bunEnv }: ShrinkerOptions): Shrinker {
  let queue: Promise<unknown> = Promise.resolve();
  const run = async (data: Uint8Array, signal: AbortSignal): Promise<Uint8Array | null> => {
    signal.throwIfAborted();
    const [command = "", ...args] = bun;
    const numbers = [MAX_SIDE, MAX_PICTURE_BYTES, MAX_PIXELS, QUALITY].map(String);
    const child = Bun.spawn([command, ...args, "-e", PROGRAM, "--", ...numbers], {
      stdin: data,
      stdout: "pipe",
      stderr: "ignore",
      cwd: "/",
      env: { ...bunEnv },
    });
    using limit = clock.deadline(SHRINK_MS, () => new Error("it took too long"));
    try {
      const read = readCapped(child.stdout, MAX_PICTURE_BYTES);
      const [made, code] = await orAborted(Promise.all([read, child.exited]), AbortSignal.any([signal, limit.signal]));
      return code === 0 && made !== null && made.byteLength > 0 ? made : null;
    } catch {
      signal.throwIfAborted();
      return null; // too slow, or it died; both mean that this picture cannot be used
    } finally {
      child.kill("SIGKILL");
    }
  };
  return {
    shrink(data, signal) {
      const done = queue.then(() => run(data, signal));
      queue = done.catch(() => undefined); // whoever asked hears of it
      return done;
    },
  };
}

async function readCapped(stream: ReadableStream<Uint8Array>, maxBytes: number): Promise<Uint8Array | null> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of stream) {
    bytes += piece.byteLength;
    if (bytes > maxBytes) return null;
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}

export function pictureFateOf(data: Uint8Array, mimeType: string): PictureFate {
  return pictureFate(pictureSize(data, mimeType), mimeType, data.byteLength);
}
