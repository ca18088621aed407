/** The demo model's picture: a bar chart drawn pixel by pixel and written as a PNG. Shows that files travel; the numbers mean nothing. */
import { deflateSync } from "node:zlib";

const WIDTH = 320;
const HEIGHT = 180;
const BARS = [0.35, 0.55, 0.45, 0.7, 0.6, 0.9];
const PAPER = [252, 252, 253] as const;
const INK = [47, 91, 215] as const;
const LINE = [201, 205, 215] as const;
const MARGIN = 20;
const GAP = 14;
const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

export function demoChart(): Uint8Array {
  const rows = Buffer.alloc(HEIGHT * (1 + WIDTH * 3));
  for (let y = 0; y < HEIGHT; y++) {
    for (let x = 0; x < WIDTH; x++) rows.set(colourAt(x, y), y * (1 + WIDTH * 3) + 1 + x * 3);
  }
  const header = Buffer.alloc(13);
  header.writeUInt32BE(WIDTH, 0);
  header.writeUInt32BE(HEIGHT, 4);
  header.set([8, 2, 0, 0, 0], 8); // 8 bits for each of red, green and blue
  return Buffer.concat([
    SIGNATURE,
    chunk("IHDR", header),
    chunk("IDAT", deflateSync(rows)),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}

function colourAt(x: number, y: number): readonly number[] {
  const base = HEIGHT - MARGIN;
  if (y === base && x >= MARGIN && x < WIDTH - MARGIN) return LINE;
  const slot = (WIDTH - 2 * MARGIN) / BARS.length;
  const place = (x - MARGIN) / slot;
  const share = BARS[Math.floor(place)];
  const inside = (place % 1) * slot;
  if (share === undefined || x < MARGIN || inside < GAP / 2 || inside > slot - GAP / 2 || y >= base) return PAPER;
  return base - y <= share * (HEIGHT - 2 * MARGIN) ? INK : PAPER;
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const size = Buffer.alloc(4);
  size.writeUInt32BE(data.byteLength);
  const check = Buffer.alloc(4);
  check.writeUInt32BE(crc32(body));
  return Buffer.concat([size, body, check]);
}

function crc32(data: Buffer): number {
  let crc = 0xffffffff;
  for (const byte of data) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return (crc ^ 0xffffffff) >>> 0;
}
