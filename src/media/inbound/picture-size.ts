/** Width and height of a picture from its first bytes, without decoding anything. Null: it does not say, or it is not a picture we know. */
export interface PictureSize {
  readonly width: number;
  readonly height: number;
}

export function pictureSize(data: Uint8Array, mimeType: string): PictureSize | null {
  const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  const read = READERS[mimeType];
  if (!read) return null;
  try {
    const size = read(bytes);
    return size && size.width > 0 && size.height > 0 ? size : null;
  } catch (error) {
    if (error instanceof RangeError) return null; // it ends in the middle of its header
    throw error;
  }
}

type Reader = (bytes: Buffer) => PictureSize | null;

const READERS: Readonly<Record<string, Reader>> = {
  "image/png": (bytes) => ({ width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) }),
  "image/gif": (bytes) => ({ width: bytes.readUInt16LE(6), height: bytes.readUInt16LE(8) }),
  "image/bmp": (bytes) => ({ width: Math.abs(bytes.readInt32LE(18)), height: Math.abs(bytes.readInt32LE(22)) }),
  "image/webp": readWebp,
  "image/jpeg": readJpeg,
};

function readWebp(bytes: Buffer): PictureSize | null {
  const kind = bytes.toString("latin1", 12, 16);
  if (kind === "VP8X") return { width: bytes.readUIntLE(24, 3) + 1, height: bytes.readUIntLE(27, 3) + 1 };
  if (kind === "VP8 ") return { width: bytes.readUInt16LE(26) & 0x3fff, height: bytes.readUInt16LE(28) & 0x3fff };
  if (kind !== "VP8L") return null;
  const packed = bytes.readUInt32LE(21);
  return { width: (packed & 0x3fff) + 1, height: ((packed >>> 14) & 0x3fff) + 1 };
}

/** The size is in the first frame header; everything before it is skipped by its length. */
function readJpeg(bytes: Buffer): PictureSize | null {
  for (let at = 2; at + 9 < bytes.length;) {
    if (bytes[at] !== 0xff) return null;
    const marker = bytes[at + 1] ?? 0;
    if (marker === 0xff) {
      at++;
      continue;
    }
    if (isFrame(marker)) return { width: bytes.readUInt16BE(at + 7), height: bytes.readUInt16BE(at + 5) };
    const bare = marker === 0x01 || (marker >= 0xd0 && marker <= 0xd8);
    if (marker === 0xd9 || marker === 0xda) return null;
    at += bare ? 2 : 2 + bytes.readUInt16BE(at + 2);
  }
  return null;
}

/** SOF0 to SOF15 without the three tables that are numbered among them. */
function isFrame(marker: number): boolean {
  return marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc;
}
