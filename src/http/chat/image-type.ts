/** What a file is, by its first bytes. Names and declared types are not believed; anything but these four is refused. */
const IMAGE_TYPES = ["image/png", "image/jpeg", "image/gif", "image/webp"] as const;
export type ImageType = (typeof IMAGE_TYPES)[number];

export function imageTypeOf(data: Uint8Array): ImageType | null {
  if (startsWith(data, 0, [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])) return "image/png";
  if (startsWith(data, 0, [0xff, 0xd8, 0xff])) return "image/jpeg";
  if (startsWith(data, 0, [0x47, 0x49, 0x46, 0x38, 0x37, 0x61])) return "image/gif";
  if (startsWith(data, 0, [0x47, 0x49, 0x46, 0x38, 0x39, 0x61])) return "image/gif";
  const riff = startsWith(data, 0, [0x52, 0x49, 0x46, 0x46]) && startsWith(data, 8, [0x57, 0x45, 0x42, 0x50]);
  return riff ? "image/webp" : null;
}

export function isImageType(type: string): type is ImageType {
  return IMAGE_TYPES.some((known) => known === type);
}

function startsWith(data: Uint8Array, offset: number, bytes: readonly number[]): boolean {
  return bytes.every((byte, at) => data[offset + at] === byte);
}
