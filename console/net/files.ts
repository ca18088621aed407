/** Which files may be attached. The gateway looks at the bytes as well; this only saves a pointless upload. */
const MAX_IMAGES = 8;
const MAX_IMAGE_BYTES = 25 * 1024 * 1024;
const TYPES: ReadonlySet<string> = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);

/** Why a file cannot be attached, or null. */
export function refuseFile(
  file: { readonly name: string; readonly type: string; readonly size: number },
  already: number,
): string | null {
  if (already >= MAX_IMAGES) return `A message can carry ${MAX_IMAGES} images; “${file.name}” was left out.`;
  if (!TYPES.has(file.type)) return `“${file.name}” is not a PNG, JPEG, GIF or WebP image.`;
  if (file.size > MAX_IMAGE_BYTES) return `“${file.name}” is larger than 25 MB.`;
  return null;
}
