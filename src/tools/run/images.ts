/** Images a tool gave back: what they are is read from their bytes, a canvas too large is refused before it is drawn, and large ones are made smaller. */
import type { ContentBlock } from "../../contracts/tools/tool.ts";

type Picture = Extract<ContentBlock, { type: "image" }>;
/** Gives the image, a smaller one, or a note in its place. Never rejects. */
export type ImageCheck = (image: Picture) => Promise<ContentBlock>;

/** As it came, before anything is decoded. */
const MAX_SOURCE_BYTES = 20 * 1024 * 1024;
const MIB = 1024 * 1024;
const MAX_SIDE_PIXELS = 2_000;
/** Drawn, each takes four bytes. */
const MAX_PIXELS = 40_000_000;
const BASE64_CHARS_PER_3_BYTES = 4;
const JPEG_QUALITY = 80;
const FORMATS: readonly string[] = ["png", "jpeg", "webp", "gif"];
const BASE64 = /^[A-Za-z0-9+/\s]*={0,2}\s*$/;

/** One at a time: two canvases of the largest size at once are more than this machine need hold. */
export function createImageCheck(limits: () => { readonly maxImageMb: number }): ImageCheck {
  let before: Promise<unknown> = Promise.resolve();
  return (image) => {
    const mine = before.then(() => check(image, limits().maxImageMb));
    before = mine;
    return mine;
  };
}

async function check(image: Picture, maxMb: number): Promise<ContentBlock> {
  if ((image.data.length / BASE64_CHARS_PER_3_BYTES) * 3 > MAX_SOURCE_BYTES) return leftOut("it is larger than 20 MiB");
  if (!BASE64.test(image.data)) return leftOut("it is not base64");
  const bytes = Buffer.from(image.data, "base64");
  try {
    const { width, height, format } = await read(bytes).metadata();
    if (!FORMATS.includes(format)) return leftOut(`${format} is not shown`);
    if (width * height > MAX_PIXELS) return leftOut("it has more than 40 million pixels");
    const fits = width <= MAX_SIDE_PIXELS && height <= MAX_SIDE_PIXELS && bytes.length <= maxMb * MIB;
    return fits ? picture(bytes, format) : await smaller(bytes, format, maxMb);
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "";
    return leftOut(code === "ERR_IMAGE_TOO_MANY_PIXELS" ? "it has more than 40 million pixels" : "it cannot be read");
  }
}

/** The limit is checked against the header, before room is made for a single pixel. */
function read(bytes: Buffer): Bun.Image {
  return new Bun.Image(bytes, { maxPixels: MAX_PIXELS });
}

async function smaller(bytes: Buffer, format: string, maxMb: number): Promise<ContentBlock> {
  const resized = () =>
    read(bytes).resize(MAX_SIDE_PIXELS, MAX_SIDE_PIXELS, { fit: "inside", withoutEnlargement: true });
  if (format !== "jpeg") {
    const sharp = await resized().png().bytes();
    if (sharp.length <= maxMb * MIB) return picture(sharp, "png");
  }
  const light = await resized().jpeg({ quality: JPEG_QUALITY }).bytes();
  return light.length <= maxMb * MIB ? picture(light, "jpeg") : leftOut(`it is larger than ${maxMb} MiB`);
}

function picture(bytes: Uint8Array, format: string): ContentBlock {
  return { type: "image", data: Buffer.from(bytes).toString("base64"), mimeType: `image/${format}` };
}

export function leftOut(because: string): ContentBlock {
  return { type: "text", text: `[image left out: ${because}]` };
}
